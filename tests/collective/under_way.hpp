// Memory for the buffers of nonblocking collectives, in a test.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "collective/schedule/calls_under_way.hpp"
#include "tests/collective/ranks.hpp"

namespace espalier::testing {

/// One rank's part of a piece of memory: first fit, as in the node's arena.
class RankMemory {
 public:
  RankMemory(std::byte* begin, std::size_t bytes) : begin_(begin), bytes_(bytes) {}

  bool seems_to_have_room = true;  ///< and then others take it

  std::byte* allocate(std::size_t bytes) {
    bytes = (bytes + 127) / 128 * 128;  // lines begin there
    std::size_t place = 0;
    auto next = taken_.begin();
    for (; next != taken_.end() && place + bytes > next->begin; ++next) place = next->begin + next->bytes;
    if (place + bytes > bytes_) return nullptr;
    taken_.insert(next, {place, bytes});
    return begin_ + place;
  }

  void free(std::byte* data, std::size_t) {
    const auto place = static_cast<std::size_t>(data - begin_);
    for (auto at = taken_.begin(); at != taken_.end(); ++at)
      if (at->begin == place) {
        taken_.erase(at);
        return;
      }
  }

 private:
  struct Taken {
    std::size_t begin, bytes;
  };
  std::byte* begin_;
  std::size_t bytes_;
  std::vector<Taken> taken_;  // in order
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
  std::size_t buffers;  ///< of rank 0
};

/// Memory that all ranks share, and what each of them has of it.
class SharedMemory {
 public:
  /// `each`: for the buffers of a rank, and the pages that it makes. `most`: what the calls may take.
  SharedMemory(int ranks, std::size_t each, std::size_t most = std::size_t{1} << 30,
               bool reads_own_memory = Ranks::single_copy())
      : reads_own_memory_(reads_own_memory),
        layout_(collective::LinePages<RankMemoryOf>::bytes(ranks)),
        each_(each),
        most_(most),
        bytes_(static_cast<std::size_t>(ranks) * each + layout_.buffers + 128) {}
  RankMemory of(int rank) {
    return {base() + layout_.buffers + static_cast<std::size_t>(rank) * each_, each_};
  }
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
};

}  // namespace espalier::testing
