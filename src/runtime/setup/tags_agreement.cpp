#include "runtime/setup/tags_agreement.hpp"

#include <algorithm>

#include "runtime/setup/eligibility.hpp"

namespace espalier::runtime {

// Rank 0 proposes a block that is free at its process, until all say that it is at theirs, too.
std::optional<TagsUse> agree_on_tags(const Bootstrap& bootstrap, Tags& tags) {
  const std::uint32_t number = bootstrap.rank == 0 ? tags.next_use() : 0;
  for (std::int32_t next = 0;;) {
    const std::int32_t mine = bootstrap.rank == 0 ? tags.take_from(next).value_or(-1) : -1;
    const TagsUse use = exchange(bootstrap, TagsUse{mine, number}).front();
    if (use.block < 0) return std::nullopt;
    const bool taken = bootstrap.rank == 0 || tags.take(use.block);
    const auto all = exchange(bootstrap, static_cast<std::int32_t>(taken));
    if (std::count(all.begin(), all.end(), 0) == 0) return use;
    if (taken) tags.give_back(use.block);
    next = use.block + 1;
  }
}

}  // namespace espalier::runtime
