# Sourced: the system packages. Asks dpkg first, so that a machine which has them all spends no time here.
packages_build=(g++ cmake ninja-build libhwloc-dev nlohmann-json3-dev libfmt-dev libasio-dev libgtest-dev libbenchmark-dev
  libboost-context-dev python3-venv)
packages_test=(gfortran libopenmpi-dev openmpi-bin libmpich-dev mpich g++-aarch64-linux-gnu iproute2)
packages_site=(doxygen)
packages_fourier=(gcc libfftw3-dev python3-dev)
packages_chroot=(debootstrap libopenmpi-dev openmpi-bin libmpich-dev mpich)
packages_full=(chromium debhelper dh-python dpkg-dev fish lintian lmod python3-jinja2 python3-pyelftools python3-rich python3-typer
  zsh)
packages_coexistence=(eztrace gdb heaptrack libfaketime libjemalloc2 likwid linux-perf ltrace rr strace valgrind)
packages_arch=(g++ cmake ninja-build libhwloc-dev nlohmann-json3-dev libfmt-dev libasio-dev googletest g++-aarch64-linux-gnu
  g++-powerpc64le-linux-gnu)

# The first of these that this Debian has; nothing where it has none of them.
first_package_of() {
  local package
  command -v apt-cache >/dev/null || return 0
  for package in "$@"; do
    if apt-cache show "$package" >/dev/null 2>&1; then
      echo "$package"
      return
    fi
  done
}

# Allocators whose packages newer Debians call by another name.
packages_of_allocators() {
  first_package_of libmimalloc3 libmimalloc2.1 libmimalloc2.0
  first_package_of libgoogle-perftools4t64 libgoogle-perftools4
}

# The libFuzzer of the clang that there is: newer Debians keep it in a package apart.
package_of_libfuzzer() {
  local version
  command -v apt-cache >/dev/null || return 0
  version=$(apt-cache depends clang 2>/dev/null | sed -n 's/^ *Depends: clang-\([0-9]*\)$/\1/p' | head -1)
  if [ -n "$version" ] && apt-cache show "libclang-rt-$version-dev" >/dev/null 2>&1; then
    echo "libclang-rt-$version-dev"
  fi
}

missing_packages() {
  local package
  for package in "$@"; do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || printf '%s\n' "$package"
  done
}

# The alternatives for `mpirun`, `mpicc`, `libmpi.so` ...: a line each, the group and a path.
alternatives_of_mpi() {
  local group
  command -v update-alternatives >/dev/null || return 0
  update-alternatives --get-selections | awk '$1 ~ /^mpi/ { print $1 }' | while read -r group; do
    update-alternatives --list "$group" | sed "s|^|$group |"
  done | LC_ALL=C sort
}

# install_packages WHETHER-TO-UPDATE PACKAGE...
# The packages of an MPI register themselves as `mpirun`, `mpicc` and so on, and the one of the highest priority becomes it.
# The tests call each by its own name (mpirun.mpich): what these names meant before, if anything, they mean afterwards.
install_packages() {
  local update=$1 before group path rc=0
  shift
  export DEBIAN_FRONTEND=noninteractive
  before=$(alternatives_of_mpi)
  [ "$update" = no ] || apt-get update || say "apt-get update failed; trying with the package lists that are there"
  apt-get install -y --no-install-recommends "$@" || rc=$?
  LC_ALL=C comm -13 <(echo "$before") <(alternatives_of_mpi) | while read -r group path; do
    update-alternatives --remove "$group" "$path"
  done
  return "$rc"
}

# announce LIST...: what these lists of packages lack and which of the `wanted` environments are to be made, before anything begins.
announce() {
  local list names packages=() folders=()
  for list in "$@"; do
    names="packages_$list[@]"
    [ -n "${SKIP_SYSTEM:-}" ] || ! command -v dpkg-query >/dev/null || mapfile -t -O ${#packages[@]} packages < <(missing_packages "${!names}")
  done
  mapfile -t packages < <(printf '%s\n' "${packages[@]}" | awk 'NF && !seen[$0]++')  # lists overlap
  mapfile -t folders < <(each_environment name_if_missing)
  [ ${#packages[@]} -eq 0 ] || say "To be installed, by apt-get (mpirun and mpicc stay what they are): ${packages[*]}"
  [ ${#folders[@]} -eq 0 ] || say "To be made, with packages from PyPI: ${folders[*]}"
}

package_lists_to_be_updated=yes  # once in a run: it takes as long as some packages do
system_packages() {
  local what=$1
  shift
  if [ -n "${SKIP_SYSTEM:-}" ]; then
    done_already "system packages for $what (not looked at: SKIP_SYSTEM is set)"
    return
  fi
  command -v dpkg-query >/dev/null && command -v apt-get >/dev/null ||
    die "this is no Debian-like machine. Install what matches these packages, then run make with SKIP_SYSTEM=1: $*"
  local missing
  mapfile -t missing < <(missing_packages "$@")
  if [ ${#missing[@]} -eq 0 ]; then
    done_already "system packages for $what"
    return
  fi
  if [ "$(id -u)" -ne 0 ]; then
    say "System packages are missing and only root may install them. Run this line, then the same make again:"
    say "    sudo sh -c 'apt-get update && apt-get install -y ${missing[*]}'"
    exit 1
  fi
  ADVICE="check the network and the package sources, then run: apt-get update && apt-get install ${missing[*]}" \
    step "system-$what" "system packages for $what (${missing[*]})" install_packages "$package_lists_to_be_updated" "${missing[@]}"
  package_lists_to_be_updated=no
}
