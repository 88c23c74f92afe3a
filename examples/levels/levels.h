/* Four collectives over levels; each file has its base cases. Each collective wants levels of its own, made with
 * levels_example_options(). All return ESPALIER_OK or an error code; espalier_error_text() says more. */
#pragma once

#include <espalier/espalier_levels.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where things lie in the common part of a segment and in each member's, in bytes: a word for what has been taken, then
 * as many slots as there is room for, which are used one after the other and then again. The more there are, the further
 * a rank may be ahead. A slot's word stands in front of its data, so that short data come with it on one line. Longer
 * vectors than a slot go in pieces; top_k takes no more than one. */
enum { levels_taken = 0, levels_first_slot = 64, levels_piece = 4096, levels_slot_bytes = 64 + 4096, levels_slots = 64 };

static inline espalier_levels_options levels_options_of(size_t slots) {
  const size_t bytes = levels_first_slot + slots * levels_slot_bytes;
  const espalier_levels_options options = {bytes, bytes, 0, 0, 0, NULL};
  return options;
}
static inline espalier_levels_options levels_example_options(void) { return levels_options_of(levels_slots); }

/* The slot of this traversal. Before slot 0 is used again all must have been taken. */
static inline uint64_t levels_slot_number(const espalier_group_view* group) {
  return group->traversal % (group->shared_bytes / levels_slot_bytes);
}
static inline size_t levels_slot(const espalier_group_view* group) {
  return levels_first_slot + (size_t)levels_slot_number(group) * levels_slot_bytes;
}

/* No rank leaves before all have come. */
int levels_barrier(espalier_levels* levels);
/* Elementwise sum, at the root; elsewhere `values` holds part of it afterwards. */
int levels_reduce(espalier_levels* levels, double* values, size_t count);
/* From the root to all. */
int levels_bcast(espalier_levels* levels, void* data, size_t bytes);
/* `values`: k of each rank, from the largest down; on return the k largest of all, on all ranks. */
int levels_top_k(espalier_levels* levels, double* values, size_t k);

#ifdef __cplusplus
}
#endif
