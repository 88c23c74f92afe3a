// The functions of the host MPI, resolved by name at the first intercepted call.
#pragma once

#include <atomic>
#include <string>

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
  X(Comm_get_attr) X(Comm_set_attr) X(Comm_call_errhandler) X(Comm_set_errhandler) X(Group_free) \
  X(Group_size) X(Group_translate_ranks) X(Allgather) X(Barrier) X(Comm_create_errhandler) \
  X(Errhandler_free) X(Send) X(Allreduce) X(Reduce) X(Scan) X(Exscan) X(Reduce_scatter) \
  X(Reduce_scatter_block) X(Allgatherv) X(Gatherv) X(Scatter) X(Scatterv) X(Alltoall) X(Alltoallv) \
  X(Type_create_hindexed) X(Bcast) X(Gather) X(Isend) X(Irecv) X(Test) X(Cancel) X(Iprobe) X(Get_count) \
  X(Error_string) X(Error_class) X(Add_error_class) X(Add_error_code) X(Add_error_string) X(Wait) \
  X(Grequest_start) X(Grequest_complete) X(Status_set_cancelled) X(Op_commutative) X(Reduce_local) \
  X(Pack) X(Unpack) X(Send_init) X(Type_contiguous) X(Type_vector) X(Type_commit) X(Type_free) \
  X(Type_get_envelope) X(Type_get_contents)
// clang-format on
// What windows over one-sided calls need (nullptr: no such windows).
// clang-format off
#define ESPALIER_HOST_WINDOW_CALLS(X) \
  X(Ibarrier) X(Comm_create_group) X(Group_incl) X(Win_create) X(Win_free) X(Win_set_errhandler) \
  X(Win_lock_all) X(Win_unlock_all) X(Win_flush) X(Win_flush_local) X(Win_flush_local_all) \
  X(Win_flush_all) X(Put) X(Get) X(Accumulate)
// clang-format on
// clang-format off
#define ESPALIER_NEXT_CALLS(X) \
  X(Init) X(Init_thread) X(Finalize) X(Session_init) X(Session_finalize) X(Abort) X(Comm_free) \
  X(Comm_disconnect) X(Alloc_mem) X(Free_mem) X(Barrier) X(Bcast) X(Reduce) X(Allreduce) \
  X(Reduce_scatter_block) X(Reduce_scatter) X(Scan) X(Exscan) X(Allgather) X(Allgatherv) X(Gather) \
  X(Gatherv) X(Scatter) X(Scatterv) X(Alltoall) X(Alltoallv) X(Bcast_c) X(Reduce_c) X(Allreduce_c) \
  X(Reduce_scatter_block_c) X(Reduce_scatter_c) X(Scan_c) X(Exscan_c) X(Allgather_c) X(Allgatherv_c) \
  X(Gather_c) X(Gatherv_c) X(Scatter_c) X(Scatterv_c) X(Alltoall_c) X(Alltoallv_c) X(Comm_rank) \
  X(Comm_size) X(Comm_test_inter) X(Comm_remote_size)
// clang-format on

// The same of the collectives that are prepared once, and of what starts and completes requests.
// clang-format off
#define ESPALIER_NEXT_LARGE_INIT_CALLS(X) \
  X(Bcast) X(Reduce) X(Allreduce) X(Reduce_scatter_block) X(Reduce_scatter) X(Scan) X(Exscan) \
  X(Allgather) X(Allgatherv) X(Gather) X(Gatherv) X(Scatter) X(Scatterv) X(Alltoall) X(Alltoallv)
// clang-format on
#define ESPALIER_NEXT_INIT_CALLS(X) X(Barrier) ESPALIER_NEXT_LARGE_INIT_CALLS(X)
// clang-format off
#define ESPALIER_NEXT_REQUEST_CALLS(X) \
  X(Start) X(Startall) X(Wait) X(Waitall) X(Waitany) X(Waitsome) X(Request_free)
// clang-format on
// What asks whether something has come, and returns at once.
// clang-format off
#define ESPALIER_ASK_CALLS(X) \
  X(Test) X(Testall) X(Testany) X(Testsome) X(Request_get_status) X(Request_get_status_all) \
  X(Request_get_status_any) X(Request_get_status_some) X(Iprobe) X(Improbe) X(Win_test) X(Parrived)
// clang-format on
// Windows of the program.
// clang-format off
#define ESPALIER_NEXT_WINDOW_CALLS(X) \
  X(Win_create) X(Win_allocate) X(Win_allocate_shared) X(Win_create_dynamic) X(Win_create_c) \
  X(Win_allocate_c) X(Win_allocate_shared_c) X(Win_free)
