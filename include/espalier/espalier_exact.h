/* Sums of arrays without rounding: of a process's own, and over the ranks of a communicator.
 *
 * A sum is kept as a fixed-point number that is wide enough for every float and double, and is rounded once, when its value
 * is asked for: to nearest, ties to even. So the result is one and the same however the numbers are ordered, and however
 * they are divided among processes, threads and calls. (Kulisch's long accumulator; Neal, "Fast exact summation using small
 * and large superaccumulators", 2015.)
 *
 * A sum with a NaN, or with infinities of both signs, is NaN (quiet, sign clear, no payload); one with infinities of one sign
 * is that infinity. Otherwise only a result that itself is too large is infinite, whatever was too large on the way. A sum
 * of -0 alone is -0; all others that are 0 are +0. Subnormals are numbers, also where the program flushes them to zero, and
 * the program's rounding mode does not matter.
 *
 * Functions on one espalier_exact are local, allocate nothing and are thread-safe on different ones. Errors as in espalier.h. */
#ifndef ESPALIER_EXACT_H
#define ESPALIER_EXACT_H

#include <stddef.h>
#include <stdint.h>

#include "espalier/espalier.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One sum: 592 bytes, which may be copied, written to files and sent. All zeros, as {{0}}: a sum of nothing, which is +0.
 * Room for 2^60 numbers. */
#define ESPALIER_EXACT_WORDS 74
typedef struct {
  int64_t words[ESPALIER_EXACT_WORDS];
} espalier_exact;

/* sums[0] += values[0] + ... + values[count - 1]. `type`: ESPALIER_FLOAT or ESPALIER_DOUBLE; of ESPALIER_FLOAT_COMPLEX and
 * ESPALIER_DOUBLE_COMPLEX the real parts go to sums[0] and the imaginary parts to sums[1]. `values` may have any alignment. */
ESPALIER_API int espalier_exact_add(espalier_exact* sums, const void* values, size_t count, espalier_type type);

/* *sum += *other. */
ESPALIER_API int espalier_exact_merge(espalier_exact* sum, const espalier_exact* other);

/* Makes the words of `sum` fit to be added to those of other sums, word by word, as 64-bit integers (MPI_SUM of
 * MPI_INT64_T): up to 2^30 sums, each of them prepared by this function, the result of which is to be given to it again
 * before anything else. For programs that move sums themselves. */
ESPALIER_API int espalier_exact_normalise(espalier_exact* sum);

/* The value, rounded once. 0 where `sum` is NULL. */
ESPALIER_API double espalier_exact_double(const espalier_exact* sum);
ESPALIER_API float espalier_exact_float(const espalier_exact* sum);

/* Collective. Each of `count` sums becomes that over all ranks. */
ESPALIER_API int espalier_exact_allreduce(espalier_comm* comm, espalier_exact* sums, size_t count);

/* Collective. *result, of type `type`: the sum of all values of all ranks, of which each brings `count`, as many as it has. */
ESPALIER_API int espalier_exact_sum(espalier_comm* comm, const void* values, size_t count, espalier_type type, void* result);

#ifdef __cplusplus
}
#endif
#endif
