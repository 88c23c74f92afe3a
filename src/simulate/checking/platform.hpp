// The platform on which the text of BasicMachine and BasicWaiter is checked: flags, fences and futexes of an
// Execution's memory.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <source_location>

#include "machine/host_platform.hpp"
#include "machine/wait.hpp"
#include "simulate/checking/execution.hpp"

namespace espalier::simulate::checking {

/// Stands where std::atomic does, and is as large; its value is the execution's.
template <class T>
class Atomic {
 public:
  using Where = std::source_location;

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

 private:
  static constexpr const char* name = sizeof(T) == sizeof(memory::Step) ? "step" : "sleepers";
  T unused_;
};

/// A FlagLine whose flags are the execution's.
struct alignas(128) Line {
  Atomic<memory::Step> step;
  Atomic<std::uint32_t> sleepers;
  std::uint32_t fingerprint;
  std::byte payload[memory::inline_capacity];
};
static_assert(sizeof(Line) == sizeof(memory::FlagLine));

class Waiter;

struct Platform {
  using Line = checking::Line;
  using Waiter = checking::Waiter;
  using Where = std::source_location;

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
    Execution::current().reads(source, bytes);
    std::memcpy(target, source, bytes);
    Execution::current().writes(target, bytes);
  }
  static void copy_small(void* target, const void* source, std::size_t bytes) {
    if (bytes > 0) copy(target, source, bytes);
  }
  static void fold(const reduce::Operation& operation, void* target, const void* const* sources, int count,
                   std::size_t bytes) {
    for (int i = 0; i < count; ++i) Execution::current().reads(sources[i], bytes);
    operation.kernel(target, sources, count, bytes / operation.extent);
    Execution::current().writes(target, bytes);
  }
  static bool readable_remotely(const void* source, std::size_t bytes) {
    return Execution::current().expose(source, bytes);
  }
  static bool read_remotely(pid_t owner, void* target, const void* source, std::size_t bytes) {
    Execution::current().pull(owner, source, bytes);
    std::memcpy(target, source, bytes);
    return true;
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

}  // namespace espalier::simulate::checking

namespace espalier::machine {
extern template class BasicWaiter<simulate::checking::Platform>;
}
