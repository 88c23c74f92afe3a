// How an entry point gets its name. Each has the name of an MPI function to the linker and wide arguments to
// the compiler (abi.hpp).
#pragma once

#define ESPALIER_EXPORT(symbol) __asm__(#symbol) __attribute__((visibility("default")))
