/* Datatypes that were made with MPI_Count arguments, as mpi4py makes all of its own, in MPI_Alltoallw: what arrives is what the
 * host packs, there and back. Prints of each how often the host packed or unpacked for Espalier (counted_packs.c). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INTS = 4096, MOST = 2048 };
static int (*counted_packs)(void);
static int rank, wrong;

static void fill(int* ints, int from) {
  for (int i = 0; i < INTS; ++i) ints[i] = from + i;
}

/* One element to the other rank and one to itself, as ints there; `back`: ints that become an element. */
static void exchange(const int* from, MPI_Datatype send, int sent, int* to, MPI_Datatype receive, int received) {
  /* The receiver's two elements lie half of the buffer apart. */
  int send_counts[2] = {sent, sent}, receive_counts[2] = {received, received}, same[2] = {0, 0};
  int apart[2] = {0, INTS / 2 * (int)sizeof(int)};
  MPI_Datatype sends[2] = {send, send}, receives[2] = {receive, receive};
  MPI_Alltoallw(from, send_counts, same, sends, to, receive_counts, apart, receives, MPI_COMM_WORLD);
}

static void check(const char* name, MPI_Datatype type) {
  static int given[INTS], got[INTS], wanted[INTS], dense[MOST];
  MPI_Type_commit(&type);
  int bytes = 0;
  MPI_Type_size(type, &bytes);
  const int ints = bytes / (int)sizeof(int), before = counted_packs ? counted_packs() : 0;
  fill(given, 10000 * rank);
  fill(got, -INTS), fill(wanted, -INTS);
  exchange(given, type, 1, got, MPI_INT, ints);
  const int packed = counted_packs ? counted_packs() - before : 0;
  for (int peer = 0; peer < 2; ++peer) {
    int other[INTS], place = 0;
    fill(other, 10000 * peer);
    MPI_Pack(other, 1, type, wanted + peer * (INTS / 2), bytes, &place, MPI_COMM_WORLD);
  }
  int bad = memcmp(got, wanted, sizeof got) != 0;

  fill(got, -INTS), fill(wanted, -INTS);
  const int between = counted_packs ? counted_packs() : 0;
  exchange(given, MPI_INT, ints, got, type, 1);
  const int unpacked = counted_packs ? counted_packs() - between : 0;
  for (int peer = 0; peer < 2; ++peer) {
    int place = 0;
    for (int i = 0; i < ints; ++i) dense[i] = 10000 * peer + i;
    MPI_Unpack(dense, bytes, &place, wanted + peer * (INTS / 2), 1, type, MPI_COMM_WORLD);
  }
  bad |= memcmp(got, wanted, sizeof got) != 0;
  if (bad) fprintf(stderr, "rank %d: %s arrived wrong\n", rank, name);
  wrong |= bad;
  if (rank == 0) printf("%s: %d packed, %d unpacked by the host\n", name, packed, unpacked);
  MPI_Type_free(&type);
}

static void check_all(void) {
  const MPI_Count lengths[3] = {3, 0, 4}, places[3] = {10, 90, 20}, bytes[3] = {40, 360, 80};
  const MPI_Count sizes[3] = {5, 6, 7}, some[3] = {2, 3, 4}, starts[3] = {1, 2, 3};
  const MPI_Datatype members[3] = {MPI_INT, MPI_FLOAT, MPI_INT};
  MPI_Datatype type, inner;
  MPI_Type_contiguous_c(9, MPI_INT, &type), check("contiguous", type);
  MPI_Type_vector_c(9, 2, 3, MPI_INT, &type), check("vector", type);
  MPI_Type_create_hvector_c(9, 2, 32, MPI_INT, &type), check("hvector", type);
  MPI_Type_indexed_c(3, lengths, places, MPI_INT, &type), check("indexed", type);
  MPI_Type_create_hindexed_c(3, lengths, bytes, MPI_INT, &type), check("hindexed", type);
  MPI_Type_create_indexed_block_c(3, 5, places, MPI_INT, &type), check("indexed_block", type);
  MPI_Type_create_hindexed_block_c(3, 5, bytes, MPI_INT, &type), check("hindexed_block", type);
  MPI_Type_create_struct_c(3, lengths, bytes, members, &type), check("struct", type);
  MPI_Type_create_subarray_c(3, sizes, some, starts, MPI_ORDER_C, MPI_INT, &type), check("subarray", type);
  MPI_Type_create_subarray_c(3, sizes, some, starts, MPI_ORDER_FORTRAN, MPI_INT, &type), check("columns", type);
  /* Of both kinds, one in the other. */
  MPI_Type_vector_c(2, 1, 4, MPI_INT, &inner);
  MPI_Type_create_resized_c(inner, 0, 8, &type), MPI_Type_free(&inner);
  inner = type, MPI_Type_contiguous(2, inner, &type), MPI_Type_free(&inner);
  inner = type, MPI_Type_create_hvector_c(4, 1, 64, inner, &type), MPI_Type_free(&inner);
  inner = type, MPI_Type_dup(inner, &type), MPI_Type_free(&inner);
  check("nested", type);
  /* What the plain constructors do not take, or is not followed: the host packs. */
  MPI_Type_vector_c(1, 5, (MPI_Count)1 << 40, MPI_INT, &inner);
  MPI_Type_contiguous(3, inner, &type), MPI_Type_free(&inner);
  check("long stride", type);
  const int cut[1] = {MPI_DISTRIBUTE_BLOCK}, argument[1] = {MPI_DISTRIBUTE_DFLT_DARG}, processes[1] = {2};
  const MPI_Count all[1] = {12};
  MPI_Type_create_darray_c(2, 1, 1, all, cut, argument, processes, MPI_ORDER_C, MPI_INT, &type), check("darray", type);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  *(void**)&counted_packs = dlsym(RTLD_DEFAULT, "counted_packs");
  check_all();
  MPI_Finalize();
  return wrong;
}
