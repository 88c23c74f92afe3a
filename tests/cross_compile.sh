#!/bin/sh
# Compiles what depends on the processor for another one: the layers that speak to it, and what includes their headers. In
# `make test-full` every layer below the interposer.
#   cross_compile.sh COMPILER SOURCE_FOLDER BUILD_FOLDER
# Exit code 77 (skipped) where the compiler is not installed.
compiler=$1 source=$2 build=$3
if ! command -v "$compiler" >/dev/null; then
  echo "skipped: $compiler is not installed (Debian: apt-get install g++-aarch64-linux-gnu)"
  exit 77
fi
# collective/ is all headers: its templates are compiled with runtime/node and runtime/multinode.
places='base memory reduce machine plan runtime/flight runtime/node/scan.cpp'
if [ "${ESPALIER_TEST_FULL:-}" = 1 ]; then
  places='base topology memory reduce tree network machine plan collective runtime capi'
else
  others=$(grep -rlE 'immintrin|_mm_|__(x86_64|aarch64|i386)__|\basm\b|__builtin_ia32' "$source/src" --include='*.[ch]pp' |
    grep -vE '/src/(base|memory|reduce|machine|plan|collective|runtime/flight)/')
  if [ -n "$others" ]; then
    echo "depends on the processor, and is not compiled here: $others"
    exit 1
  fi
fi
together=$(mktemp -d) || exit 1
trap 'rm -rf "$together"' EXIT
# Most of the time goes into reading headers: the files of a layer are read as one.
for place in $places; do
  layer=${place%%/*}
  find "$source/src/$place" -name '*.cpp' | sort | sed 's/.*/#include "&"/' >>"$together/$layer.cpp"
done
echo "#include \"$build/src/default_rules.cpp\"" >>"$together/plan.cpp"
count=$(cat "$together"/*.cpp | wc -l)
# Headers of hwloc, fmt and nlohmann-json are this machine's, found after all of the compiler's own.
here=/usr/include/$(cc -dumpmachine)
if find "$together" -name '*.cpp' -size +0 -print0 | xargs -0 -P 2 -n 1 "$compiler" -std=gnu++20 -fsyntax-only -Wall -Wextra -Wshadow \
    -Werror -Wno-unused-parameter -Wno-stringop-overflow -Wno-subobject-linkage -DESPALIER_VERSION='"none"' -I "$source/src" -I "$source/include" \
    -I "$source/include/sharp_interface" -idirafter /usr/include -idirafter "$here"
then
  echo "$count files compile with $compiler"
  [ "$count" -gt 30 ]
else
  echo "some of $count files do not compile with $compiler"
  exit 1
fi
