// The platform on which the text of BasicMachine and BasicWaiter, and that of windows, is checked: flags,
// fences and futexes of an Execution's memory.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>
#include <source_location>

#include "machine/host_platform.hpp"
#include "machine/wait.hpp"
#include "network/spin_limits.hpp"
#include "simulation/checker/execution.hpp"

namespace espalier::simulation::checker {

/// What a flag is called in reports and in the names of mutants.
enum class Flag : std::uint8_t { value, step, sleepers, fingerprint };

/// Stands where std::atomic does, and is as large; its value is the execution's.
template <class T, Flag of = Flag::value>
class Atomic {
 public:
  using Where = std::source_location;
  static constexpr bool is_always_lock_free = true;

  T load(std::memory_order order, Where where = Where::current()) const {
    return static_cast<T>(Execution::current().load(this, name, order, where));
  }
  void store(T value, std::memory_order order, Where where = Where::current()) {
    Execution::current().store(this, name, value, order, where);
  }
  T fetch_add(T value, std::memory_order order, Where where = Where::current()) {
    return static_cast<T>(Execution::current().add(this, name, value, order, where));
  }
  T fetch_sub(T value, std::memory_order order, Where where = Where::current()) {
    return static_cast<T>(Execution::current().add(this, name, std::uint64_t{0} - value, order, where));
  }
  T exchange(T value, std::memory_order order, Where where = Where::current()) {
    return static_cast<T>(Execution::current().exchange(this, name, value, order, where));
  }
  bool compare_exchange_weak(T& expected, T desired, std::memory_order success, std::memory_order failure,
                             Where where = Where::current()) {
    return change(expected, desired, true, success, failure, where);
  }
  bool compare_exchange_strong(T& expected, T desired, std::memory_order success, std::memory_order failure,
                               Where where = Where::current()) {
    return change(expected, desired, false, success, failure, where);
  }

 private:
  static constexpr const char* name = of == Flag::step          ? "step"
                                      : of == Flag::sleepers    ? "sleepers"
                                      : of == Flag::fingerprint ? "fingerprint"
                                                                : "";

  bool change(T& expected, T desired, bool weak, std::memory_order success, std::memory_order failure,
              const Where& where) {
    std::uint64_t was = expected;
    const bool changed =
        Execution::current().compare_exchange(this, name, was, desired, weak, success, failure, where);
    expected = static_cast<T>(was);
    return changed;
  }

  T unused_;
};

/// Stands where std::atomic_ref does.
template <class T>
class AtomicRef {
 public:
  using Where = std::source_location;
  static constexpr bool is_always_lock_free = true;
  explicit AtomicRef(T& word) : word_(reinterpret_cast<Atomic<T>&>(word)) {}

  T load(std::memory_order order, Where where = Where::current()) const { return word_.load(order, where); }
  void store(T value, std::memory_order order, Where where = Where::current()) {
    word_.store(value, order, where);
  }
  T fetch_add(T value, std::memory_order order, Where where = Where::current()) {
    return word_.fetch_add(value, order, where);
  }
  bool compare_exchange_strong(T& expected, T desired, std::memory_order success, std::memory_order failure,
                               Where where = Where::current()) {
    return word_.compare_exchange_strong(expected, desired, success, failure, where);
  }
  T exchange(T value, std::memory_order order, Where where = Where::current()) {
    return word_.exchange(value, order, where);
  }

 private:
  Atomic<T>& word_;
};

/// A FlagLine whose flags are the execution's.
struct alignas(128) Line {
  Atomic<memory::Step, Flag::step> step;
  Atomic<std::uint32_t, Flag::sleepers> sleepers;
  Atomic<std::uint32_t, Flag::fingerprint> fingerprint;
  std::byte payload[memory::inline_capacity];
};
static_assert(sizeof(Line) == sizeof(memory::FlagLine));

class Waiter;

/// A window's wait: it goes on when there is something to look at.
class IdleWait {
 public:
  explicit IdleWait(const network::SpinLimits&) {}
  void pass() { Execution::current().idle(true); }
  void pass_poll() {}
  void begin_anew() {}
  bool timed_sleeps() const { return true; }
};

struct Platform {
  using Line = checker::Line;
  using Waiter = checker::Waiter;
  using Where = std::source_location;
  template <class T>
  using Atomic = checker::Atomic<T>;
  template <class T>
  using AtomicRef = checker::AtomicRef<T>;
  using Wait = IdleWait;

