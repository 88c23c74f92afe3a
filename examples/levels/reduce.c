/* A reduction over levels: each leader adds up what the members of its group have put. */
#include "levels.h"

struct piece {
  double* values;
  size_t count;
};

/* When all slots have been used, they are free again once the leader has taken what was in them. */
static int give(const espalier_group_view* group, const struct piece* mine, size_t part) {
  const size_t slot = part + levels_slot(group);
  int code = ESPALIER_OK;
  if (levels_slot_number(group) == 0)
    code = espalier_group_wait_until(group, part + levels_taken, ESPALIER_UNTIL_AT_LEAST, group->traversal - 1);
  if (!code) code = espalier_group_put(group, slot + 8, mine->values, mine->count * sizeof(double));
  return code ? code : espalier_group_store(group, slot, group->traversal);
}

/* Where the segment is mapped the data are added from where they lie. */
static int take(const espalier_group_view* group, struct piece* sum, size_t part) {
  const size_t slot = part + levels_slot(group);
  double copy[levels_piece / sizeof(double)];
  const double* theirs = group->segment ? (const double*)((const char*)group->segment + slot + 8) : copy;
  int code = espalier_group_wait_until(group, slot, ESPALIER_UNTIL_EQUAL, group->traversal);
  if (!code && theirs == copy) code = espalier_group_get(group, slot + 8, copy, sum->count * sizeof(double));
  for (size_t i = 0; !code && i < sum->count; ++i) sum->values[i] += theirs[i];
  return code ? code : espalier_group_store(group, part + levels_taken, group->traversal);
}

static int add_up(const espalier_group_view* group, void* context) {
  if (group->rank > 0) return give(group, context, espalier_group_part(group, group->rank));
  int code = ESPALIER_OK;
  for (int place = 1; place < group->size && !code; ++place)
    code = take(group, context, espalier_group_part(group, place));
  return code;
}

int levels_reduce(espalier_levels* levels, double* values, size_t count) {
  const size_t most = levels_piece / sizeof(double);
  int code = ESPALIER_OK;
  for (size_t begin = 0; begin < count && !code; begin += most) {
    struct piece piece = {values + begin, count - begin < most ? count - begin : most};
    code = espalier_levels_up(levels, add_up, &piece);
  }
  return code;
}
