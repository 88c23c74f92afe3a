// What serving a call has in common for all collectives.
#pragma once

#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>

#include "base/error.hpp"
#include "mpi/host/callback.hpp"
#include "mpi/host/host.hpp"
#include "mpi/lifetime/communicators.hpp"
#include "mpi/lifetime/fallback.hpp"

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

/// A text of malloc()'s, given back here.
[[gnu::cold]] inline std::string taken(char* text) {
  std::string result(text ? text : "out of memory");
  std::free(text);
  return result;
}

/// Runs body(), which answers with a code. What fails in Espalier is raised on the communicator, after all
/// has been unwound, because the program's error handler may throw or jump out. What the program's own
/// functions threw goes on to the program. `bytes`: of the call, as far as body() knows them, for the line
/// that reports it. References: a call that succeeds does not keep these in registers.
template <class Body>
int guarded(const Handle& comm, Collective collective, const std::size_t& bytes, Body body) {
  char* what;
  try {
    return body();
  } catch (const Error& error) {
    what = strdup(error.what());
  } catch (const std::exception& error) {
    if (take_program_threw()) throw;
    what = strdup(error.what());
  } catch (...) {
    take_program_threw();
    throw;
  }
  return raise_error(typed<MPI_Comm>(comm), collective, bytes, taken(what));
}

/// Serves a call, or hands it on as it came. `serve` notes the bytes of the call as soon as it knows them.
template <auto serve, auto forward, class AnyCall>
int perform(const AnyCall& call, void* caller, Collective collective) {
  std::size_t bytes = 0;
  const int code = guarded(call.comm, collective, bytes, [&] {
    try {
      return serve(call, caller, bytes);
    } catch (const Error&) {
      // Another rank has revoked it, and leaves this one waiting: the host has the right error for that.
      if (communicators::is_revoked(call.comm)) return to_host;
      throw;
    }
  });
  return code == to_host ? forward(call) : code;
}

}  // namespace espalier::mpi
