#include "tests/levels/stranger.h"

static int collect(const espalier_group_view* g, void* most) {
  uint64_t* mine = most, theirs;
  for (int place = g->rank ? g->rank : 1; place < (g->rank ? g->rank + 1 : g->size); ++place) {
    const size_t part = espalier_group_part(g, place);
    int code = g->rank ? espalier_group_put(g, part + 8, mine, 8)
                       : espalier_group_wait_until(g, part, ESPALIER_UNTIL_AT_LEAST, g->traversal);
    if (!code) code = g->rank ? espalier_group_store(g, part, g->traversal) : espalier_group_get(g, part + 8, &theirs, 8);
    if (code) return code;
    if (!g->rank && theirs > *mine) *mine = theirs;
  }
  return 0;
}

static int spread(const espalier_group_view* g, void* most) {
  int code = g->rank ? espalier_group_wait_until(g, 0, ESPALIER_UNTIL_AT_LEAST, g->traversal) : espalier_group_put(g, 8, most, 8);
  if (!code) code = g->rank ? espalier_group_get(g, 8, most, 8) : espalier_group_store(g, 0, g->traversal);
  return code;
}

int stranger_max(espalier_levels* levels, uint64_t* value) {
  const int code = espalier_levels_up(levels, collect, value);
  return code ? code : espalier_levels_down(levels, spread, value);
}
