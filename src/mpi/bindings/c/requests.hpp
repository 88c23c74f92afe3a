// What the entry points for requests and probes have in common. In a program without persistent collectives
// of Espalier's each is a look at two counters and a call of the host's.
#pragma once

#include "mpi/host/repeat_test.hpp"
#include "mpi/requests/long_messages.hpp"
#include "mpi/requests/persistent.hpp"
#include "runtime/flight/recorder.hpp"

namespace espalier::mpi {

/// A call that may complete `count` requests at `requests`. `serve()` is called where some may be Espalier's,
/// else `hand_on(next)`.
template <class Serve, class HandOn>
[[gnu::always_inline]] inline int use_requests(void* caller, int count, const void* requests, Serve serve,
                                               HandOn hand_on) {
  const Mode mode = resolve(caller);
  const runtime::flight::InRequests in_requests(caller);
  const long_messages::Completions completions(count, requests);
  if (mode == Mode::active && persistent::any()) [[unlikely]]
    return serve();
  return hand_on(host.next);
}

/// The same for what returns at once; `is_found()` says whether with a result (repeat_test.hpp).
template <class Serve, class Found, class HandOn>
[[gnu::always_inline]] inline int test_requests(void* caller, int count, const void* requests, Serve serve,
                                                Found is_found, HandOn hand_on) {
  const Mode mode = resolve(caller);
  const long_messages::Completions completions(count, requests);
  if (mode != Mode::active || runtime::asking::is_plain()) [[likely]]
    return hand_on(host.next);
  if (persistent::any()) return ask_twice(serve, serve, is_found);
  return ask_twice([&] { return hand_on(host.next); }, [&] { return hand_on(host.again); }, is_found);
}

/// The same for messages, windows and parts of messages.
template <class Found, class HandOn>
[[gnu::always_inline]] inline int probe(void* caller, Found is_found, HandOn hand_on) {
  const Mode mode = resolve(caller);
  if (runtime::asking::is_plain() || mode != Mode::active) return hand_on(host.next);
  return ask_twice([&] { return hand_on(host.next); }, [&] { return hand_on(host.again); }, is_found);
}

}  // namespace espalier::mpi
