// The memory that the ranks of a node share for one window.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "memory/copy/handover.hpp"
#include "memory/segment.hpp"
#include "network/window/memory.hpp"
#include "runtime/process/bootstrap.hpp"

namespace espalier::runtime {

/// One anonymous piece of memory, gone when the last rank has unmapped it, a dead one included:
/// [landings][notifications][the data, unless the user binds memory of his own]. Its pages are taken at once.
class WindowSegment {
 public:
  struct Size {
    std::size_t bytes = 0;  ///< of data
    int ids = 0;
    bool landings = false;       ///< for one-sided calls
    std::byte* bound = nullptr;  ///< the user's memory for the data, shared by the ranks of the node; or null
  };

  /// Collective over all ranks of the window, though only those of one node share: `members` are this node's,
  /// the first makes the memory. Throws Error, the same on all ranks, when any node fails.
  WindowSegment(const Bootstrap& bootstrap, const std::vector<int>& members, const Size& size);

  network::WindowMemory memory() const;

 private:
  enum class Transfer : std::int32_t { none, memfd, named };
  struct Offer;
  bool leads() const { return bootstrap_rank_ == leader_; }
  void share(const Bootstrap& bootstrap);
  void create(Offer& offer, memory::DescriptorGiver& giver);
  void map(const Offer& offer, memory::DescriptorTaker& taker, const Bootstrap& bootstrap);
  void check_bound(const Bootstrap& bootstrap) const;

  int bootstrap_rank_, leader_;
  std::vector<int> members_;
  Size size_;
  memory::Segment segment_;
  std::string why_;  // this rank has no memory
};

}  // namespace espalier::runtime
