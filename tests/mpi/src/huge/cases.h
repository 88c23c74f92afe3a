/* Each collective with more than 2^31 elements, in the form that is asked for. Displacements are beyond 2^32. */
#pragma once

#include <mpi.h>
#include <stdio.h>
#include <sys/mman.h>

#include "pattern.h"

enum Form { BLOCKING, NONBLOCKING, PERSISTENT };
enum { MANY = 2 };                                         /* ranks */
static const MPI_Count more = ((MPI_Count)1 << 31) + 4099; /* elements of one byte */
static const MPI_Aint far_away = ((MPI_Aint)1 << 32) + 77; /* a displacement */
static const size_t room = ((size_t)7 << 31); /* of each buffer: pages that are not touched are none */

static enum Form form;
static int rank, wrong, cases;
static uint8_t *mine, *result;
static Pattern of_rank[MANY], of_all;

#define CALL(upper, lower, ...)                                    \
  do {                                                             \
    MPI_Request request_ = MPI_REQUEST_NULL;                       \
    if (form == BLOCKING) {                                        \
      MPI_##upper##_c(__VA_ARGS__);                                \
    } else if (form == NONBLOCKING) {                              \
      MPI_I##lower##_c(__VA_ARGS__, &request_);                    \
      MPI_Wait(&request_, MPI_STATUS_IGNORE);                      \
    } else {                                                       \
      MPI_##upper##_init_c(__VA_ARGS__, MPI_INFO_NULL, &request_); \
      MPI_Start(&request_);                                        \
      MPI_Wait(&request_, MPI_STATUS_IGNORE);                      \
      MPI_Request_free(&request_);                                 \
    }                                                              \
  } while (0)

static void expect(int is_right, const char* what) {
  if (is_right) return;
  ++wrong;
  fprintf(stderr, "WRONG: %s, rank %d, form %d\n", what, rank, (int)form);
}

/* Gives the pages back: the next case has other places. */
static void clean(void) {
  ++cases;
  madvise(mine, room, MADV_DONTNEED);
  madvise(result, room, MADV_DONTNEED);
}

static void rooted(MPI_Comm comm) {
  const int root = 1;
  if (rank == root) fill(result, (size_t)more, &of_rank[root]);
  CALL(Bcast, bcast, result, more, MPI_BYTE, root, comm);
  expect(holds(result, (size_t)more, &of_rank[root], 0), "bcast");
  clean();

  fill(mine, (size_t)more, &of_rank[rank]);
  CALL(Reduce, reduce, mine, result, more, MPI_UINT8_T, MPI_SUM, root, comm);
  if (rank == root) expect(holds(result, (size_t)more, &of_all, 0), "reduce");
  clean();

  fill(mine, (size_t)more, &of_rank[rank]);
  CALL(Gather, gather, mine, more, MPI_BYTE, result, more, MPI_BYTE, root, comm);
  for (int from = 0; rank == root && from < MANY; ++from)
    expect(holds(result + from * more, (size_t)more, &of_rank[from], 0), "gather");
  clean();

  const MPI_Count counts[MANY] = {more, 77};
  const MPI_Aint places[MANY] = {far_away, 5};
  fill(mine, (size_t)counts[rank], &of_rank[rank]);
  CALL(Gatherv, gatherv, mine, counts[rank], MPI_BYTE, result, counts, places, MPI_BYTE, root, comm);
  for (int from = 0; rank == root && from < MANY; ++from)
    expect(holds(result + places[from], (size_t)counts[from], &of_rank[from], 0), "gatherv");
  clean();

  for (int to = 0; rank == root && to < MANY; ++to) fill(mine + to * more, (size_t)more, &of_rank[to]);
  CALL(Scatter, scatter, mine, more, MPI_BYTE, result, more, MPI_BYTE, root, comm);
  expect(holds(result, (size_t)more, &of_rank[rank], 0), "scatter");
  clean();

  for (int to = 0; rank == root && to < MANY; ++to) fill(mine + places[to], (size_t)counts[to], &of_rank[to]);
  CALL(Scatterv, scatterv, mine, counts, places, MPI_BYTE, result, counts[rank], MPI_BYTE, root, comm);
  expect(holds(result, (size_t)counts[rank], &of_rank[rank], 0), "scatterv");
  clean();
}

static void reductions(MPI_Comm comm) {
  fill(mine, (size_t)more, &of_rank[rank]);
  CALL(Allreduce, allreduce, mine, result, more, MPI_UINT8_T, MPI_SUM, comm);
  expect(holds(result, (size_t)more, &of_all, 0), "allreduce");
  clean();

  fill(result, (size_t)more, &of_rank[rank]);
  CALL(Allreduce, allreduce, MPI_IN_PLACE, result, more, MPI_UINT8_T, MPI_SUM, comm);
  expect(holds(result, (size_t)more, &of_all, 0), "allreduce in place");
  clean();

  fill(mine, (size_t)more, &of_rank[rank]);
  CALL(Scan, scan, mine, result, more, MPI_UINT8_T, MPI_SUM, comm);
  expect(holds(result, (size_t)more, rank ? &of_all : &of_rank[0], 0), "scan");
  clean();

  fill(mine, (size_t)more, &of_rank[rank]);
  CALL(Exscan, exscan, mine, result, more, MPI_UINT8_T, MPI_SUM, comm);
  if (rank) expect(holds(result, (size_t)more, &of_rank[0], 0), "exscan");
  clean();

  const MPI_Count counts[MANY] = {77, more};
  fill(mine, (size_t)more + 77, &of_rank[rank]);
  CALL(Reduce_scatter, reduce_scatter, mine, result, counts, MPI_UINT8_T, MPI_SUM, comm);
  expect(holds(result, (size_t)counts[rank], &of_all, rank ? 77 : 0), "reduce_scatter");
  clean();

  const MPI_Count half = more / MANY + 3;
  fill(mine, (size_t)half * MANY, &of_rank[rank]);
  CALL(Reduce_scatter_block, reduce_scatter_block, mine, result, half, MPI_UINT8_T, MPI_SUM, comm);
  expect(holds(result, (size_t)half, &of_all, (size_t)rank * (size_t)half), "reduce_scatter_block");
  clean();
}

