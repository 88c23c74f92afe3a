// The ABI of MPICH before the standard ABI, of Intel MPI and of others of their family. abi.hpp explains the
// macros.
#pragma once

#include "mpi/abi/abi.hpp"

#define ESPALIER_HAS_LARGE_COUNT 1
// The functions of `use mpi_f08` that have no buffer call PMPI all the same. All others call those of C.
#define ESPALIER_FORTRAN_CALLS_PMPI 0
#define ESPALIER_NOTES_LONG_MESSAGES 1
#define ESPALIER_HYDRA_LAUNCHES 1
#define ESPALIER_ABI_HOST_CALLS(X)

namespace espalier::mpi::abi {

/// As in the name of the library.
inline constexpr const char* name = "mpich";

/// How many calls of the host's progress a catch-up makes (host/progress.hpp): usually, and when the last one
/// was some time ago. A call takes in one message, and costs some 40 ns when there is none.
inline constexpr int progress_calls = 8, progress_calls_after_a_while = 64;

/// Whether a host of this ABI may have Fortran integers of another length than this build's.
inline constexpr bool fortran_integers_vary = false;

// A handle is the same integer in both languages.
template <class Host>
bool converts_handles(const Host&) {
  return true;
}
template <class Host>
MPI_Comm c_communicator(const Host&, int comm) {
  return comm;
}
template <class Host>
MPI_Request c_request(const Host&, int request) {
  return request;
}
template <class Host>
int fortran_request(const Host&, MPI_Request request) {
  return request;
}
template <class Host>
MPI_Op c_op(const Host&, int op) {
  return op;
}
template <class Host>
int fortran_op(const Host&, MPI_Op op) {
  return op;
}

/// Sets the error handler that makes the host return errors, where the header may be wrong about it.
template <class Host>
void learn_errors_return(Host&) {}

}  // namespace espalier::mpi::abi