// clang-format on
// What begins to send or receive a message.
// clang-format off
#define ESPALIER_NEXT_MESSAGE_CALLS(X) \
  X(Isend) X(Issend) X(Irsend) X(Irecv) X(Imrecv) X(Isend_c) X(Issend_c) X(Irsend_c) X(Irecv_c) \
  X(Imrecv_c)
// clang-format on

/// The type of an init function: the collective's parameters, an info object and where the request goes.
template <class Function>
struct InitOf;
template <class... Parameters>
struct InitOf<int (*)(Parameters...)> {
  using type = int (*)(Parameters..., Handle, void*);
};

/// Requests and statuses, one or an array of them, are handed on untouched.
struct Asks {
  int (*Test)(void*, int*, void*);
  int (*Testall)(int, void*, int*, void*);
  int (*Testany)(int, void*, int*, int*, void*);
  int (*Testsome)(int, void*, int*, int*, void*);
  int (*Request_get_status)(Handle, int*, void*);
  int (*Request_get_status_all)(int, const void*, int*, void*);
  int (*Request_get_status_any)(int, const void*, int*, int*, void*);
  int (*Request_get_status_some)(int, const void*, int*, int*, void*);
  int (*Iprobe)(int, int, Handle, int*, void*);
  int (*Improbe)(int, int, Handle, int*, void*, void*);
  int (*Win_test)(Handle, int*);
  int (*Parrived)(Handle, int, int*);
};

/// What the program called, as the next in line provides it: another preloaded tool's MPI_X or the host's.
struct Next : Asks {
  int (*Init)(int*, char***);
  int (*Init_thread)(int*, char***, int, int*);
  int (*Finalize)();
  int (*Session_init)(Handle, Handle, void*);
  int (*Session_finalize)(void*);
  int (*Abort)(Handle, int);
  int (*Comm_free)(void*);
  int (*Comm_disconnect)(void*);
  int (*Comm_revoke)(Handle);  // MPIX_Comm_revoke
  int (*Alloc_mem)(MPI_Aint, Handle, void*);
  int (*Free_mem)(void*);
  int (*Barrier)(Handle);
  int (*Bcast)(void*, int, Handle, int, Handle);
  int (*Reduce)(const void*, void*, int, Handle, Handle, int, Handle);
  int (*Allreduce)(const void*, void*, int, Handle, Handle, Handle);
  int (*Reduce_scatter_block)(const void*, void*, int, Handle, Handle, Handle);
  int (*Reduce_scatter)(const void*, void*, const int*, Handle, Handle, Handle);
  int (*Scan)(const void*, void*, int, Handle, Handle, Handle);
  int (*Exscan)(const void*, void*, int, Handle, Handle, Handle);
  int (*Allgather)(const void*, int, Handle, void*, int, Handle, Handle);
  int (*Allgatherv)(const void*, int, Handle, void*, const int*, const int*, Handle, Handle);
  int (*Gather)(const void*, int, Handle, void*, int, Handle, int, Handle);
  int (*Gatherv)(const void*, int, Handle, void*, const int*, const int*, Handle, int, Handle);
  int (*Scatter)(const void*, int, Handle, void*, int, Handle, int, Handle);
  int (*Scatterv)(const void*, const int*, const int*, Handle, void*, int, Handle, int, Handle);
  int (*Alltoall)(const void*, int, Handle, void*, int, Handle, Handle);
  int (*Alltoallv)(const void*, const int*, const int*, Handle, void*, const int*, const int*, Handle,
                   Handle);
  // Arrays of MPI_Count and of MPI_Aint are handed on untouched.
  int (*Bcast_c)(void*, MPI_Count, Handle, int, Handle);
  int (*Reduce_c)(const void*, void*, MPI_Count, Handle, Handle, int, Handle);
  int (*Allreduce_c)(const void*, void*, MPI_Count, Handle, Handle, Handle);
  int (*Reduce_scatter_block_c)(const void*, void*, MPI_Count, Handle, Handle, Handle);
  int (*Reduce_scatter_c)(const void*, void*, const void*, Handle, Handle, Handle);
  int (*Scan_c)(const void*, void*, MPI_Count, Handle, Handle, Handle);
  int (*Exscan_c)(const void*, void*, MPI_Count, Handle, Handle, Handle);
  int (*Allgather_c)(const void*, MPI_Count, Handle, void*, MPI_Count, Handle, Handle);
  int (*Allgatherv_c)(const void*, MPI_Count, Handle, void*, const void*, const void*, Handle, Handle);
  int (*Gather_c)(const void*, MPI_Count, Handle, void*, MPI_Count, Handle, int, Handle);
  int (*Gatherv_c)(const void*, MPI_Count, Handle, void*, const void*, const void*, Handle, int, Handle);
  int (*Scatter_c)(const void*, MPI_Count, Handle, void*, MPI_Count, Handle, int, Handle);
  int (*Scatterv_c)(const void*, const void*, const void*, Handle, void*, MPI_Count, Handle, int, Handle);
  int (*Alltoall_c)(const void*, MPI_Count, Handle, void*, MPI_Count, Handle, Handle);
  int (*Alltoallv_c)(const void*, const void*, const void*, Handle, void*, const void*, const void*, Handle,
                     Handle);
#define ESPALIER_DECLARE(name) InitOf<decltype(name)>::type name##_init;
  ESPALIER_NEXT_INIT_CALLS(ESPALIER_DECLARE)
#undef ESPALIER_DECLARE
#define ESPALIER_DECLARE(name) InitOf<decltype(name##_c)>::type name##_init_c;
  ESPALIER_NEXT_LARGE_INIT_CALLS(ESPALIER_DECLARE)
#undef ESPALIER_DECLARE
  int (*Start)(void*);
  int (*Startall)(int, void*);
  int (*Wait)(void*, void*);
  int (*Waitall)(int, void*, void*);
  int (*Waitany)(int, void*, int*, void*);
  int (*Waitsome)(int, void*, int*, int*, void*);
  int (*Request_free)(void*);
  int (*Isend)(const void*, int, Handle, int, int, Handle, void*);
  int (*Issend)(const void*, int, Handle, int, int, Handle, void*);
  int (*Irsend)(const void*, int, Handle, int, int, Handle, void*);
  int (*Irecv)(void*, int, Handle, int, int, Handle, void*);
  int (*Imrecv)(void*, int, Handle, void*, void*);
  int (*Isend_c)(const void*, MPI_Count, Handle, int, int, Handle, void*);
  int (*Issend_c)(const void*, MPI_Count, Handle, int, int, Handle, void*);
  int (*Irsend_c)(const void*, MPI_Count, Handle, int, int, Handle, void*);
  int (*Irecv_c)(void*, MPI_Count, Handle, int, int, Handle, void*);
  int (*Imrecv_c)(void*, MPI_Count, Handle, void*, void*);
  int (*Win_create)(void*, MPI_Aint, int, Handle, Handle, void*);
  int (*Win_create_c)(void*, MPI_Aint, MPI_Aint, Handle, Handle, void*);
  int (*Win_allocate)(MPI_Aint, int, Handle, Handle, void*, void*);
  int (*Win_allocate_c)(MPI_Aint, MPI_Aint, Handle, Handle, void*, void*);
  int (*Win_allocate_shared)(MPI_Aint, int, Handle, Handle, void*, void*);
  int (*Win_allocate_shared_c)(MPI_Aint, MPI_Aint, Handle, Handle, void*, void*);
  int (*Win_create_dynamic)(Handle, Handle, void*);
  int (*Win_free)(void*);
  // What handing on a _c call to a host without it takes.
  int (*Comm_rank)(Handle, int*);
  int (*Comm_size)(Handle, int*);
  int (*Comm_test_inter)(Handle, int*);
  int (*Comm_remote_size)(Handle, int*);
};

