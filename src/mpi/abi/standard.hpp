// The standard ABI of MPI 5.0. abi.hpp and mpich.hpp explain what is stated here.
#pragma once

#include "mpi/abi/abi.hpp"

#define ESPALIER_HAS_LARGE_COUNT 1
#define ESPALIER_FORTRAN_CALLS_PMPI 0  // as in mpich.hpp: today's hosts are of that family
#define ESPALIER_NOTES_LONG_MESSAGES 1
#define ESPALIER_HYDRA_LAUNCHES 1
#define ESPALIER_ABI_HOST_CALLS(X) \
  X(Comm_fromint) X(Request_fromint) X(Request_toint) X(Op_fromint) X(Op_toint) X(File_get_errhandler)

namespace espalier::mpi::abi {

inline constexpr const char* name = "abi";
inline constexpr int progress_calls = 8, progress_calls_after_a_while = 64;
inline constexpr bool fortran_integers_vary = false;

template <class Host>
bool converts_handles(const Host& host) {
  return host.Comm_fromint && host.Request_fromint && host.Request_toint && host.Op_fromint && host.Op_toint;
}
template <class Host>
MPI_Comm c_communicator(const Host& host, int comm) {
  return host.Comm_fromint(comm);
}
template <class Host>
MPI_Request c_request(const Host& host, int request) {
  return host.Request_fromint(request);
}
template <class Host>
int fortran_request(const Host& host, MPI_Request request) {
  return host.Request_toint(request);
}
template <class Host>
MPI_Op c_op(const Host& host, int op) {
  return host.Op_fromint(op);
}
template <class Host>
int fortran_op(const Host& host, MPI_Op op) {
  return host.Op_toint(op);
}

/// Intel MPI 2021.18 has the numbers of MPI_ERRORS_RETURN and MPI_ERRORS_ABORT exchanged. The default error
/// handler of files is MPI_ERRORS_RETURN (MPI 5.0, 14.7), so the host can be asked for its number.
template <class Host>
void learn_errors_return(Host& host) {
  MPI_Errhandler of_files;
  if (host.File_get_errhandler && host.File_get_errhandler(MPI_FILE_NULL, &of_files) == MPI_SUCCESS &&
      (of_files == MPI_ERRORS_RETURN || of_files == MPI_ERRORS_ABORT))
    host.constants.errors_return = of_files;
}

}  // namespace espalier::mpi::abi
