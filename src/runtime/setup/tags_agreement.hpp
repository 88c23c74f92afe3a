// How ranks agree on a block of tags.
#pragma once

#include <cstdint>
#include <optional>

#include "runtime/process/bootstrap.hpp"
#include "runtime/process/tags.hpp"

namespace espalier::runtime {

/// A block of tags, and a number that together with the process of rank 0 tells this use of the block from all
/// others: a message that comes late may be of a communicator that had the block before.
struct TagsUse {
  std::int32_t block;
  std::uint32_t number;
};

/// Collective: a block that is free at all ranks, taken at all of them; none when rank 0 has no more.
std::optional<TagsUse> agree_on_tags(const Bootstrap& bootstrap, Tags& tags);

}  // namespace espalier::runtime
