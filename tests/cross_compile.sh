#!/bin/sh
# Compiles every floor below the interposer for another processor.
#   cross_compile.sh COMPILER SOURCE_FOLDER BUILD_FOLDER
# Exit code 77 (skipped) where the compiler is not installed.
compiler=$1 source=$2 build=$3
if ! command -v "$compiler" >/dev/null; then
  echo "skipped: $compiler is not installed (Debian: apt-get install g++-aarch64-linux-gnu)"
  exit 77
fi
# Libraries of headers only (fmt, nlohmann-json) may lie in a path that the cross compiler does not search.
flags="-std=gnu++20 -fsyntax-only -Wall -Wextra -Wshadow -Werror -Wno-unused-parameter -Wno-stringop-overflow -DFMT_HEADER_ONLY
       -I $source/src -I $source/include -idirafter /usr/include"
failed=0 count=0
for file in "$source"/src/base/*.cpp "$source"/src/topology/*.cpp "$source"/src/memory/*.cpp "$source"/src/reduce/*.cpp \
            "$source"/src/tree/*.cpp "$source"/src/machine/*.cpp "$source"/src/plan/*.cpp "$source"/src/collective/*.cpp \
            "$source"/src/runtime/*.cpp "$source"/src/capi/*.cpp "$build"/src/default_rules.cpp; do
  [ -e "$file" ] || continue
  count=$((count + 1))
  # shellcheck disable=SC2086
  "$compiler" $flags "$file" || { echo "FAILED: $file"; failed=$((failed + 1)); }
done
# collective/ is all headers: its templates are compiled with runtime/communicator.cpp.
echo "$count files with $compiler, $failed failed"
[ "$count" -gt 30 ] && [ "$failed" -eq 0 ]
