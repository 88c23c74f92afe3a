// Memory for the buffers of nonblocking collectives, in a test.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "collective/schedule/calls_under_way.hpp"
#include "tests/collective/ranks.hpp"

namespace espalier::testing {

/// What is taken of memory that ranks share: one of them may free what another one has allocated. By distances from where
/// it begins, which is elsewhere for each rank of a checking machine.
class TakenBlocks {
 public:
  /// Where so many bytes are free, of `most` in all.
  std::optional<std::size_t> take(std::size_t bytes, std::size_t most) {
    const std::lock_guard lock(mutex_);
    std::size_t place = 0;
    auto next = blocks_.begin();
    for (; next != blocks_.end() && place + bytes > next->first; ++next) place = next->first + next->second;
    if (place + bytes > most) return {};
    blocks_.emplace(place, bytes);
    return place;
  }
  void give_back(std::size_t place) {
    const std::lock_guard lock(mutex_);
    blocks_.erase(place);
  }

 private:
  std::mutex mutex_;
  std::map<std::size_t, std::size_t> blocks_;  // bytes, by place
};

/// What one rank may take of that memory, anywhere: first fit, as in the node's arena.
class RankMemory {
 public:
  struct All {
    std::byte* begin;
    std::size_t bytes;
    TakenBlocks& taken;
  };
  RankMemory(const All& all, std::size_t most) : all_(all), left_(most) {}

  bool seems_to_have_room = true;  ///< and then others take it

  std::byte* allocate(std::size_t bytes) {
    if (in_flag_lines(bytes) > left_) return nullptr;
    const auto place = all_.taken.take(in_flag_lines(bytes), all_.bytes);
    if (!place) return nullptr;
    left_ -= in_flag_lines(bytes);
    return all_.begin + *place;
  }
  void free(const std::byte* data, std::size_t bytes) {
    all_.taken.give_back(static_cast<std::size_t>(data - all_.begin));
    left_ += in_flag_lines(bytes);
  }

 private:
  static std::size_t in_flag_lines(std::size_t bytes) {
    return (bytes + sizeof(memory::FlagLine) - 1) / sizeof(memory::FlagLine) * sizeof(memory::FlagLine);
  }

  All all_;
  std::size_t left_;
};

/// For GivenBuffers, which copies what it has.
struct RankMemoryOf {
  RankMemory* memory;
  std::byte* allocate(std::size_t bytes) const { return memory->allocate(bytes); }
  void free(std::byte* data, std::size_t bytes) const { memory->free(data, bytes); }
  bool has_room(std::size_t) const { return memory->seems_to_have_room; }
};

/// Where the first pages of lines lie in the memory that ranks share: not at its very beginning.
struct CallMemoryLayout {
  explicit CallMemoryLayout(std::size_t page) : buffers(pages + 2 * page) {}
  static constexpr std::size_t pages = 128;
  std::size_t buffers;

  /// All that is behind, up to `bytes` from the base: for the buffers and further pages of the ranks.
  RankMemory::All rest(std::byte* base, std::size_t bytes, TakenBlocks& taken) const {
    return {base + buffers, bytes - buffers, taken};
  }
};

/// Memory that all ranks share, and what each of them has of it.
class SharedMemory {
 public:
  /// `each`: for the buffers of a rank, and the pages that it makes, wherever they are free: there is twice as much in all.
  /// `most`: what the calls may take.
  SharedMemory(int ranks, std::size_t each, std::size_t most = std::size_t{1} << 30,
               bool reads_own_memory = Ranks::single_copy())
      : reads_own_memory_(reads_own_memory),
        layout_(collective::LinePages<RankMemoryOf>::bytes(ranks)),
        each_(each),
        most_(most),
        bytes_(2 * static_cast<std::size_t>(ranks) * each + layout_.buffers + 128) {}
  RankMemory for_a_rank() { return {layout_.rest(base(), bytes_.size() - 128, taken_), each_}; }
  collective::CallMemory<RankMemoryOf> with(RankMemory& own) {
    return {{base(), bytes_.size() - 128}, base() + layout_.pages, {&own}, most_,
            collective::usual_log2_chunk,  reads_own_memory_};
  }

 private:
  std::byte* base() {
    const auto address = reinterpret_cast<std::uintptr_t>(bytes_.data());
    return bytes_.data() + (128 - address % 128) % 128;
  }

  bool reads_own_memory_;
  CallMemoryLayout layout_;
  std::size_t each_, most_;
  std::vector<std::byte> bytes_;
  TakenBlocks taken_;
};

}  // namespace espalier::testing
