#!/usr/bin/env bash
# Builds the core and its unit tests for other processors and runs them under qemu-user: `make test-arch`.
#   test_arch.sh [aarch64|powerpc64le]...
# OSMP's other architectures (its Table I). Where the cross compiler or qemu is not installed it says so and fails.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
jobs=${JOBS:-$(nproc)}
floors=(base tree memory reduce network machine plan collective runtime topology)
# Memory that another process reads, and libhwloc, are this machine's business: qemu-user passes process_vm_readv on to a
# kernel that knows nothing of the guest's addresses, and there is no libhwloc for the guest.
left_out='-Discover*:*Discover*:RemoteRead*:*RemoteRead*:*Direct*:*SingleCopy*:*single_copy*'

need() { command -v "$1" >/dev/null || { echo "$1 is not installed: apt-get install $2" >&2; exit 1; }; }

configure() {
  local arch=$1 build=$2 emulator=$3 here
  here=/usr/include/$(cc -dumpmachine)
  cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_SYSTEM_NAME=Linux \
    -DCMAKE_SYSTEM_PROCESSOR="$arch" -DCMAKE_C_COMPILER="$arch-linux-gnu-gcc" -DCMAKE_CXX_COMPILER="$arch-linux-gnu-g++" \
    -DCMAKE_CROSSCOMPILING_EMULATOR="$emulator;-L;/usr/$arch-linux-gnu" -DCMAKE_DISABLE_FIND_PACKAGE_Boost=ON \
    -DCMAKE_CXX_FLAGS="-O1 -idirafter /usr/include -idirafter $here" -DESPALIER_BENCH=OFF -DESPALIER_FACES=OFF \
    -DESPALIER_GTEST_SOURCE=/usr/src/googletest >"$build.log" 2>&1 || { tail -20 "$build.log" >&2; exit 1; }
}

test_arch() {
  local arch=$1 qemu=qemu-${1/powerpc/ppc}-static build=$root/build/arch/$1 failed=0 floor
  need "$arch-linux-gnu-g++" "g++-${arch}-linux-gnu"
  need "$qemu" qemu-user-static
  mkdir -p "$root/build/arch"
  configure "$arch" "$build" "$(command -v "$qemu")"
  cmake --build "$build" -j "$jobs" --target "${floors[@]/#/test_}"
  for floor in "${floors[@]}"; do
    "$qemu" -L "/usr/$arch-linux-gnu" "$build/bin/test_$floor" --gtest_brief=1 --gtest_filter="$left_out" || failed=1
  done
  return $failed
}

[ $# -gt 0 ] || set -- aarch64 powerpc64le
for arch in "$@"; do
  echo "== $arch"
  test_arch "$arch"
done
