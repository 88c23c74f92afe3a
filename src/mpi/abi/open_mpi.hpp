// The ABI of Open MPI.
#pragma once

#include "mpi/abi/abi.hpp"

// Open MPI 5 has no _c functions: mpi4py refers to them weakly and does without. If this build had them,
// mpi4py would call them and Espalier would have to do over the plain calls what mpi4py does itself.
#define ESPALIER_HAS_LARGE_COUNT 0
#define ESPALIER_FORTRAN_CALLS_PMPI 1
// Its messages do not wait for a rank that sleeps now and then (`python bench/beside`): a short message would
// pay 4 ns for it.
#define ESPALIER_NOTES_LONG_MESSAGES 0
#define ESPALIER_HYDRA_LAUNCHES 0
#define ESPALIER_ABI_HOST_CALLS(X) X(Comm_f2c) X(Type_f2c) X(Op_f2c) X(Op_c2f) X(Request_f2c) X(Request_c2f)

// Predefined handles are addresses of data symbols: its macros for them are bent to look the symbol up.
#undef OMPI_PREDEFINED_GLOBAL
#define OMPI_PREDEFINED_GLOBAL(type, global) (static_cast<type>(::espalier::mpi::host_symbol(#global)))

// The header lists the datatypes that the build it came with had; another build of the same ABI may have
// more, so the symbols themselves are looked for.
#undef MPI_INTEGER16
#define MPI_INTEGER16 OMPI_PREDEFINED_GLOBAL(MPI_Datatype, ompi_mpi_integer16)
#undef MPI_REAL2
#define MPI_REAL2 OMPI_PREDEFINED_GLOBAL(MPI_Datatype, ompi_mpi_real2)
#undef MPI_REAL16
#define MPI_REAL16 OMPI_PREDEFINED_GLOBAL(MPI_Datatype, ompi_mpi_real16)
#undef MPI_COMPLEX4
#define MPI_COMPLEX4 OMPI_PREDEFINED_GLOBAL(MPI_Datatype, ompi_mpi_complex4)
#undef MPI_COMPLEX32
#define MPI_COMPLEX32 OMPI_PREDEFINED_GLOBAL(MPI_Datatype, ompi_mpi_complex32)

namespace espalier::mpi::abi {

inline constexpr const char* name = "ompi";

// Its progress takes all there is at once, and the test or probe itself has called it. With more ranks than
// cores it yields, too, when it finds nothing.
inline constexpr int progress_calls = 0, progress_calls_after_a_while = 0;

inline constexpr bool fortran_integers_vary = true;

template <class Host>
bool converts_handles(const Host& host) {
  return host.Comm_f2c && host.Type_f2c && host.Op_f2c && host.Op_c2f && host.Request_f2c && host.Request_c2f;
}
template <class Host>
MPI_Comm c_communicator(const Host& host, int comm) {
  return host.Comm_f2c(comm);
}
template <class Host>
MPI_Request c_request(const Host& host, int request) {
  return host.Request_f2c(request);
}
template <class Host>
int fortran_request(const Host& host, MPI_Request request) {
  return host.Request_c2f(request);
}
template <class Host>
MPI_Op c_op(const Host& host, int op) {
  return host.Op_f2c(op);
}
template <class Host>
int fortran_op(const Host& host, MPI_Op op) {
  return host.Op_c2f(op);
}
// What the functions with buffers take besides. Where MPI_IN_PLACE is given, the count and the datatype
// beside it may be anything, also no handle; Open MPI converts any integer, to MPI_DATATYPE_NULL or to a null
// pointer if it is none.
template <class Host>
MPI_Datatype c_datatype(const Host& host, int type) {
  return host.Type_f2c(type);
}

/// Fortran's MPI_IN_PLACE and MPI_BOTTOM are addresses of common blocks, spelled as the compiler spells
/// names.
inline constexpr const char* fortran_in_place[] = {"mpi_fortran_in_place_", "mpi_fortran_in_place__",
                                                   "mpi_fortran_in_place", "MPI_FORTRAN_IN_PLACE"};
inline constexpr const char* fortran_bottom[] = {"mpi_fortran_bottom_", "mpi_fortran_bottom__",
                                                 "mpi_fortran_bottom", "MPI_FORTRAN_BOTTOM"};

template <class Host>
void learn_errors_return(Host&) {}

}  // namespace espalier::mpi::abi
