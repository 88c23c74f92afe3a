/* Levels: a user writes the base case of an algorithm, for the ranks of one group, and Espalier runs it level by level.
 *
 * The ranks of a communicator form nested groups by the machine's topology (OSMP, sections IV and V). A group of level 0
 * has no groups inside it. A group of a higher level consists of the leaders of the groups inside it, and of ranks that
 * are in none of those. One group, of the highest level, has the root. Each group has a segment: memory that its members
 * share. A virtual level splits wide groups in parts (OSMP, section VI). A base case has these rules:
 *
 *  - espalier_levels_up() calls it for each group that this rank is a member of, from level 0 on; espalier_levels_down()
 *    does so from the highest level. A rank that is not the leader of its group has no part in higher levels.
 *  - All ranks call up and down on the same levels in the same order. The field `traversal` counts these calls; it is the
 *    same on all ranks and grows, so that a word in which ranks store it needs no reset.
 *  - Words are 8 bytes at offsets that are multiples of 8. A store has release order, a load and a wait have acquire
 *    order, fetch_add and compare_swap have both: a rank that sees a word sees all that was put before it was stored.
 *  - A rank puts new data in a place only when the readers of the old data have said that they have read it.
 *
 * Where the ranks are on several nodes, each node has its groups, and a group over the nodes has one member of each: its
 * segment lies on the leader's node, messages carry the others' operations there, and each look of a wait is a message and
 * its answer. docs/levels.md says what that means for a base case, and has a complete example.
 *
 * All functions return ESPALIER_OK or an error code of espalier.h, or what the base case returned; espalier_error_text()
 * says more. Levels are used by one thread of a rank at a time; different levels may be used by different threads at once.
 * Source: OSMP. */
#ifndef ESPALIER_LEVELS_H
#define ESPALIER_LEVELS_H

#include <stddef.h>
#include <stdint.h>

#include "espalier/espalier.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct espalier_levels espalier_levels;
typedef struct espalier_group espalier_group;

/* The same on all ranks. All fields may be 0. */
typedef struct {
  size_t shared_bytes;  /* of a segment's common part; 0: 64; rounded up to a multiple of 64 */
  size_t member_bytes;  /* of each member's part; 0: 64; rounded up to a multiple of 64 */
  int root;             /* a rank: it leads every group that it is a member of; elsewhere the lowest rank leads */
  int degree;           /* each lowest group of more ranks becomes so many virtual groups; 0 or 1: none */
  int virtual_levels;   /* how often to do that, on what the last time has left as lowest groups; 0: once */
  const char* tree;     /* groups in place of the machine's, such as "((0 1 2) (3 4) 5)"; NULL: the machine's. On several
                           nodes only one rank of each may be in groups that have members on others */
} espalier_levels_options;

/* What the inline functions below know of members that wait; the library writes it. */
typedef struct {
  uint32_t sleepers; /* how many sleep: who stores a word wakes them, through the library */
  uint32_t fenced;   /* whether a store has a fence before its look at `sleepers` */
  uint32_t looks;    /* how often a wait looks before it is the library's */
} espalier_group_waits;

/* A group as one of its members sees it. Valid during the base case, or as long as the levels where
 * espalier_levels_group() has filled it. */
typedef struct {
  espalier_group* group; /* for the functions below */
  int level;             /* from 0 to espalier_levels_count() - 1 */
  int size;              /* number of members, from 1 */
  int rank;              /* this rank's place among them, from 0 to size - 1; the leader's is 0 */
  int previous, next;    /* the places of its neighbours; the last and the first are neighbours */
  const int* members;    /* the rank in the communicator of each place */
  const char* domain;    /* where they meet: "core", "l2", "l3", "numa", "package", "machine", "virtual" or "nodes" */
  uint64_t traversal;    /* the number of this call of up or down, from 1; before the first call 0 */
  void* segment;         /* zero when the levels were made, aligned to 64 bytes; NULL over nodes and in simulation */
  size_t bytes;          /* of the segment: shared_bytes + size * member_bytes */
  size_t shared_bytes;   /* of the common part, which begins at offset 0 */
  size_t member_bytes;   /* of each part behind it */
  const espalier_group_waits* waits; /* for the functions below; NULL where `segment` is */
} espalier_group_view;

/* Where the part of a member begins in the segment, in bytes. */
static inline size_t espalier_group_part(const espalier_group_view* view, int place) {
  return view->shared_bytes + (size_t)place * view->member_bytes;
}

