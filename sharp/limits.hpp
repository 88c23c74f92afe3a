// What an aggregation tree can hold: the resources of the hardware's aggregation nodes, here as settings.
#pragma once

#include <cstddef>
#include <cstdint>

namespace espalier::sharp {

/// Equal on all nodes of a tree.
struct Limits {
  std::uint32_t groups = 32;  ///< at once; beyond it SHARP_COLL_EQUOTA
  std::uint32_t slots = 256;  ///< outstanding operation slots (OSTs); beyond it SHARP_COLL_ENO_RESOURCE
  std::uint32_t slots_per_group = 8;  ///< operations of a group under way at once
  std::uint32_t payload = 2048;       ///< bytes of an operation
  std::uint32_t locked_payload =
      0;                          ///< the same for the group that holds the tree's lock; 0: there is no lock
  std::uint32_t members = 65536;  ///< of a group
  std::uint32_t connections =
      4096;  ///< of a node; as many again may be about to prove that they know the token
  std::uint32_t join_seconds = 30;     ///< for all members to come
  std::uint32_t silence_seconds = 20;  ///< without a sign of life from above
  std::uint64_t memory = 256 << 20;    ///< bytes that a node holds for all peers together
  std::uint64_t types = 0xdff;         ///< 1 << enum sharp_datatype: all but bfloat16
  std::uint64_t ops = 0x3f7;  ///< 1 << enum sharp_reduce_op: no products, no pairs, as in the hardware

  std::size_t longest_payload() const { return payload > locked_payload ? payload : locked_payload; }
};

}  // namespace espalier::sharp