static void all_to_all(MPI_Comm comm) {
  fill(result + rank * more, (size_t)more,
       &of_rank[rank]); /* two buffers would take half as much memory again */
  CALL(Allgather, allgather, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, result, more, MPI_BYTE, comm);
  for (int from = 0; from < MANY; ++from)
    expect(holds(result + from * more, (size_t)more, &of_rank[from], 0), "allgather");
  clean();

  const MPI_Count counts[MANY] = {more, 77};
  const MPI_Aint places[MANY] = {far_away, 5};
  fill(mine, (size_t)counts[rank], &of_rank[rank]);
  CALL(Allgatherv, allgatherv, mine, counts[rank], MPI_BYTE, result, counts, places, MPI_BYTE, comm);
  for (int from = 0; from < MANY; ++from)
    expect(holds(result + places[from], (size_t)counts[from], &of_rank[from], 0), "allgatherv");
  clean();

  const MPI_Count half = more / MANY + 3;
  fill(mine, (size_t)half * MANY, &of_rank[rank]);
  CALL(Alltoall, alltoall, mine, half, MPI_BYTE, result, half, MPI_BYTE, comm);
  for (int from = 0; from < MANY; ++from)
    expect(holds(result + from * half, (size_t)half, &of_rank[from], (size_t)rank * (size_t)half),
           "alltoall");
  clean();

  const MPI_Count crossed[MANY] = {rank ? more : 77, rank ? 77 : more}; /* little for itself */
  const MPI_Datatype types[MANY] = {MPI_BYTE, MPI_BYTE};
  for (int w = 0; w < 2; ++w) {
    for (int to = 0; to < MANY; ++to) fill(mine + places[to], (size_t)crossed[to], &of_rank[rank]);
    if (w)
      CALL(Alltoallw, alltoallw, mine, crossed, places, types, result, crossed, places, types, comm);
    else
      CALL(Alltoallv, alltoallv, mine, crossed, places, MPI_BYTE, result, crossed, places, MPI_BYTE, comm);
    for (int from = 0; from < MANY; ++from)
      expect(holds(result + places[from], (size_t)crossed[from], &of_rank[from], 0),
             w ? "alltoallw" : "alltoallv");
    clean();
  }
}

/* On a line of two: each has one neighbour, the last one's first block and the first one's second are not there. */
static void neighbours(MPI_Comm comm) {
  const int side = rank ? 0 : 1, other = 1 - rank;
  const MPI_Count counts[2] = {side ? 0 : more, side ? more : 0};
  const MPI_Aint places[2] = {5, far_away};
  const MPI_Datatype types[2] = {MPI_BYTE, MPI_BYTE};

  fill(mine, (size_t)more, &of_rank[rank]);
  CALL(Neighbor_allgather, neighbor_allgather, mine, more, MPI_BYTE, result, more, MPI_BYTE, comm);
  expect(holds(result + side * more, (size_t)more, &of_rank[other], 0), "neighbor_allgather");
  clean();

  fill(mine, (size_t)more, &of_rank[rank]);
  CALL(Neighbor_allgatherv, neighbor_allgatherv, mine, more, MPI_BYTE, result, counts, places, MPI_BYTE,
       comm);
  expect(holds(result + places[side], (size_t)more, &of_rank[other], 0), "neighbor_allgatherv");
  clean();

  fill(mine + side * more, (size_t)more, &of_rank[rank]);
  CALL(Neighbor_alltoall, neighbor_alltoall, mine, more, MPI_BYTE, result, more, MPI_BYTE, comm);
  expect(holds(result + side * more, (size_t)more, &of_rank[other], 0), "neighbor_alltoall");
  clean();

  fill(mine + places[side], (size_t)more, &of_rank[rank]);
  CALL(Neighbor_alltoallv, neighbor_alltoallv, mine, counts, places, MPI_BYTE, result, counts, places,
       MPI_BYTE, comm);
  expect(holds(result + places[side], (size_t)more, &of_rank[other], 0), "neighbor_alltoallv");
  clean();

  fill(mine + places[side], (size_t)more, &of_rank[rank]);
  CALL(Neighbor_alltoallw, neighbor_alltoallw, mine, counts, places, types, result, counts, places, types,
       comm);
  expect(holds(result + places[side], (size_t)more, &of_rank[other], 0), "neighbor_alltoallw");
  clean();
}
