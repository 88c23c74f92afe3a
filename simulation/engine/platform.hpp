// The platform on which the host machine's text runs in simulated time.
#pragma once

#include <atomic>
#include <cstring>

#include "machine/host_machine.hpp"
#include "simulation/engine/sink.hpp"

namespace espalier::simulation {

/// Stands where std::atomic does, and is as large; its value is the sink's.
template <class T>
class SimulatedFlag {
 public:
  T load(std::memory_order) const {
    return static_cast<T>(Sink::current().value(Sink::current().flag_at(this)));
  }
  T fetch_add(T value, std::memory_order) {
    return static_cast<T>(Sink::current().add(Sink::current().flag_at(this), value));
  }

 private:
  T unused_;
};

struct alignas(128) SimulatedLine {
  SimulatedFlag<memory::Step> step;
  std::uint32_t unused[2];
  std::byte payload[memory::inline_capacity];
};
static_assert(sizeof(SimulatedLine) == sizeof(memory::FlagLine));

/// Waits take as long as the model says; there is no ladder to climb.
class SimulatedWaiter {
 public:
  SimulatedWaiter(machine::WaitPolicy, machine::ProgressHook) {}
  // All ranks of a simulation make the same calls.
  void begin_call(machine::Fingerprint) {}
  machine::Fingerprint fingerprint() const { return 0; }
  void on_mistake(machine::Mistake) {}
  void report_mistake(int) const {}
  void await(SimulatedLine& line, memory::Step step, int) {
    Sink& sink = Sink::current();
    sink.act({Act::await, 0, sink.flag_at(&line), step});
  }
  void signal(SimulatedLine& line, memory::Step step) const {
    Sink& sink = Sink::current();
    sink.act({Act::publish, 0, sink.flag_at(&line), step});
  }
  // All blocks are as long as their readers expect.
  std::size_t await_block(SimulatedLine& line, memory::Step step, int peer, std::size_t expected) {
    await(line, step, peer);
    return expected;
  }
  machine::PairLengths await_pair(SimulatedLine& line, memory::Step step, int peer,
                                  const machine::PairLengths& expected) {
    await(line, step, peer);
    return expected;
  }
  void signal_pair(SimulatedLine& line, memory::Step step, const machine::PairLengths&) const {
    signal(line, step);
  }
  bool await_exactly(SimulatedLine& line, memory::Step step, int peer) {
    await(line, step, peer);
    return true;
  }
  void compare_lengths(int, std::size_t, std::size_t) const {}
  void refuse_length(int, std::size_t, std::size_t, bool) const {}
  void signal_block(SimulatedLine& line, memory::Step step, std::size_t) const { signal(line, step); }
};

struct SimulatedPlatform {
  using Line = SimulatedLine;
  using Waiter = SimulatedWaiter;

  static void copy(void* target, const void* source, std::size_t bytes) {
    if (Sink::current().moves_data()) std::memcpy(target, source, bytes);
    Sink::current().copied(target, source, bytes);
  }
  // Streaming is not modelled: a copy is a copy.
  struct SlotWriter {
    bool copy(void* target, const void* source, std::size_t bytes, const void* /*fetched*/) const {
      SimulatedPlatform::copy(target, source, bytes);
      return false;
    }
  };
  // Nor are caches that remember what lay there: rings are long.
  struct RingChoice {
    bool next() const { return false; }
    template <class Copy>
    bool timed(std::size_t /*bytes*/, const Copy& copy) const {
      return copy();
    }
  };
  static void settle_streams() {}
  // What rides in a line costs no more than the line.
  static void copy_small(void* target, const void* source, std::size_t bytes) {
    if (bytes > 0 && Sink::current().moves_data()) std::memcpy(target, source, bytes);
  }
  static void fold(const reduce::Operation& operation, void* target, const void* const* sources, int count,
                   std::size_t bytes) {
    operation.kernel(target, sources, count, bytes / operation.extent);
  }
  // Not modelled: algorithms go through the slots.
  static bool readable_remotely(const void*, std::size_t, bool) { return false; }
  static bool read_remotely(pid_t, void*, const void*, std::size_t) { return false; }
  static const void* view_of(pid_t, const void*, std::size_t) { return nullptr; }
};

/// DESIGN's second machine: what algorithms run on, in simulated time.
using SimulatedMachine = machine::BasicMachine<SimulatedPlatform>;
static_assert(machine::Machine<SimulatedMachine>);

}  // namespace espalier::simulation
