// What ranks do, as the engine sees it: what each step of a rank costs and whom it waits for.
#pragma once

#include <cstdint>
#include <vector>

namespace espalier::simulation {

enum class Act : std::uint8_t {
  work,      ///< amount: nanoseconds, in 1/16
  copy,      ///< amount: bytes that the rank reads, which lie at line `peer` of what the node's ranks share
             ///< (own_memory: where only this rank has been)
  write,     ///< amount: bytes that the rank has written there: no other rank has them in its caches any more
  fold,      ///< amount: bytes of all sources together
  publish,   ///< flag `peer` of the node becomes `amount`
  await,     ///< until flag `peer` of the node is `amount` at least
  send,      ///< amount: bytes, to rank `peer`
  receive,   ///< amount: bytes, from rank `peer`; those of one sender and lane in the order in which they are
             ///< sent
  complete,  ///< until message `peer` of this rank's that is under way is done; they count from the call's
             ///< begin
  aggregate,  ///< amount: bytes; by the aggregation nodes, with all other ranks that do
};

/// In place of a line of the share.
inline constexpr std::int32_t own_memory = -1;

/// `lane` tells messages between the same ranks apart. 16 bytes, since there are many.
struct Operation {
  Act act = Act::work;
  std::uint8_t lane = 0;
  std::int32_t peer = 0;
  std::uint64_t amount = 0;

  bool operator==(const Operation&) const = default;
};
static_assert(sizeof(Operation) == 16);

/// All that a rank does in a call.
using Program = std::vector<Operation>;

}  // namespace espalier::simulation