/// Predefined handles that are compared with at every call; valid in Mode::active.
struct Constants {
  MPI_Comm world, self, comm_null;
  MPI_Datatype datatype_null, byte, integer;
  MPI_Op op_null, replace, sum;
  MPI_Errhandler errors_return;
  MPI_Datatype notification;  // 64 bits, unsigned
  MPI_Info info_null;
};

struct Host {
#define ESPALIER_DECLARE(name) decltype(&PMPI_##name) name;
  ESPALIER_HOST_CALLS(ESPALIER_DECLARE)
  ESPALIER_HOST_WINDOW_CALLS(ESPALIER_DECLARE)
  ESPALIER_ABI_HOST_CALLS(ESPALIER_DECLARE)
#undef ESPALIER_DECLARE
  // nullptr where the ABI or the host has no large counts.
  int (*Pack_c)(const void*, MPI_Count, MPI_Datatype, void*, MPI_Count, MPI_Count*, MPI_Comm);
  int (*Unpack_c)(const void*, MPI_Count, MPI_Count*, void*, MPI_Count, MPI_Datatype, MPI_Comm);
  int (*Type_get_envelope_c)(MPI_Datatype, MPI_Count*, MPI_Count*, MPI_Count*, MPI_Count*, int*);
  int (*Comm_is_revoked)(MPI_Comm, int*);  ///< nullptr: the host has no such function
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

/// What the host says about an error code, in one line.
std::string words_of(int code);

/// Prints that no MPI in this process provides what was called; returns an error code.
int no_such_function(const char* name);

}  // namespace espalier::mpi
