// How ranks agree on a block of tags.
#pragma once

#include <optional>

#include "runtime/process/bootstrap.hpp"
#include "runtime/process/tags.hpp"

namespace espalier::runtime {

/// Collective: a block that is free at all ranks, taken at all of them; none when rank 0 has no more.
std::optional<int> agree_on_tags(const Bootstrap& bootstrap, Tags& tags);

}  // namespace espalier::runtime
