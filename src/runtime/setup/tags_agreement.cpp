#include "runtime/setup/tags_agreement.hpp"

#include <algorithm>

#include "runtime/setup/eligibility.hpp"

namespace espalier::runtime {

// Rank 0 proposes a block that is free at its process, until all say that it is at theirs, too.
std::optional<int> agree_on_tags(const Bootstrap& bootstrap, Tags& tags) {
  for (std::int32_t next = 0;;) {
    const std::int32_t mine = bootstrap.rank == 0 ? tags.take_from(next).value_or(-1) : -1;
    const std::int32_t block = exchange(bootstrap, mine).front();
    if (block < 0) return std::nullopt;
    const bool taken = bootstrap.rank == 0 || tags.take(block);
    const auto all = exchange(bootstrap, static_cast<std::int32_t>(taken));
    if (std::count(all.begin(), all.end(), 0) == 0) return block;
    if (taken) tags.give_back(block);
    next = block + 1;
  }
}

}  // namespace espalier::runtime
