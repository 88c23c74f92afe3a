// The C entry points. Each has the name of an MPI function to the linker and wide arguments to the compiler
// (abi.hpp).
#include "mpi/collectives.hpp"
#include "mpi/communicators.hpp"
#include "mpi/host.hpp"
#include "mpi/initialise.hpp"
#include "mpi/lifecycle.hpp"

#define ESPALIER_EXPORT(symbol) __asm__(#symbol) __attribute__((visibility("default"), used))

namespace espalier::mpi {

extern "C" {

int export_init(int*, char***) ESPALIER_EXPORT(MPI_Init);
int export_init_thread(int*, char***, int, int*) ESPALIER_EXPORT(MPI_Init_thread);
int export_finalize() ESPALIER_EXPORT(MPI_Finalize);
int export_session_init(Handle, Handle, void*) ESPALIER_EXPORT(MPI_Session_init);
int export_session_finalize(void*) ESPALIER_EXPORT(MPI_Session_finalize);
int export_comm_free(void*) ESPALIER_EXPORT(MPI_Comm_free);
int export_comm_disconnect(void*) ESPALIER_EXPORT(MPI_Comm_disconnect);
int export_barrier(Handle) ESPALIER_EXPORT(MPI_Barrier);
int export_bcast(void*, int, Handle, int, Handle) ESPALIER_EXPORT(MPI_Bcast);
int export_reduce(const void*, void*, int, Handle, Handle, int, Handle) ESPALIER_EXPORT(MPI_Reduce);
int export_allreduce(const void*, void*, int, Handle, Handle, Handle) ESPALIER_EXPORT(MPI_Allreduce);

int export_init(int* argc, char*** argv) {
  resolve(__builtin_return_address(0));
  if (!host.next.Init) return no_such_function("MPI_Init");
  return initialise([=] { return host.next.Init(argc, argv); });
}

int export_init_thread(int* argc, char*** argv, int required, int* provided) {
  resolve(__builtin_return_address(0));
  if (!host.next.Init_thread) return no_such_function("MPI_Init_thread");
  return initialise([=] { return host.next.Init_thread(argc, argv, required, provided); });
}

int export_finalize() {
  if (resolve(__builtin_return_address(0)) == Mode::active) lifecycle::end_world();
  return host.next.Finalize ? host.next.Finalize() : no_such_function("MPI_Finalize");
}

int export_session_init(Handle info, Handle handler, void* session) {
  const Mode mode = resolve(__builtin_return_address(0));
  if (!host.next.Session_init) return no_such_function("MPI_Session_init");
  const int code = host.next.Session_init(info, handler, session);
  if (code == MPI_SUCCESS && mode == Mode::active) lifecycle::begin_session();
  return code;
}

int export_session_finalize(void* session) {
  if (resolve(__builtin_return_address(0)) == Mode::active) lifecycle::end_session();
  return host.next.Session_finalize ? host.next.Session_finalize(session)
                                    : no_such_function("MPI_Session_finalize");
}

int export_comm_free(void* comm) {
  if (resolve(__builtin_return_address(0)) == Mode::active && comm)
    communicators::retire(wide(*static_cast<MPI_Comm*>(comm)));
  return host.next.Comm_free ? host.next.Comm_free(comm) : no_such_function("MPI_Comm_free");
}

int export_comm_disconnect(void* comm) {
  if (resolve(__builtin_return_address(0)) == Mode::active && comm)
    communicators::retire(wide(*static_cast<MPI_Comm*>(comm)));
  return host.next.Comm_disconnect ? host.next.Comm_disconnect(comm)
                                   : no_such_function("MPI_Comm_disconnect");
}

int export_barrier(Handle comm) { return barrier({.comm = comm}, __builtin_return_address(0)); }

int export_bcast(void* buffer, int count, Handle type, int root, Handle comm) {
  return bcast({.receive = buffer, .count = count, .type = type, .root = root, .comm = comm},
               __builtin_return_address(0));
}

int export_reduce(const void* send, void* receive, int count, Handle type, Handle op, int root, Handle comm) {
  return reduce({send, receive, count, type, op, root, comm}, __builtin_return_address(0));
}

int export_allreduce(const void* send, void* receive, int count, Handle type, Handle op, Handle comm) {
  return allreduce({send, receive, count, type, op, 0, comm}, __builtin_return_address(0));
}

// Open MPI 5 has no _c functions: mpi4py refers to them weakly and does without. If this build had them,
// mpi4py would call them and Espalier would have to do over the plain calls what mpi4py does itself.
#ifndef ESPALIER_ABI_OMPI

int export_bcast_c(void*, MPI_Count, Handle, int, Handle) ESPALIER_EXPORT(MPI_Bcast_c);
int export_reduce_c(const void*, void*, MPI_Count, Handle, Handle, int, Handle) ESPALIER_EXPORT(MPI_Reduce_c);
int export_allreduce_c(const void*, void*, MPI_Count, Handle, Handle, Handle)
    ESPALIER_EXPORT(MPI_Allreduce_c);

int export_bcast_c(void* buffer, MPI_Count count, Handle type, int root, Handle comm) {
  return bcast({.receive = buffer, .count = count, .type = type, .root = root, .comm = comm, .large = true},
               __builtin_return_address(0));
}

int export_reduce_c(const void* send, void* receive, MPI_Count count, Handle type, Handle op, int root,
                    Handle comm) {
  return reduce({send, receive, count, type, op, root, comm, true}, __builtin_return_address(0));
}

int export_allreduce_c(const void* send, void* receive, MPI_Count count, Handle type, Handle op,
                       Handle comm) {
  return allreduce({send, receive, count, type, op, 0, comm, true}, __builtin_return_address(0));
}

#endif

}  // extern "C"

}  // namespace espalier::mpi
