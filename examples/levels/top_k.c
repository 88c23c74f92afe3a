/* The k largest values of all ranks, on all ranks: a collective that no library has. Sorting costs each leader k steps a
 * member, and k values go up each level, however many ranks there are. */
#include "levels.h"

#include <string.h>

struct best {
  double* values; /* from the largest down */
  size_t k;
};

static void merge(struct best* mine, const double* theirs) {
  double both[levels_most_k];
  for (size_t i = 0, a = 0, b = 0; i < mine->k; ++i)
    both[i] = mine->values[a] >= theirs[b] ? mine->values[a++] : theirs[b++];
  if (mine->k > 0) memcpy(mine->values, both, mine->k * sizeof(double));
}

/* What a member puts the leader has taken before it spreads the result, so the next call's may follow. */
static int collect(const espalier_group_view* group, void* context) {
  struct best* mine = context;
  double theirs[levels_most_k];
  const size_t own = espalier_group_part(group, group->rank);
  if (group->rank > 0) {
    const int code = espalier_group_put(group, own + levels_first_line + 8, mine->values, mine->k * sizeof(double));
    return code ? code : espalier_group_store(group, own + levels_first_line, group->traversal);
  }
  for (int place = 1; place < group->size; ++place) {
    const size_t part = espalier_group_part(group, place);
    int code = espalier_group_wait_until(group, part + levels_first_line, ESPALIER_UNTIL_EQUAL, group->traversal);
    if (!code) code = espalier_group_get(group, part + levels_first_line + 8, theirs, mine->k * sizeof(double));
    if (code) return code;
    merge(mine, theirs);
  }
  return ESPALIER_OK;
}

static int spread(const espalier_group_view* group, void* context) {
  struct best* mine = context;
  const size_t bytes = mine->k * sizeof(double);
  int code;
  if (group->rank == 0) {
    code = espalier_group_put(group, levels_first_line + 8, mine->values, bytes);
    return code ? code : espalier_group_store(group, levels_first_line, group->traversal);
  }
  code = espalier_group_wait_until(group, levels_first_line, ESPALIER_UNTIL_EQUAL, group->traversal);
  return code ? code : espalier_group_get(group, levels_first_line + 8, mine->values, bytes);
}

int levels_top_k(espalier_levels* levels, double* values, size_t k) {
  struct best best = {values, k};
  if (k > levels_most_k) return ESPALIER_ERR_ARGUMENT;
  const int code = espalier_levels_up(levels, collect, &best);
  return code ? code : espalier_levels_down(levels, spread, &best);
}
