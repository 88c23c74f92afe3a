# Sourced by run: what Debian has for the guest's processor and the tests load, unpacked into a folder of their own.
# Nothing of this machine's package system is touched: apt works on lists and a state below that folder.
debian_name_of() {
  case $1 in
    aarch64) echo arm64 ;;
    powerpc64le) echo ppc64el ;;
  esac
}

# guest_libraries ARCH FOLDER: hwloc, which Espalier loads by name, and what it needs itself.
guest_libraries() {
  local name folder=$2 options package
  name=$(debian_name_of "$1")
  [ ! -e "$folder/complete" ] || return 0
  rm -rf "$folder"
  mkdir -p "$folder"/{state/lists/partial,cache/archives/partial,packages,root}
  touch "$folder/status"
  options=(-qq -o "APT::Architecture=$name" -o "APT::Architectures=$name" -o "Dir::State=$folder/state"
    -o "Dir::State::status=$folder/status" -o "Dir::Cache=$folder/cache" -o APT::Sandbox::User=root)
  # A list that cannot be fetched need not be the one that these are in.
  apt-get "${options[@]}" update || true
  (cd "$folder/packages" && apt-get "${options[@]}" download libhwloc15 libudev1) ||
    { echo "cannot fetch libhwloc15 for $name: check the network and apt's sources" >&2; return 1; }
  for package in "$folder"/packages/*.deb; do dpkg -x "$package" "$folder/root"; done
  touch "$folder/complete"
}
