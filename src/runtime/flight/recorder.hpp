// The flight recorder: each rank keeps its last calls where `espalier who` finds them, whatever the rank does
// meanwhile. Always on, so what a call pays is a few stores to two lines of the cache of its own.
//
// Reading the clock would cost more than all of that, so most short calls have no times: a call in 32 has, each one
// where calls are so far apart that two readings do not matter, and each that waits longer than its first looks.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/collective.hpp"
#include "runtime/flight/record.hpp"

namespace espalier::runtime::flight {

namespace detail {

/// The ring that is found at once, and the thread that has it; null: it is free.
struct First {
  std::atomic<const void*> thread;
  std::atomic<Ring*> ring;
};
extern First first;

/// Which thread this is: where its thread-local memory lies, which is in a register. A thread-local variable of a
/// library that may be loaded late would take a call of the loader's.
[[gnu::always_inline]] inline const void* this_thread() {
#if defined(__x86_64__)
  const void* self;
  asm("mov %%fs:0, %0" : "=r"(self));
  return self;
#else
  return __builtin_thread_pointer();
#endif
}
[[gnu::noinline]] Ring& ring_of_another() noexcept;

[[gnu::cold, gnu::noinline]] void note_begin(Ring& ring, std::uint64_t state) noexcept;
[[gnu::cold, gnu::noinline]] void note_end(Entry& entry) noexcept;

[[gnu::always_inline]] inline Ring& ring() {
  if (first.thread.load(std::memory_order_relaxed) == this_thread()) [[likely]]
    return *first.ring.load(std::memory_order_relaxed);
  return ring_of_another();
}

}  // namespace detail

/// Lives as long as a collective call of the program's.
class InCall {
 public:
  /// `communicator`: the handle by which it was named to add_communicator(). `site`: where the program called.
  [[gnu::always_inline]] InCall(Collective collective, std::uint64_t communicator, int root, const void* site)
      : ring_(detail::ring()) {
    constexpr auto relaxed = std::memory_order_relaxed;
    // From between two calls into one; where an error handler has jumped out of a call, its state is passed over.
    const std::uint64_t state = (ring_.state.load(relaxed) | 1) + 2;
    Entry& entry = ring_.entry(state);
    entry.site.store(reinterpret_cast<std::uintptr_t>(site), relaxed);
    entry.communicator.store(communicator, relaxed);
    entry.root.store(root, relaxed);
    entry.collective.store(static_cast<std::uint32_t>(collective), relaxed);
    entry.call.store(0, relaxed);
    if (state >= ring_.next_timed.load(relaxed)) [[unlikely]]
      detail::note_begin(ring_, state);
    ring_.state.store(state,
                      std::memory_order_release);  // pairs with the reader's look before it reads the entry
  }
  [[gnu::always_inline]] ~InCall() {
    constexpr auto relaxed = std::memory_order_relaxed;
    const std::uint64_t state = ring_.state.load(relaxed);
    if (ring_.timed.load(relaxed) == state) [[unlikely]]
      detail::note_end(ring_.entry(state));
    ring_.state.store(state & ~std::uint64_t{1}, relaxed);
  }
  InCall(const InCall&) = delete;
  InCall& operator=(const InCall&) = delete;

 private:
  Ring& ring_;
};

/// What is known of this thread's call only when its communicator has been found: its number there, and how much.
/// Within a call: outside it would be said of the last one.
[[gnu::always_inline]] inline void note_call(std::uint64_t call, std::uint64_t bytes) {
  Ring& ring = detail::ring();
  Entry& entry = ring.entry(ring.state.load(std::memory_order_relaxed));
  entry.bytes.store(bytes, std::memory_order_relaxed);
  entry.call.store(call,
                   std::memory_order_release);  // pairs with the reader's look before it reads the bytes
}

/// The same of a call that the host serves, its `call`-th of the communicator. Nothing outside of calls.
void note_host_call(std::uint64_t call, std::uint64_t bytes) noexcept;

/// Lives as long as a call that may wait for requests.
class InRequests {
 public:
  [[gnu::always_inline]] explicit InRequests(const void* site) {
    detail::ring().waits_at.store(reinterpret_cast<std::uintptr_t>(site), std::memory_order_relaxed);
  }
  [[gnu::always_inline]] ~InRequests() { detail::ring().waits_at.store(0, std::memory_order_relaxed); }
  InRequests(const InRequests&) = delete;
  InRequests& operator=(const InRequests&) = delete;
};

/// This thread's call waits longer than its first looks: from now on it has a time. Called again and again.
void note_wait() noexcept;

/// This thread's call has times, and when it is over, `then` hears how many ticks it took from now on. Not if the program
/// jumps out of it, or makes another call within it. Costs other calls nothing.
void time_call(void (*then)(std::uint64_t communicator, std::uint64_t ticks) noexcept) noexcept;

/// From now on each call has its times. When the first thread that has made `calls` of them begins another one, it
/// calls `then`: once, and after that calls have times as before. Costs a call nothing before it is asked for.
void time_all(std::uint64_t calls, void (*then)() noexcept);

/// Who records.
struct Author {
  std::uint64_t job = 0, node = 0;
  std::uint64_t started = 0;
  int rank = 0, ranks = 1, node_rank = 0, node_ranks = 1;
};

/// From now on this process records at `place`, record_bytes of zeroes that others see, or, if it is null, in memory
/// that only a process which looks for it finds. What was recorded goes along. While no other thread joins or leaves.
void join(std::byte* place, const Author& author);
/// The process makes no more calls, and `place` may go.
void leave() noexcept;

/// Notes the time in the record, and says where it is: record_bytes; null: this process has not joined. May be called
/// in signal handlers.
const char* mark_now() noexcept;

/// The host MPI's version line, and which build of Espalier this is.
void name_host(const std::string& host, const std::string& build);

/// What CommunicatorLine has.
struct Named {
  std::uint64_t handle = 0;
  std::uint64_t high = 0, low = 0;  ///< the id
  int size = 1, rank = 0;
  int first = 0, stride = 0;
  std::string name;
};
/// Thread-safe. Where there is no line left nothing is known of its calls' communicator.
void add_communicator(const Named& communicator);
void forget_communicator(std::uint64_t handle) noexcept;

}  // namespace espalier::runtime::flight
