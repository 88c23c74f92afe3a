/* Data at absolute addresses: MPI_BOTTOM on each side of each collective, with an hindexed type, a struct, and a type that
   is resized so that the blocks of ranks lie behind each other; blocking and, where the host has them, persistent. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { most_ranks = 16, ints = 6, stride = 10 }; /* of the 10 ints of a block 6 are data */
static int out[most_ranks][stride], in[most_ranks][stride];
static int rank, ranks, failures, checks;
static const char* kind;
static const char* side;

/* The ints of a block that are data: 0, 1, 2 and 5, 6, 7, or without a gap. */
static int gaps;
static int at(int i) { return gaps && i >= 3 ? i + 2 : i; }

static MPI_Datatype resized(MPI_Datatype inner) {
  MPI_Datatype type;
  MPI_Type_create_resized(inner, 0, stride * sizeof(int), &type);
  MPI_Type_commit(&type);
  MPI_Type_free(&inner);
  return type;
}

/* Counted from the base: a buffer's address, or MPI_BOTTOM. */
static MPI_Datatype make(int which, MPI_Aint base) {
  MPI_Datatype type;
  int lengths[2] = {3, 3};
  MPI_Aint places[2] = {base, base + at(3) * (MPI_Aint)sizeof(int)};
  MPI_Datatype members[2] = {MPI_INT, MPI_INT};
  if (which == 0) {
    kind = "hindexed";
    MPI_Type_create_hindexed(2, lengths, places, MPI_INT, &type);
  } else if (which == 1) {
    kind = "struct";
    MPI_Type_create_struct(2, lengths, places, members, &type);
  } else {
    kind = "hindexed_block";
    MPI_Type_create_hindexed_block(2, 3, places, MPI_INT, &type);
  }
  return resized(type);
}

static int value(int who, int block, int i) { return 10000 * who + 100 * block + i; }

static void fill(void) {
  for (int block = 0; block < most_ranks; ++block)
    for (int i = 0; i < stride; ++i) out[block][i] = in[block][i] = -1;
  for (int block = 0; block < ranks; ++block)
    for (int i = 0; i < ints; ++i) out[block][at(i)] = value(rank, block, i);
}

/* Blocks of `in`, of the ranks given, or of this rank's index in each (`turned`). */
static void check(const char* call, int blocks, int who_first, int block_first, int turned) {
  for (int b = 0; b < most_ranks; ++b)
    for (int j = 0; j < stride; ++j) {
      int expected = -1;
      for (int i = 0; i < ints && b < blocks; ++i)
        if (at(i) == j)
          expected = turned ? value(b, rank, i) : who_first < 0 ? value(b, block_first, i) : value(who_first, block_first, i);
      ++checks;
      if (in[b][j] == expected) continue;
      ++failures;
      fprintf(stderr, "FAILED rank %d: %s, %s at MPI_BOTTOM on the %s side, block %d int %d: %d, expected %d\n", rank, call,
              kind, side, b, j, in[b][j], expected);
      return;
    }
}

static void finish(MPI_Request* request) {
  MPI_Start(request);
  MPI_Wait(request, MPI_STATUS_IGNORE);
  MPI_Request_free(request);
}

