// What all collectives have in common when a call is served.
#pragma once

#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <string>

#include "base/error.hpp"
#include "mpi/collectives/turn.hpp"
#include "mpi/host/callback.hpp"
#include "mpi/host/host.hpp"
#include "mpi/lifetime/communicators.hpp"
#include "mpi/lifetime/fallback.hpp"
#include "runtime/failure/node_failure.hpp"
#include "runtime/flight/recorder.hpp"

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

/// A fall-back, which all ranks make alike: returns `to_host`, or the error code that the policy demands.
[[gnu::cold, gnu::noinline]] inline int refuse(const Entry& entry, Collective collective, std::size_t bytes,
                                               const std::string& why, Form form = Form::blocking) {
  const int code = allow_fallback(entry, collective, bytes, why, form);
  return code == MPI_SUCCESS ? to_host : code;
}

/// The same for the reason that the runtime gives.
[[gnu::cold, gnu::noinline]] inline int refuse_by_plan(const Entry& entry, Collective collective,
                                                       std::size_t bytes) {
  return refuse(entry, collective, bytes, entry.communicator->why_host(collective));
}

/// `done`: what the runtime returned; false: it leaves the call to the host.
inline int served(bool done, const Entry& entry, Collective collective, std::size_t bytes) {
  return done ? MPI_SUCCESS : refuse_by_plan(entry, collective, bytes);
}

/// Takes over a text that malloc() has allocated, and frees it. Where there is no memory for it, that is what it says:
/// in a text so short that it needs none.
[[gnu::cold]] inline std::string taken(char* text) noexcept {
  std::string result = "out of memory";
  try {
    if (text) result = text;
  } catch (const std::bad_alloc&) {
  }
  std::free(text);
  return result;
}

/// Runs body(), which returns a code. An error in Espalier is raised on the communicator after the stack has
/// been unwound, because the program's error handler may throw or jump out. An exception of the program's own
/// functions goes on to the program. `bytes`: of the call, as far as body() knows them, for the line that
/// reports the error. By reference, so that a call that succeeds does not keep them in registers. Inlined always: where a
/// body is long the compiler made it a function of its own, which a short call notices.
template <class Body>
[[gnu::always_inline]] inline int guarded(const Handle& comm, Collective collective, const std::size_t& bytes,
                                          Body body, Form form = Form::blocking) {
  char* what;
  int error_class = MPI_ERR_OTHER;
  try {
    return body();
  } catch (const Error& error) {
    what = strdup(error.what());
    if (error.kind() == Error::Kind::truncation) error_class = MPI_ERR_TRUNCATE;
  } catch (const std::exception& error) {
    if (take_program_threw()) throw;
    what = strdup(error.what());
  } catch (...) {
    take_program_threw();
    throw;
  }
  return raise_error(typed<MPI_Comm>(comm), collective, bytes, taken(what), error_class, form);
}

/// Serves a call, or hands it on as it came. `serve(entry, call, bytes)` sets the bytes of the call as soon as it knows
/// them.
template <Collective collective, auto serve, auto forward, class AnyCall>
int perform(const AnyCall& call, void* caller) {
  const runtime::flight::InCall in_call(collective, normal(call.comm), call.root, caller);
  std::size_t bytes = 0;
  const int code = guarded(call.comm, collective, bytes, [&] {
    try {
      Entry* entry = entry_of(call.comm, caller);
      if (!entry) return to_host;
      if (guard::is_on && guard::begin_call<collective>(*entry, call) == guard::Server::host) [[unlikely]]
        return to_host;
      return serve(*entry, call, bytes);
    } catch (const Error&) {
      // If another rank has revoked the communicator, the host has the right error for that.
      if (communicators::is_revoked(call.comm)) return to_host;
      throw;
    }
  });
  return code == to_host ? forward(call) : code;
}

}  // namespace espalier::mpi
