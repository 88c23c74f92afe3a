// Where the operations of a simulated rank go: to the engine at once, or into a program that is replayed
// later.
#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>

#include "machine/layout.hpp"
#include "reduce/operation.hpp"
#include "simulation/engine/operation.hpp"

namespace espalier::simulation {

/// Each rank has one. The sink of the rank that runs is the current one.
class Sink {
 public:
  Sink(int rank, std::byte* share, const machine::Layout& layout)
      : rank_(rank), share_(share), layout_(layout) {}
  virtual ~Sink() = default;

  static Sink& current() { return *current_; }
  /// Returns the sink that was current before.
  static Sink* make_current(Sink* sink) { return std::exchange(current_, sink); }

  int rank() const { return rank_; }

  virtual void act(const Operation& operation) = 0;
  /// The value of a flag of the node.
  virtual std::uint64_t value(int flag) = 0;
  /// Adds to a flag; returns what it was. Throws Error in a recorder, where control flow must not depend on
  /// time.
  virtual std::uint64_t add(int flag, std::uint64_t value) = 0;
  /// Whether bytes move; a recorder leaves them where they are.
  virtual bool moves_data() const = 0;
  /// Begin a message; return its number for complete().
  virtual std::uint32_t send(int peer, int lane, const void* data, std::size_t bytes) = 0;
  virtual std::uint32_t receive(int peer, int lane, void* data, std::size_t bytes) = 0;
  virtual void complete(std::uint32_t message) = 0;
  /// Messages, and the rank's tasks that await them: of other nodes, and of the rank's own node.
  std::deque<std::pair<std::uint32_t, std::coroutine_handle<>>> awaiting, awaiting_neighbours;

  int flag_at(const void* line) const {
    return static_cast<int>((static_cast<const std::byte*>(line) - share_) /
                            static_cast<std::ptrdiff_t>(sizeof(memory::FlagLine)));
  }
  void copied(void* target, const void* source, std::size_t bytes) {
    if (bytes == 0) return;
    act({Act::copy, 0, place_of(source), bytes});
    written(target, bytes);
  }
  void folded(void* target, const void* const* sources, int count, std::size_t bytes) {
    if (bytes == 0) return;
    for (int i = 0; i < count; ++i)
      if (const std::int32_t place = place_of(sources[i]); place != own_memory)
        act({Act::copy, 0, place, bytes});
    act({Act::fold, 0, 0, bytes * static_cast<std::size_t>(count)});
    written(target, bytes);
  }

 private:
  void written(void* target, std::size_t bytes) {
    if (const std::int32_t place = place_of(target); place != own_memory) act({Act::write, 0, place, bytes});
  }
  // The line of the share. What rides in a flag's line came with the flag: that is as good as own memory.
  std::int32_t place_of(const void* address) const {
    const auto* at = static_cast<const std::byte*>(address);
    if (at < share_ + layout_.slots_begin() || at >= share_ + layout_.bytes()) return own_memory;
    return static_cast<std::int32_t>((at - share_) /
                                     static_cast<std::ptrdiff_t>(machine::Layout::line_bytes));
  }

  inline static thread_local Sink* current_ = nullptr;
  int rank_;
  std::byte* share_;
  machine::Layout layout_;
};

/// The sum of unsigned 64-bit integers, which tells the current sink what it folds. For network algorithms,
/// which call an operation's kernel themselves.
const reduce::Operation& simulated_sum();

}  // namespace espalier::simulation