/* CALL(name, arguments in front of the communicator, checks): both forms. */
#if MPI_VERSION >= 4
#define BOTH(name, arguments, checking)                                    \
  fill();                                                                  \
  MPI_##name(EXPAND arguments, MPI_COMM_WORLD);                            \
  checking("MPI_" #name);                                                  \
  fill();                                                                  \
  MPI_##name##_init(EXPAND arguments, MPI_COMM_WORLD, MPI_INFO_NULL, &request); \
  finish(&request);                                                        \
  checking("MPI_" #name "_init")
#else
#define BOTH(name, arguments, checking)         \
  fill();                                       \
  MPI_##name(EXPAND arguments, MPI_COMM_WORLD); \
  checking("MPI_" #name)
#endif
#define EXPAND(...) __VA_ARGS__

static int root;
static void all_blocks(const char* call) { check(call, ranks, -1, 0, 0); }
static void all_blocks_at_root(const char* call) {
  if (rank == root) check(call, ranks, -1, 0, 0);
}
static void own_block_of_root(const char* call) { check(call, 1, root, rank, 0); }
static void turned_blocks(const char* call) { check(call, ranks, 0, 0, 1); }

static void move(const void* from, MPI_Datatype sent, void* to, MPI_Datatype received) {
  MPI_Request request = MPI_REQUEST_NULL;
  int counts[most_ranks], places[most_ranks];
  for (int i = 0; i < ranks; ++i) counts[i] = 1, places[i] = i;
  BOTH(Allgather, (from, 1, sent, to, 1, received), all_blocks);
  BOTH(Allgatherv, (from, 1, sent, to, counts, places, received), all_blocks);
  BOTH(Alltoall, (from, 1, sent, to, 1, received), turned_blocks);
  BOTH(Alltoallv, (from, counts, places, sent, to, counts, places, received), turned_blocks);
  for (root = 0; root < ranks; ++root) {
    BOTH(Gather, (from, 1, sent, to, 1, received, root), all_blocks_at_root);
    BOTH(Gatherv, (from, 1, sent, to, counts, places, received, root), all_blocks_at_root);
    BOTH(Scatter, (from, 1, sent, to, 1, received, root), own_block_of_root);
    BOTH(Scatterv, (from, counts, places, sent, to, 1, received, root), own_block_of_root);
  }
  (void)request;
}

static void broadcast(void* buffer, MPI_Datatype type) {
  for (root = 0; root < ranks; ++root)
    for (int persistent = 0; persistent < (MPI_VERSION >= 4 ? 2 : 1); ++persistent) {
      fill();
      if (rank == root) memcpy(in, out, sizeof(int) * stride);
      if (persistent) {
#if MPI_VERSION >= 4
        MPI_Request request;
        MPI_Bcast_init(buffer, 1, type, root, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
        finish(&request);
#endif
      } else {
        MPI_Bcast(buffer, 1, type, root, MPI_COMM_WORLD);
      }
      check(persistent ? "MPI_Bcast_init" : "MPI_Bcast", 1, root, 0, 0);
    }
}

/* Adds what the datatype names, wherever it lies from the address that it is given. */
static MPI_Aint first_int;
static void add(void* from, void* to, int* count, MPI_Datatype* type) {
  (void)type;
  for (int e = 0; e < *count; ++e)
    for (int i = 0; i < ints; ++i) {
      MPI_Aint place = first_int + e * stride * (MPI_Aint)sizeof(int) + at(i) * (MPI_Aint)sizeof(int);
      *(int*)((char*)to + place) += *(int*)((char*)from + place);
    }
}

/* Reductions in place, the only ones that can be at MPI_BOTTOM with one type for both buffers. */
static void reduce(MPI_Datatype type, MPI_Op op) {
  for (int which = 0; which < 4; ++which) {
    int last = which < 2 ? ranks - 1 : which == 2 ? rank : rank - 1;
    fill();
    memcpy(in, out, sizeof in);
    if (which == 0) MPI_Allreduce(MPI_IN_PLACE, MPI_BOTTOM, 1, type, op, MPI_COMM_WORLD);
    if (which == 1 && rank == 0) MPI_Reduce(MPI_IN_PLACE, MPI_BOTTOM, 1, type, op, 0, MPI_COMM_WORLD);
    if (which == 1 && rank > 0) MPI_Reduce(MPI_BOTTOM, NULL, 1, type, op, 0, MPI_COMM_WORLD);
    if (which == 2) MPI_Scan(MPI_IN_PLACE, MPI_BOTTOM, 1, type, op, MPI_COMM_WORLD);
    if (which == 3) MPI_Exscan(MPI_IN_PLACE, MPI_BOTTOM, 1, type, op, MPI_COMM_WORLD);
    if ((which == 1 && rank > 0) || last < 0) continue;
    for (int i = 0; i < ints; ++i) {
      int expected = 0;
      for (int who = 0; who <= last; ++who) expected += value(who, 0, i);
      ++checks;
      if (in[0][at(i)] == expected) continue;
      ++failures;
      fprintf(stderr, "FAILED rank %d: reduction %d, %s in place at MPI_BOTTOM, int %d: %d, expected %d\n", rank, which,
              kind, i, in[0][at(i)], expected);
    }
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Aint out_place, in_place;
  MPI_Get_address(out, &out_place);
  MPI_Get_address(in, &in_place);
  MPI_Op op;
  MPI_Op_create(add, 1, &op);
  for (gaps = 0; gaps < 2; ++gaps)
    for (int which = 0; which < 3; ++which) {
      MPI_Datatype here = make(which, 0), from = make(which, out_place), to = make(which, in_place);
      side = "sending";
      move(MPI_BOTTOM, from, in, here);
      side = "receiving";
      move(out, here, MPI_BOTTOM, to);
      broadcast(MPI_BOTTOM, to);
      side = "sending and receiving";
      move(MPI_BOTTOM, from, MPI_BOTTOM, to);
      side = rank % 2 ? "sending" : "receiving";
      move(rank % 2 ? MPI_BOTTOM : out, rank % 2 ? from : here, rank % 2 ? in : MPI_BOTTOM, rank % 2 ? here : to);
      first_int = in_place;
      if (argc < 2) reduce(to, op);
      MPI_Type_free(&here);
      MPI_Type_free(&from);
      MPI_Type_free(&to);
    }
  MPI_Op_free(&op);
  MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("bottom, %d checks, %d failed\n", checks, failures);
  MPI_Finalize();
  return failures != 0 || checks == 0;
}
