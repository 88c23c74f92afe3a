// What MPI's tests and probes look at before they are handed on: one word, which is 0 in a program that uses
// neither collectives nor persistent requests of Espalier's.
#pragma once

#include <atomic>

#include "runtime/progress/only_thread.hpp"

namespace espalier::runtime::asking {

/// A collective has been served since a test or probe last found nothing. What was sent before it may not
/// have been looked at by the host yet: a wait that ends while it spins does not drive the host's progress.
inline constexpr unsigned collective_served = 1;
/// One for each persistent request of Espalier's.
inline constexpr unsigned one_request = 2;

/// Of the process, not of a thread, as is the host's progress. Relaxed throughout: a thread sees what it has
/// written itself, and what another does meanwhile may come before or after.
inline std::atomic<unsigned> state{0};

inline bool is_plain() { return state.load(std::memory_order_relaxed) == 0; }
inline bool has_requests() { return state.load(std::memory_order_relaxed) >= one_request; }
inline bool is_due() { return state.load(std::memory_order_relaxed) & collective_served; }

/// At the end of every collective. It is written only where it changes, so threads in different collectives
/// do not take the line from each other.
inline void note_collective() {
  if (!is_due()) [[unlikely]]
    state.fetch_or(collective_served, std::memory_order_relaxed);
}
/// By threads that make MPI calls. A thread of the C API that notes a collective meanwhile may be missed: then one test
/// goes straight to the host.
inline void add_request() { add_in_call(state, one_request); }
inline void remove_request() { add_in_call(state, 0 - one_request); }
inline void forget_collectives() { state.fetch_and(~collective_served, std::memory_order_relaxed); }

}  // namespace espalier::runtime::asking
