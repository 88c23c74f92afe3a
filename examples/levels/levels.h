/* Four collectives over levels; each file has its base cases. Each collective wants levels of its own, made with
 * levels_example_options(). All return ESPALIER_OK or an error code; espalier_error_text() says more. */
#pragma once

#include <espalier/espalier_levels.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where things lie in the common part of a segment and in each member's, in bytes: a word for what has been taken, then
 * the lines and behind them the data of as many slots as there is room for, which are used one after the other and then
 * again. The more there are, the further a rank may be ahead. A line has the slot's word, and short data, which come with
 * it. Vectors longer than a slot go in pieces.
 *
 * A line that is in another core's cache takes long to write. So all slots together are longer than such a cache: when a
 * slot is used again its data have left there. And slots are a line longer than a power of two, which spreads them over
 * the sets of the caches. */
enum {
  levels_taken = 0,
  levels_first_line = 64,
  levels_line = 64,
  levels_short = levels_line - 8,
  levels_piece = 16384,
  levels_room = levels_piece + levels_line,
  levels_slot_bytes = levels_line + levels_room,
  levels_slots = 64,
  levels_most_k = 512 /* of top_k */
};

/* A power of two, from 2: so the slot of a traversal is found without a division. */
static inline espalier_levels_options levels_options_of(size_t slots) {
  const size_t bytes = levels_first_line + slots * levels_slot_bytes;
  const espalier_levels_options options = {bytes, bytes, 0, 0, 0, NULL};
  return options;
}
static inline espalier_levels_options levels_example_options(void) { return levels_options_of(levels_slots); }

static inline size_t levels_slots_of(const espalier_group_view* group) { return group->shared_bytes / levels_slot_bytes; }
/* The slot of this traversal. */
static inline size_t levels_slot_number(const espalier_group_view* group) {
  return (size_t)group->traversal & (levels_slots_of(group) - 1);
}
/* The slots are free again by halves, so that a rank need not wait for others that are less than half of them behind.
 * Who takes says so at the last slot of a half. */
static inline int levels_ends_half(const espalier_group_view* group) {
  return ((group->traversal + 1) & (levels_slots_of(group) / 2 - 1)) == 0;
}
/* Who gives waits at the first slot of a half that is used again, until the last traversal that used it has been taken. */
static inline int levels_reuses_half(const espalier_group_view* group) {
  return (group->traversal & (levels_slots_of(group) / 2 - 1)) == 0 && group->traversal >= levels_slots_of(group);
}
static inline uint64_t levels_last_use(const espalier_group_view* group) {
  return group->traversal - levels_slots_of(group) / 2 - 1;
}
/* The slot's word, and where so many bytes of data lie. */
static inline size_t levels_slot(const espalier_group_view* group) {
  return levels_first_line + levels_slot_number(group) * levels_line;
}
static inline size_t levels_data(const espalier_group_view* group, size_t bytes) {
  if (bytes <= levels_short) return levels_slot(group) + 8;
  return levels_first_line + levels_slots_of(group) * levels_line + levels_slot_number(group) * levels_room;
}

/* No rank leaves before all have come. */
int levels_barrier(espalier_levels* levels);
/* Elementwise sum, at the root; elsewhere `sum` holds some of it afterwards. It may be `values`. */
int levels_reduce(espalier_levels* levels, const double* values, double* sum, size_t count);
/* From the root to all. */
int levels_bcast(espalier_levels* levels, void* data, size_t bytes);
/* `values`: k of each rank, from the largest down; on return the k largest of all, on all ranks. */
int levels_top_k(espalier_levels* levels, double* values, size_t k);

#ifdef __cplusplus
}
#endif
