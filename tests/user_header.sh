#!/bin/sh
# Compiles the SHARP client against a header of the user's, by -DESPALIER_SHARP_INCLUDE: a copy of ours with include guards
# of its own, so that both could not be seen by one file, and without comments.
#   user_header.sh SOURCE_FOLDER BUILD_FOLDER
set -eu
source=$1 work=$2/user_header
rm -rf "$work"
mkdir -p "$work/theirs/sharp/api"
for name in sharp_coll.h version.h; do
  gcc -fpreprocessed -dD -E -P "$source/include/sharp_interface/sharp/api/$name" |
    sed -E 's/\b(SHARP_COLL_H_|SHARP_VERSION_H_)\b/THEIR_\1/' >"$work/theirs/sharp/api/$name"
done
cmake -S "$source" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DESPALIER_SHARP_INCLUDE="$work/theirs" \
  -DESPALIER_TESTS=OFF -DESPALIER_BENCH=OFF -DESPALIER_BINDINGS=OFF >"$work/configure.txt" 2>&1 || { cat "$work/configure.txt"; exit 1; }
for name in sharp_client sharp_library sharp_error; do
  object=src/CMakeFiles/espalier_network.dir/network/$name.cpp.o
  cmake --build "$work/build" --target "$object"
  seen=$(ninja -C "$work/build" -t deps "$object" | grep 'sharp/api/sharp_coll.h')
  case $seen in
    *theirs/sharp/api/sharp_coll.h) ;;
    *) echo "$name.cpp sees another header than the user's: $seen"; exit 1 ;;
  esac
done
