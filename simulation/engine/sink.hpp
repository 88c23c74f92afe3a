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
  Sink(int rank, int local, std::byte* share, const machine::Layout& layout)
      : rank_(rank), local_(local), share_(share), layout_(layout) {}
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
  /// Reads `bytes` at that address: costs a copy from the slot or line of its owner.
  void copied(const void* source, std::size_t bytes) {
    if (bytes > 0) act({Act::copy, 0, owner_of(source), bytes});
  }
  void folded(const void* const* sources, int count, std::size_t bytes) {
    for (int i = 0; i < count; ++i)
      if (owner_of(sources[i]) != local_) copied(sources[i], bytes);
    if (bytes > 0) act({Act::fold, 0, 0, bytes * static_cast<std::size_t>(count)});
  }

 private:
  // This rank, for memory that is no rank's part of the share.
  int owner_of(const void* address) const {
    const auto* at = static_cast<const std::byte*>(address);
    if (at < share_ + layout_.control_block(0) || at >= share_ + layout_.bytes()) return local_;
    const auto offset = static_cast<std::size_t>(at - share_);
    if (offset < layout_.ring(0))
      return static_cast<int>((offset - layout_.control_block(0)) / layout_.control_block_bytes());
    return static_cast<int>((offset - layout_.ring(0)) / layout_.ring_and_page_bytes());
  }

  inline static thread_local Sink* current_ = nullptr;
  int rank_, local_;
  std::byte* share_;
  machine::Layout layout_;
};

/// The sum of unsigned 64-bit integers, which tells the current sink what it folds. For network algorithms,
/// which call an operation's kernel themselves.
const reduce::Operation& simulated_sum();

}  // namespace espalier::simulation
