// How an entry point gets its name. Each has the name of an MPI function to the linker and wide arguments to
// the compiler (abi.hpp).
#pragma once

#define ESPALIER_EXPORT(symbol) __asm__(#symbol) __attribute__((visibility("default"), used))

/// A collective: its name, its parameters, the function that serves it, and the call as that gets it.
#define ESPALIER_COLLECTIVE(symbol, parameters, serve, ...)          \
  extern "C" int export_##symbol parameters ESPALIER_EXPORT(symbol); \
  extern "C" int export_##symbol parameters { return serve(__VA_ARGS__, __builtin_return_address(0)); }

/// The same for what prepares one. Its name, its parameters and the same as arguments, what makes a draft of
/// it, and the call as that gets it.
#define ESPALIER_INIT(symbol, parameters, arguments, collective, ...)                                    \
  extern "C" int export_##symbol parameters ESPALIER_EXPORT(MPI_##symbol);                               \
  extern "C" int export_##symbol parameters {                                                            \
    const auto forward = [&] {                                                                           \
      return host.next.symbol ? host.next.symbol arguments : no_such_function("MPI_" #symbol);           \
    };                                                                                                   \
    return persistent::init(persistent::make_##collective, Collective::collective, __VA_ARGS__, request, \
                            __builtin_return_address(0), forward);                                       \
  }
