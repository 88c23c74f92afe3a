// How the ranks of a node come to one arena: the first makes it, the others map it, and all agree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "memory/arena.hpp"
#include "memory/copy/handover.hpp"
#include "runtime/process/bootstrap.hpp"

namespace espalier::runtime {

/// Two to three rounds of the bootstrap, in which all its ranks take part, whatever happens: the first
/// members' offers; where one hands a descriptor over, connecting to it; in agree(), whether every member has
/// mapped the arena. No rank waits for another outside of the bootstrap, but for the step of a member that
/// waits for none; so a rank that dies, or that the system refuses a call, holds no other up.
class ArenaFounding {
 public:
  /// `members`: the ranks of this rank's node, with it; empty: it takes no part. `token`: the first member's.
  ArenaFounding(const Bootstrap& world, const std::vector<int>& members, std::uint64_t token);

  /// An arena of `bytes` with `notes_bytes` of notes. nullptr: there is none for this rank.
  std::unique_ptr<memory::Arena> obtain(std::size_t bytes, std::size_t notes_bytes);

  /// Takes the arena away again where a member has none; then `why` says the reason, the same on all members.
  void agree(std::unique_ptr<memory::Arena>& arena, std::string& why);

 private:
  enum class Transfer : std::int32_t { none, memfd, named };
  struct Offer;
  bool leads() const { return !members_.empty() && members_.front() == world_.rank; }
  std::unique_ptr<memory::Arena> found(std::size_t bytes, std::size_t notes_bytes);
  memory::Segment create(std::size_t bytes);
  std::unique_ptr<memory::Arena> map(const Offer& offer, memory::DescriptorTaker& taker,
                                     std::size_t notes_bytes);
  std::string name() const;

  const Bootstrap& world_;
  const std::vector<int>& members_;
  memory::HandoverTicket ticket_;
  memory::DescriptorGiver giver_;
  Transfer transfer_ = Transfer::none;  // of a rank that leads
  std::string why_;                     // this rank has no arena, by its own failure
};

}  // namespace espalier::runtime