/* What a user writes (OSMP, section V-D, algorithms 1 and 2). Returns 0, or a number that up or down returns then; the
 * other ranks get ESPALIER_ERR_PEERS, and the levels are of no more use. No C++ exception may leave it. */
typedef int (*espalier_base_case_fn)(const espalier_group_view* view, void* context);

/* --- life ---------------------------------------------------------------------------------------------------------- */

/* Collective over `comm`, which may be freed before the levels. `options` may be NULL: all 0.
 * ESPALIER_ERR_ARGUMENT: an argument out of place on any rank; ESPALIER_ERR_REFUSED: different options, or no memory to
 * share. The same on all ranks. A `comm` that is NULL is an error on that rank alone: the others wait for it. */
ESPALIER_API int espalier_levels_create(espalier_comm* comm, const espalier_levels_options* options,
                                        espalier_levels** levels);
/* A rank calls it when it makes no more calls on the levels. Local on one node; collective on several. NULL is allowed. */
ESPALIER_API void espalier_levels_free(espalier_levels* levels);

/* --- which groups -------------------------------------------------------------------------------------------------- */

/* Local. The number of levels, from 1; the same on all ranks. -1 for NULL. */
ESPALIER_API int espalier_levels_count(const espalier_levels* levels);
/* Local. This rank's group at a level. A rank that has none there gets a view of size 0. */
ESPALIER_API int espalier_levels_group(const espalier_levels* levels, int level, espalier_group_view* view);
/* All groups in one line, such as "machine(virtual(0 1) virtual(2 3))", which the option `tree` takes on one node; valid as
 * long as the levels. "" for NULL. */
ESPALIER_API const char* espalier_levels_tree(const espalier_levels* levels);

/* --- running a base case (OSMP, algorithm 3) ----------------------------------------------------------------------- */

/* Collective. From level 0 to the highest: what the members bring comes to the root. */
ESPALIER_API int espalier_levels_up(espalier_levels* levels, espalier_base_case_fn base_case, void* context);
/* Collective. From the highest level to level 0: what the root has comes to all. */
ESPALIER_API int espalier_levels_down(espalier_levels* levels, espalier_base_case_fn base_case, void* context);

/* --- on a group's segment; offsets and lengths are in bytes -------------------------------------------------------- */

/* `bytes` from `source` to the segment, and from the segment to `target`; done on return. They order nothing. */
ESPALIER_API int espalier_group_put(const espalier_group_view* view, size_t offset, const void* source, size_t bytes);
ESPALIER_API int espalier_group_get(const espalier_group_view* view, size_t offset, void* target, size_t bytes);

ESPALIER_API int espalier_group_store(const espalier_group_view* view, size_t offset, uint64_t value);
ESPALIER_API int espalier_group_load(const espalier_group_view* view, size_t offset, uint64_t* value);
/* *old: what was there; NULL is allowed. compare_swap writes `desired` if that was `expected`. */
ESPALIER_API int espalier_group_fetch_add(const espalier_group_view* view, size_t offset, uint64_t value, uint64_t* old);
ESPALIER_API int espalier_group_compare_swap(const espalier_group_view* view, size_t offset, uint64_t expected,
                                             uint64_t desired, uint64_t* old);

typedef enum ESPALIER_AS_UNSIGNED {
  ESPALIER_UNTIL_EQUAL, ESPALIER_UNTIL_NOT_EQUAL, ESPALIER_UNTIL_AT_LEAST /* as unsigned numbers */
} espalier_until;

/* Until the word is as said. The rank spins, yields and sleeps, and drives the host MPI meanwhile.
 * ESPALIER_ERR_PEERS: a rank of the levels has ended, has freed them, or its base case has failed; the text names it. */
ESPALIER_API int espalier_group_wait_until(const espalier_group_view* view, size_t offset, espalier_until until,
                                           uint64_t value);
/* Wakes the members that sleep in wait_until. For who stores words of `segment` by other means; the functions above do it. */
ESPALIER_API int espalier_group_wake(const espalier_group_view* view);

#ifdef __cplusplus
}
#endif

/* GCC inlines the functions above for a group whose segment is mapped; their addresses are the library's. Clang takes a
 * function and what calls it by another name for one. ESPALIER_NO_INLINE leaves all to the library. */
#if defined(__GNUC__) && !defined(__clang__) && !defined(ESPALIER_NO_INLINE)
#include "espalier/espalier_levels_inline.h"
#endif
#endif
