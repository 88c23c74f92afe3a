/* A barrier over levels: OSMP, algorithms 1 to 3. */
#include "levels.h"

/* Algorithm 1: all have come when the leader, place 0, goes on. The number of the traversal says that this call is meant. */
static int arrive(const espalier_group_view* group, void* unused) {
  (void)unused;
  if (group->rank > 0)
    return espalier_group_store(group, espalier_group_part(group, group->rank), group->traversal);
  for (int place = 1; place < group->size; ++place) {
    const int code = espalier_group_wait_until(group, espalier_group_part(group, place), ESPALIER_UNTIL_AT_LEAST,
                                               group->traversal);
    if (code != ESPALIER_OK) return code;
  }
  return ESPALIER_OK;
}

/* Algorithm 2: the leader lets the others go on. One word for all of them, so that it writes one line. */
static int notify(const espalier_group_view* group, void* unused) {
  (void)unused;
  if (group->rank == 0) return espalier_group_store(group, 0, group->traversal);
  return espalier_group_wait_until(group, 0, ESPALIER_UNTIL_AT_LEAST, group->traversal);
}

/* Algorithm 3: arrivals from the lowest level up, notifications from the highest down. */
int levels_barrier(espalier_levels* levels) {
  const int code = espalier_levels_up(levels, arrive, NULL);
  return code != ESPALIER_OK ? code : espalier_levels_down(levels, notify, NULL);
}
