// The header in plain C++17: that it compiles without a warning is the test. In plain C11 stranger.c includes it.
#include "espalier/espalier_levels.h"

#include <cstdint>

static_assert(sizeof(espalier_group_view) > 0, "a view has a size");

int levels_header_compiles(espalier_levels* levels) {
  const auto base_case = [](const espalier_group_view* group, void*) {
    std::uint64_t old = espalier_group_part(group, group->next);
    return espalier_group_fetch_add(group, 0, 1, &old);
  };
  return espalier_levels_up(levels, base_case, nullptr);
}
