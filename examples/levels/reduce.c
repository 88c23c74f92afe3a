/* A reduction over levels: each leader adds up what the members of its group have put. */
#include "levels.h"

#include <string.h>

struct piece {
  const double* mine; /* this rank's values, or the sum so far */
  double* sum;
  size_t bytes;
};

/* A half of the slots is free again once the leader has taken what was in it. */
static int give(const espalier_group_view* group, const struct piece* piece, size_t part) {
  int code = ESPALIER_OK;
  if (levels_reuses_half(group))
    code = espalier_group_wait_until(group, part + levels_taken, ESPALIER_UNTIL_AT_LEAST, levels_last_use(group));
  if (!code) code = espalier_group_put(group, part + levels_data(group, piece->bytes), piece->mine, piece->bytes);
  return code ? code : espalier_group_store(group, part + levels_slot(group), group->traversal);
}

/* The widest vectors of whatever x86-64 processor the program runs on. ThreadSanitizer's calls would be in what chooses
   them, too, which runs before ThreadSanitizer does. */
#if defined __x86_64__ && defined __GLIBC__ && defined __GNUC__ && !defined __clang__ && !defined __SANITIZE_THREAD__
#define BY_PROCESSOR __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define BY_PROCESSOR
#endif

/* `sum` may be `mine`. */
BY_PROCESSOR static void add(double* sum, const double* mine, const double* theirs, size_t count) {
  for (size_t i = 0; i < count; ++i) sum[i] = mine[i] + theirs[i];
}

/* Where the segment is mapped the data are added from where they lie. */
static int take(const espalier_group_view* group, struct piece* piece, size_t part) {
  const size_t data = part + levels_data(group, piece->bytes);
  double copy[levels_piece / sizeof(double)];
  const double* theirs = group->segment ? (const double*)((const char*)group->segment + data) : copy;
  int code = espalier_group_wait_until(group, part + levels_slot(group), ESPALIER_UNTIL_EQUAL, group->traversal);
  if (!code && theirs == copy) code = espalier_group_get(group, data, copy, piece->bytes);
  if (!code) add(piece->sum, piece->mine, theirs, piece->bytes / sizeof(double));
  piece->mine = piece->sum;
  return code || !levels_ends_half(group) ? code : espalier_group_store(group, part + levels_taken, group->traversal);
}

static int add_up(const espalier_group_view* group, void* context) {
  struct piece* piece = context;
  if (group->rank > 0) return give(group, piece, espalier_group_part(group, group->rank));
  int code = ESPALIER_OK;
  if (group->size == 1 && piece->mine != piece->sum) piece->mine = memcpy(piece->sum, piece->mine, piece->bytes);
  for (int place = 1; place < group->size && !code; ++place)
    code = take(group, piece, espalier_group_part(group, place));
  return code;
}

int levels_reduce(espalier_levels* levels, const double* values, double* sum, size_t count) {
  const size_t most = levels_piece / sizeof(double);
  int code = ESPALIER_OK;
  for (size_t begin = 0; begin < count && !code; begin += most) {
    struct piece piece = {values + begin, sum + begin, (count - begin < most ? count - begin : most) * sizeof(double)};
    code = espalier_levels_up(levels, add_up, &piece);
  }
  return code;
}
