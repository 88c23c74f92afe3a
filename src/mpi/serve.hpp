// What serving a call has in common for all collectives.
#pragma once

#include <exception>

#include "mpi/communicators.hpp"
#include "mpi/fallback.hpp"
#include "mpi/host.hpp"

namespace espalier::mpi {

/// Not an MPI error code: the host shall do the call.
inline constexpr int to_host = -1;

inline Entry* entry_of(Handle comm, void* caller) {
  Entry* entry = communicators::find(comm);
  return entry ? entry : communicators::enter(comm, caller);
}

inline bool is_in_place(const void* buffer) { return buffer == MPI_IN_PLACE; }

inline bool is_rank(int root, const runtime::Communicator& communicator) {
  return static_cast<unsigned>(root) < static_cast<unsigned>(communicator.size());
}

/// A wanted call that Espalier leaves to the host, all ranks alike.
[[gnu::cold, gnu::noinline]] inline int refuse(const Entry& entry, Collective collective, std::size_t bytes,
                                               const std::string& why) {
  const int code = allow_fallback(entry, collective, bytes, why);
  return code == MPI_SUCCESS ? to_host : code;
}

/// For the runtime's own reason.
[[gnu::cold, gnu::noinline]] inline int refuse_by_plan(const Entry& entry, Collective collective,
                                                       std::size_t bytes) {
  return refuse(entry, collective, bytes, entry.communicator->why_host());
}

/// `done`: the runtime's answer.
inline int served(bool done, const Entry& entry, Collective collective, std::size_t bytes) {
  return done ? MPI_SUCCESS : refuse_by_plan(entry, collective, bytes);
}

/// Serves a call, or hands it on as it came. An exception must not pass through the program's frames; `serve`
/// notes the bytes of the call as soon as it knows them, for the line that reports it.
template <auto serve, auto forward, class AnyCall>
int perform(const AnyCall& call, void* caller, Collective collective) {
  std::size_t bytes = 0;
  int code;
  try {
    code = serve(call, caller, bytes);
  } catch (const std::exception& error) {
    return raise_error(typed<MPI_Comm>(call.comm), collective, bytes, error.what());
  }
  return code == to_host ? forward(call) : code;
}

}  // namespace espalier::mpi
