// The functions of the host MPI, resolved by name at the first intercepted call.
#pragma once

#include <atomic>
#include <string>

#include "generated/mpi/host/next.hpp"
#include "mpi/abi/abi.hpp"

namespace espalier::mpi {

enum class Mode : int {
  unresolved,
  forward,  ///< switched off, or the host has another ABI than this build: hand every call on, read nothing
  active
};

// Espalier's own calls go to PMPI_X, so that no other tool sees them.
// clang-format off
#define ESPALIER_HOST_CALLS(X) \
  X(Initialized) X(Finalized) X(Get_library_version) X(Comm_rank) X(Comm_size) X(Comm_dup) X(Comm_free) \
  X(Comm_group) X(Comm_test_inter) X(Comm_get_parent) X(Comm_create_keyval) X(Comm_free_keyval) \
  X(Comm_get_attr) X(Comm_set_attr) X(Comm_get_name) X(Comm_call_errhandler) X(Comm_set_errhandler) X(Group_free) \
  X(Group_size) X(Group_translate_ranks) X(Allgather) X(Barrier) X(Comm_create_errhandler) \
  X(Errhandler_free) X(Send) X(Allreduce) X(Reduce) X(Scan) X(Exscan) X(Reduce_scatter) \
  X(Reduce_scatter_block) X(Allgatherv) X(Gatherv) X(Scatter) X(Scatterv) X(Alltoall) X(Alltoallv) \
  X(Type_create_hindexed) X(Bcast) X(Ibcast) X(Gather) X(Isend) X(Irecv) X(Test) X(Cancel) X(Iprobe) X(Get_count) \
  X(Error_string) X(Error_class) X(Add_error_class) X(Add_error_code) X(Add_error_string) X(Wait) \
  X(Grequest_start) X(Grequest_complete) X(Status_set_cancelled) X(Op_commutative) X(Reduce_local) \
  X(Pack) X(Unpack) X(Send_init) X(Type_contiguous) X(Type_vector) X(Type_commit) X(Type_free) \
  X(Type_get_envelope) X(Type_get_contents) X(Type_create_keyval) X(Type_free_keyval) X(Type_get_attr) \
  X(Type_set_attr) X(Alltoallw) X(Topo_test) X(Cartdim_get) X(Cart_shift) X(Graph_neighbors_count) \
  X(Graph_neighbors) X(Dist_graph_neighbors_count) X(Dist_graph_neighbors) X(Query_thread)
// clang-format on
// What windows over one-sided calls need (nullptr: no such windows).
// clang-format off
#define ESPALIER_HOST_WINDOW_CALLS(X) \
  X(Ibarrier) X(Comm_create_group) X(Group_incl) X(Win_create) X(Win_free) X(Win_set_errhandler) \
  X(Win_lock_all) X(Win_unlock_all) X(Win_flush) X(Win_flush_local) X(Win_flush_local_all) \
  X(Win_flush_all) X(Put) X(Get) X(Accumulate)
// clang-format on

/// Predefined handles that are compared with at every call; valid in Mode::active.
struct Constants {
  MPI_Comm world, self, comm_null;
  MPI_Datatype datatype_null, byte, integer;
  MPI_Op op_null, replace, sum;
  MPI_Errhandler errors_return;
  MPI_Datatype notification;  // 64 bits, unsigned
  MPI_Info info_null;
  MPI_Request request_null;  // valid in each mode
};

struct Host {
// NOLINTNEXTLINE(bugprone-macro-parentheses): `name` is what is declared
#define ESPALIER_DECLARE(name) decltype(&PMPI_##name) name;
  ESPALIER_HOST_CALLS(ESPALIER_DECLARE)
  ESPALIER_HOST_WINDOW_CALLS(ESPALIER_DECLARE)
  ESPALIER_ABI_HOST_CALLS(ESPALIER_DECLARE)
#undef ESPALIER_DECLARE
  // nullptr where the ABI or the host has no large counts.
  int (*Pack_c)(const void*, MPI_Count, MPI_Datatype, void*, MPI_Count, MPI_Count*, MPI_Comm);
  int (*Unpack_c)(const void*, MPI_Count, MPI_Count*, void*, MPI_Count, MPI_Datatype, MPI_Comm);
  int (*Type_get_envelope_c)(MPI_Datatype, MPI_Count*, MPI_Count*, MPI_Count*, MPI_Count*, int*);
  int (*Type_get_contents_c)(MPI_Datatype, MPI_Count, MPI_Count, MPI_Count, MPI_Count, int*, MPI_Aint*,
                             MPI_Count*, MPI_Datatype*);
  // nullptr: the host has no such function.
  int (*Comm_is_revoked)(MPI_Comm, int*);
  int (*Iallgather)(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm, MPI_Request*);
  // Intel MPI's notified puts, by the header of 2021.18; nullptr elsewhere.
  int (*Win_create_notify)(MPI_Win, int);
  int (*Win_free_notify)(MPI_Win);
  int (*Win_get_notify)(MPI_Win, int, MPI_Count*);
  int (*Win_set_notify)(MPI_Win, int, MPI_Count);
  int (*Put_notify)(const void*, int, MPI_Datatype, int, MPI_Aint, int, MPI_Datatype, int, MPI_Win);
  // The _c form where the host has it, else the _x form: both have MPI_Count results.
  int (*Type_size)(MPI_Datatype, MPI_Count*);
  int (*Type_get_extent)(MPI_Datatype, MPI_Count*, MPI_Count*);
  int (*Type_get_true_extent)(MPI_Datatype, MPI_Count*, MPI_Count*);
  Next next;
  Asks again;  ///< the host's own, by their PMPI_ names
  Constants constants;
};

/// Everything is null until resolve() has run; constant afterwards, but for what learn_errors_return() finds.
extern Host host;

/// Finds the host MPI, once. `caller` is an address in the code that called MPI: an MPI that was loaded
/// with RTLD_LOCAL (mpi4py does) is found only through the module that uses it. Thread-safe.
Mode resolve(void* caller);

/// A function of the host or of the next tool by name, nullptr if there is none. After resolve().
void* next_function(const char* name);

/// Which handle makes the host return errors, whatever its header says: for communicators of Espalier's own,
/// before there are any. Once MPI is initialised.
void learn_errors_return();

/// Whether this build's types are the host's, also while all is handed on. After resolve().
bool host_has_this_abi();

/// MPI_COMM_WORLD exists: MPI was not initialised by sessions alone. Thread-safe.
bool has_world();

/// What the host says about an error code, in one line.
std::string words_of(int code);

/// Prints that no MPI in this process provides what was called; returns an error code.
int no_such_function(const char* name);

}  // namespace espalier::mpi
