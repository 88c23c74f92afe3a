/* A broadcast over levels: each leader puts what it has where the members of its group get it. */
#include "levels.h"

struct piece {
  char* data;
  size_t bytes;
};

/* A half of the slots is free again once all members have taken what was in it. */
static int await_half(const espalier_group_view* group) {
  int code = ESPALIER_OK;
  for (int place = 1; place < group->size && !code; ++place)
    code = espalier_group_wait_until(group, espalier_group_part(group, place) + levels_taken, ESPALIER_UNTIL_AT_LEAST,
                                     levels_last_use(group));
  return code;
}

static int offer(const espalier_group_view* group, const struct piece* piece) {
  int code = levels_reuses_half(group) ? await_half(group) : ESPALIER_OK;
  if (!code) code = espalier_group_put(group, levels_data(group, piece->bytes), piece->data, piece->bytes);
  return code ? code : espalier_group_store(group, levels_slot(group), group->traversal);
}

static int pass_on(const espalier_group_view* group, void* context) {
  struct piece* piece = context;
  if (group->rank == 0) return offer(group, piece);
  int code = espalier_group_wait_until(group, levels_slot(group), ESPALIER_UNTIL_EQUAL, group->traversal);
  if (!code) code = espalier_group_get(group, levels_data(group, piece->bytes), piece->data, piece->bytes);
  if (code || !levels_ends_half(group)) return code;
  return espalier_group_store(group, espalier_group_part(group, group->rank) + levels_taken, group->traversal);
}

int levels_bcast(espalier_levels* levels, void* data, size_t bytes) {
  int code = ESPALIER_OK;
  for (size_t begin = 0; begin < bytes && !code; begin += levels_piece) {
    struct piece piece = {(char*)data + begin, bytes - begin < levels_piece ? bytes - begin : levels_piece};
    code = espalier_levels_down(levels, pass_on, &piece);
  }
  return code;
}
