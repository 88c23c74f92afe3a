// Freed blocks that stay as they are, for the next allocation of their size.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace espalier::memory {

/// Of each size the one that was kept last goes first, for it is most likely in the caches. When they are
/// more bytes than the budget, the one that was kept first is dropped. Not thread-safe.
template <class Block>
class KeptBlocks {
 public:
  explicit KeptBlocks(std::size_t budget) : budget_(budget) {}

  /// A block of `bytes` to an eighth more. None: there is none.
  std::optional<Block> take(std::size_t bytes) {
    const std::size_t most = bytes + bytes / 8;
    for (auto size = sizes_.lower_bound(bytes); size != sizes_.end() && size->first <= most; ++size) {
      if (size->second.empty()) continue;
      const Block block = size->second.back().block;
      size->second.pop_back();
      bytes_ -= size->first;
      return block;
    }
    return std::nullopt;
  }

  /// Calls drop(block) for each that the budget has no room for, which may be this one.
  template <class Drop>
  void keep(Block block, std::size_t bytes, const Drop& drop) {
    if (bytes > budget_) return drop(block);
    while (bytes_ + bytes > budget_) drop_first(drop);
    sizes_[bytes].push_back({block, ++kept_so_far_});
    bytes_ += bytes;
  }

  template <class Drop>
  void drop_all(const Drop& drop) {
    for_each(drop);
    sizes_.clear();
    bytes_ = 0;
  }

  template <class Visit>
  void for_each(const Visit& visit) const {
    for (const auto& [bytes, blocks] : sizes_)
      for (const Kept& kept : blocks) visit(kept.block);
  }

  std::size_t bytes() const { return bytes_; }

 private:
  struct Kept {
    Block block;
    std::uint64_t number;  // counts up
  };
  using Sizes = std::map<std::size_t, std::vector<Kept>>;

  template <class Drop>
  void drop_first(const Drop& drop) {
    const auto first = [](const typename Sizes::value_type& size) {
      return size.second.empty() ? UINT64_MAX : size.second.front().number;
    };
    const auto oldest = std::min_element(sizes_.begin(), sizes_.end(),
                                         [&](const auto& a, const auto& b) { return first(a) < first(b); });
    drop(oldest->second.front().block);
    oldest->second.erase(oldest->second.begin());
    bytes_ -= oldest->first;
  }

  std::size_t budget_;
  std::size_t bytes_ = 0;
  std::uint64_t kept_so_far_ = 0;
  Sizes sizes_;  // those that have become empty stay, so that taking and keeping allocate nothing
};

}  // namespace espalier::memory