  static void fence(std::memory_order order, Where where = Where::current()) {
    Execution::current().fence(order, where);
  }
  static void futex_wait(Line& line, std::uint32_t seen, std::uint32_t, Where where = Where::current()) {
    Execution::current().futex_wait(&line.step, seen, where);
  }
  static void futex_wake_all(Line& line, Where where = Where::current()) {
    Execution::current().futex_wake(&line.step, where);
  }
  static void pause() {}
  static void yield() { Execution::current().yield(); }
  static std::int64_t now_ns() { return Execution::current().now(); }

  static void copy(void* target, const void* source, std::size_t bytes) {
    if (bytes == 0) return;  // the addresses may be null
    Execution::current().reads(source, bytes);
    std::memcpy(target, source, bytes);
    Execution::current().writes(target, bytes);
  }
  // Streams whatever goes into a slot, so that none of it escapes the checks.
  struct SlotWriter {
    bool copy(void* target, const void* source, std::size_t bytes, const void* /*fetched*/) const {
      Execution::current().reads(source, bytes);
      Execution::current().stream(target, source, bytes);
      return true;
    }
  };
  // Now this ring, now that: any number of times in a row.
  class RingChoice {
   public:
    bool next() { return std::popcount(turn_++) % 2 == 0; }
    template <class Copy>
    bool timed(std::size_t /*bytes*/, const Copy& copy) const {
      return copy();
    }

   private:
    unsigned turn_ = 0;
  };
  static void settle_streams() { Execution::current().settle_streams(); }
  static void copy_small(void* target, const void* source, std::size_t bytes) {
    if (bytes > 0) copy(target, source, bytes);
  }
  static void fold(const reduce::Operation& operation, void* target, const void* const* sources, int count,
                   std::size_t bytes) {
    for (int i = 0; i < count; ++i) Execution::current().reads(sources[i], bytes);
    operation.kernel(target, sources, count, bytes / operation.extent);
    Execution::current().writes(target, bytes);
  }
  static bool readable_remotely(const void* source, std::size_t bytes, bool) {
    return Execution::current().expose(source, bytes);
  }
  /// Refusals are of single reads there: a rank that knows of none meets more scenarios.
  static bool refuses_reads() { return false; }
  static bool read_remotely(pid_t owner, void* target, const void* source, std::size_t bytes) {
    if (Execution::current().refuses_read()) return false;
    Execution::current().pull(owner, source, bytes);
    std::memcpy(target, source, bytes);
    return true;
  }
  static const void* view_of(pid_t owner, const void* source, std::size_t bytes) {
    if (Execution::current().refuses_read()) return nullptr;
    Execution::current().pull(owner, source, bytes);
    return source;
  }
};

/// The waiter of the text, whose waits a mutant may leave out.
class Waiter : public machine::BasicWaiter<Platform> {
 public:
  using machine::BasicWaiter<Platform>::BasicWaiter;

  void await(Line& line, memory::Step step, int peer,
             std::source_location where = std::source_location::current()) {
    Execution& execution = Execution::current();
    if (execution.at(where, Operation::wait) == Change::removed || execution.skips_wait()) return;
    execution.waits_for(&line.step, step);
    machine::BasicWaiter<Platform>::await(line, step, peer);
  }
};

}  // namespace espalier::simulation::checker

namespace espalier::machine {
extern template class BasicWaiter<simulation::checker::Platform>;
}
