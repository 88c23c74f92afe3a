// A group's operations on memory that its members have mapped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

#include "machine/levels/group_operations.hpp"
#include "machine/levels/group_waits.hpp"
#include "machine/prefetch_hints.hpp"
#include "network/window/memory.hpp"

namespace espalier::machine {

/// On the memory of a window's node, so that there is one text of atomic operations for both.
template <class Platform>
class BasicSegmentOperations final : public GroupOperations {
 public:
  using Memory = network::BasicWindowMemory<Platform>;
  using Done = std::function<bool()>;
  /// Looks until done() is true; throws where that will not come.
  using Wait = std::function<void(const Done& done)>;

  /// `memory`: the segment, zero when the levels were made. `exposed`: base cases may have its address. `waits`:
  /// where `wait` sleeps; null: it does not, or wakes by itself.
  BasicSegmentOperations(const Memory& memory, bool exposed, Wait wait, GroupWaits* waits = nullptr)
      : GroupOperations(memory.bytes),
        memory_(memory),
        exposed_(exposed),
        wait_(std::move(wait)),
        waits_(waits) {}

  void put(std::size_t offset, const void* source, std::size_t bytes) override {
    check_range(offset, bytes);
    if (bytes == 0) return;
    std::byte* const target = memory_.base + offset;
    // As in the header of the C API: a copy asks for few lines at a time, and of one line the store itself asks.
    if (bytes > line_bytes && bytes < longest_asked_for) hints::own_lines(target, bytes);
    // Long data may go past the caches. Whatever word is stored afterwards, by this table or by other means,
    // says that they are there: so they are settled at once.
    if (slot_writer_.copy(target, source, bytes, nullptr)) Platform::settle_streams();
  }
  void get(std::size_t offset, void* target, std::size_t bytes) override {
    check_range(offset, bytes);
    memory_.read(offset, target, bytes);
  }
  void store(std::size_t offset, std::uint64_t value) override {
    check_word(offset);
    memory_.store(offset, value);
    stored();
  }
  std::uint64_t load(std::size_t offset) override {
    check_word(offset);
    return memory_.load(offset);
  }
  std::uint64_t fetch_add(std::size_t offset, std::uint64_t value) override {
    check_word(offset);
    const std::uint64_t before = memory_.fetch_add(offset, value);
    stored();
    return before;
  }
  std::uint64_t compare_swap(std::size_t offset, std::uint64_t expected, std::uint64_t desired) override {
    check_word(offset);
    const std::uint64_t before = memory_.compare_swap(offset, expected, desired);
    stored();
    return before;
  }
  void wait_until(std::size_t offset, Until until, std::uint64_t value) override {
    check_word(offset);
    const auto is_there = [&] { return is_reached(until, memory_.load(offset), value); };
    if (!is_there()) wait_(std::cref(is_there));
  }
  void* segment() override { return exposed_ ? memory_.base : nullptr; }
  GroupWaits* waits() override { return waits_; }

 private:
  void stored() const {
    if (waits_) waits_->stored();
  }

  static constexpr std::size_t line_bytes = 64, longest_asked_for = 4096;

  Memory memory_;
  typename Platform::SlotWriter slot_writer_;
  bool exposed_;
  Wait wait_;
  GroupWaits* waits_;
};

using SegmentOperations = BasicSegmentOperations<network::HostPlatform>;

}  // namespace espalier::machine
