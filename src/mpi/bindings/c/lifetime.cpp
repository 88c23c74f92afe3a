// The C entry points of a process's, a communicator's and an operator's life.
#include "base/error.hpp"
#include "generated/mpi/bindings/c/entry_points.hpp"
#include "mpi/host/host.hpp"
#include "mpi/lifetime/communicators.hpp"
#include "mpi/lifetime/initialise.hpp"
#include "mpi/lifetime/lifecycle.hpp"
#include "mpi/requests/held_operator.hpp"
#include "runtime/statistics/statistics.hpp"

namespace espalier::mpi {
namespace {

int free_communicator(void* comm, void* caller, int (*Next::*function)(void*), const char* name) {
  const bool serves = resolve(caller) == Mode::active && comm;
  const auto host_frees = host.next.*function;
  if (!host_frees) return no_such_function(name);
  if (!serves) return host_frees(comm);
  const communicators::Retirement retirement(wide(*static_cast<MPI_Comm*>(comm)));
  return host_frees(comm);
}

}  // namespace

extern "C" {

int export_Init(int* argc, char*** argv) {
  resolve(__builtin_return_address(0));
  if (!host.next.Init) return no_such_function("MPI_Init");
  return initialise([=] { return host.next.Init(argc, argv); });
}

int export_Init_thread(int* argc, char*** argv, int required, int* provided) {
  resolve(__builtin_return_address(0));
  if (!host.next.Init_thread) return no_such_function("MPI_Init_thread");
  return initialise([=] { return host.next.Init_thread(argc, argv, required, provided); });
}

int export_Finalize() {
  if (resolve(__builtin_return_address(0)) == Mode::active) lifecycle::finalize_begins();
  return host.next.Finalize ? host.next.Finalize() : no_such_function("MPI_Finalize");
}

int export_Session_init(Handle info, Handle handler, void* session) {
  const Mode mode = resolve(__builtin_return_address(0));
  if (!host.next.Session_init) return no_such_function("MPI_Session_init");
  const int code = host.next.Session_init(info, handler, session);
  if (code == MPI_SUCCESS && mode == Mode::active) lifecycle::begin_session();
  return code;
}

int export_Session_finalize(void* session) {
  if (resolve(__builtin_return_address(0)) == Mode::active) lifecycle::end_session();
  return host.next.Session_finalize ? host.next.Session_finalize(session)
                                    : no_such_function("MPI_Session_finalize");
}

int export_Abort(Handle comm, int code) {
  if (resolve(__builtin_return_address(0)) == Mode::active) lifecycle::abort_begins();
  return host.next.Abort ? host.next.Abort(comm, code) : no_such_function("MPI_Abort");
}

int export_Comm_free(void* comm) {
  return free_communicator(comm, __builtin_return_address(0), &Next::Comm_free, "MPI_Comm_free");
}

int export_Comm_revoke(Handle comm) {
  const Mode mode = resolve(__builtin_return_address(0));
  if (!host.next.Comm_revoke) return no_such_function("MPIX_Comm_revoke");
  const int code = host.next.Comm_revoke(comm);
  if (code != MPI_SUCCESS || mode != Mode::active) return code;
  try {
    communicators::leave_revoked(comm);
  } catch (const Error&) {
    // The next collective asks the host whether it is revoked.
  }
  return code;
}

int export_Comm_disconnect(void* comm) {
  return free_communicator(comm, __builtin_return_address(0), &Next::Comm_disconnect, "MPI_Comm_disconnect");
}

int export_Op_free(void* op) {
  const Mode mode = resolve(__builtin_return_address(0));
  if (!host.next.Op_free) return no_such_function("MPI_Op_free");
  auto* const ours = static_cast<MPI_Op*>(op);
  if (mode != Mode::active || !ours || !held_operators::free_later(*ours)) return host.next.Op_free(op);
  *ours = host.constants.op_null;
  return MPI_SUCCESS;
}

}  // extern "C"

}  // namespace espalier::mpi
