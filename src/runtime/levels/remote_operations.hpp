// A group's operations for a member on another node than the segment: by messages to the leader's node.
#pragma once

#include <functional>

#include "machine/levels/group_operations.hpp"
#include "network/window/window.hpp"

namespace espalier::runtime {

/// The leader must be in a wait of Espalier while others ask. What a rank asks for is done in its order, so a
/// rank that sees a word sees what was put before it, here as within a node.
class RemoteOperations final : public machine::GroupOperations {
 public:
  /// The segment: `bytes` from `offset` on of that node's part of the window, which messages carry. `look`:
  /// called after each look in vain of a wait; throws where the word will not come.
  RemoteOperations(network::NodeWindow& window, int node, std::size_t offset, std::size_t bytes,
                   std::function<void()> look)
      : GroupOperations(bytes), window_(window), node_(node), offset_(offset), look_(std::move(look)) {}

  void put(std::size_t offset, const void* source, std::size_t bytes) override;
  void get(std::size_t offset, void* target, std::size_t bytes) override;
  void store(std::size_t offset, std::uint64_t value) override;
  std::uint64_t load(std::size_t offset) override { return fetch_add(offset, 0); }
  std::uint64_t fetch_add(std::size_t offset, std::uint64_t value) override;
  std::uint64_t compare_swap(std::size_t offset, std::uint64_t expected, std::uint64_t desired) override;
  void wait_until(std::size_t offset, machine::Until until, std::uint64_t value) override;
  void* segment() override { return nullptr; }

 private:
  network::NodeWindow& window_;
  int node_;
  std::size_t offset_;
  std::function<void()> look_;
};

}  // namespace espalier::runtime
