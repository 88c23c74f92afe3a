// What MPI_Init, MPI_Init_thread and their Fortran forms have in common.
#pragma once

#include "mpi/host/host.hpp"
#include "mpi/lifetime/lifecycle.hpp"

namespace espalier::mpi {

inline thread_local int initialisers_running = 0;

/// Runs the host's function and then lets the ranks meet. A host may call one of its initialisers from
/// another, through the entry point that was intercepted: only the outermost counts.
template <class Initialiser>
int initialise(Initialiser run) {
  ++initialisers_running;
  const int code = run();
  --initialisers_running;
  if (code == MPI_SUCCESS && initialisers_running == 0 && resolve(nullptr) == Mode::active)
    lifecycle::begin_world();
  return code;
}

}  // namespace espalier::mpi
