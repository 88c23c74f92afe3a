/* Nonblocking collectives in which one rank gives more than the ranks share memory for (ESPALIER_SHM), which no other
 * rank knows before. Several are under way at a time, on communicators that are freed before they are complete.
 *
 * beyond_memory [refused]: the system lets ranks read each other's memory (refused_reads.c), but no longer when these begin. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { LONG = 6 << 20, GIVER = 1, KINDS = 6, MOST_RANKS = 16 };

static int rank, ranks, wrong;

static unsigned char value(int from, int to, int i) { return (unsigned char)(from * 31 + to * 7 + i % 251); }
static int length(int from) { return from == GIVER ? LONG : 8; }

/* What this rank sends to each rank and receives from each, one block after the other. */
struct Blocks {
  unsigned char *send, *receive;
  int send_counts[MOST_RANKS], send_begins[MOST_RANKS], receive_counts[MOST_RANKS],
      receive_begins[MOST_RANKS];
  MPI_Datatype types[MOST_RANKS];
};

static void fill(struct Blocks* b) {
  int sent = 0, received = 0;
  for (int peer = 0; peer < ranks; ++peer) {
    b->send_counts[peer] = length(rank);
    b->send_begins[peer] = sent;
    sent += length(rank);
    b->receive_counts[peer] = length(peer);
    b->receive_begins[peer] = received;
    received += length(peer);
    b->types[peer] = MPI_BYTE;
  }
  b->send = malloc((size_t)sent);
  b->receive = calloc((size_t)received, 1);
  for (int peer = 0; peer < ranks; ++peer)
    for (int i = 0; i < length(rank); ++i) b->send[b->send_begins[peer] + i] = value(rank, peer, i);
}

static void start(int kind, struct Blocks* b, MPI_Comm comm, MPI_Comm ring, MPI_Request* request) {
  switch (kind) {
    case 0:
      MPI_Igatherv(b->send, length(rank), MPI_BYTE, b->receive, b->receive_counts, b->receive_begins,
                   MPI_BYTE, 0, comm, request);
      break;
    case 1:
      MPI_Iscatterv(b->send, b->send_counts, b->send_begins, MPI_BYTE, b->receive + b->receive_begins[GIVER],
                    LONG, MPI_BYTE, GIVER, comm, request);
      break;
    case 2:
      MPI_Ialltoallv(b->send, b->send_counts, b->send_begins, MPI_BYTE, b->receive, b->receive_counts,
                     b->receive_begins, MPI_BYTE, comm, request);
      break;
    case 3:
      MPI_Ialltoallw(b->send, b->send_counts, b->send_begins, b->types, b->receive, b->receive_counts,
                     b->receive_begins, b->types, comm, request);
      break;
    case 4:
      MPI_Ineighbor_alltoallv(b->send, b->send_counts, b->send_begins, MPI_BYTE, b->receive,
                              b->receive_counts, b->receive_begins, MPI_BYTE, ring, request);
      break;
    default:
      MPI_Ineighbor_allgatherv(b->send, length(rank), MPI_BYTE, b->receive, b->receive_counts,
                               b->receive_begins, MPI_BYTE, ring, request);
  }
}

static void check_block(int kind, const struct Blocks* b, int from, int to) {
  for (int i = 0; i < length(from); ++i)
    if (b->receive[b->receive_begins[from] + i] != value(from, to, i)) {
      printf("rank %d, kind %d: wrong byte %d from rank %d\n", rank, kind, i, from);
      ++wrong;
      return;
    }
}

/* A gatherv and an allgatherv send the first block to all. */
static void check(int kind, const struct Blocks* b) {
  if (kind == 1) return check_block(kind, b, GIVER, rank);
  if (kind == 0 && rank != 0) return;
  for (int peer = 0; peer < ranks; ++peer) check_block(kind, b, peer, kind == 0 || kind == 5 ? 0 : rank);
}

/* The first rank that starts a call decides whether it is served: this one must not be the giver, who knows how much it is. */
static void let_others_start_first(int kind) {
  if (rank == GIVER) MPI_Recv(NULL, 0, MPI_BYTE, 0, kind, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void tell_that_this_rank_has_started(int kind) {
  if (rank == 0) MPI_Send(NULL, 0, MPI_BYTE, GIVER, kind, MPI_COMM_WORLD);
}

/* Each rank has each, itself too, as a neighbour. */
static MPI_Comm all_are_neighbours(void) {
  int all[MOST_RANKS];
  for (int peer = 0; peer < ranks; ++peer) all[peer] = peer;
  MPI_Comm graph;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, ranks, all, MPI_UNWEIGHTED, ranks, all, MPI_UNWEIGHTED,
                                 MPI_INFO_NULL, 0, &graph);
  return graph;
}

/* The bcast is the first in which a rank is refused, of which all hear. */
static void read_no_more(unsigned char* bytes) {
  setenv("REFUSE_READS", "1", 1);
  MPI_Bcast(bytes, LONG, MPI_BYTE, GIVER, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int count, char** words) {
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Request requests[KINDS];
  struct Blocks blocks[KINDS];
  for (int kind = 0; kind < KINDS; ++kind) fill(&blocks[kind]);
  if (count > 1) read_no_more(blocks[0].receive + blocks[0].receive_begins[GIVER]);
  for (int kind = 0; kind < KINDS; ++kind) {
    MPI_Comm comm, graph = all_are_neighbours();
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Barrier(comm); /* the ranks of a communicator meet in its first blocking collective */
    MPI_Barrier(graph);
    let_others_start_first(kind);
    start(kind, &blocks[kind], comm, graph, &requests[kind]);
    tell_that_this_rank_has_started(kind);
    MPI_Comm_free(&comm);
    MPI_Comm_free(&graph);
  }
  for (int kind = KINDS - 1; kind >= 0; --kind) MPI_Wait(&requests[kind], MPI_STATUS_IGNORE);
  for (int kind = 0; kind < KINDS; ++kind) check(kind, &blocks[kind]);
  int all_wrong;
  MPI_Allreduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("beyond_memory: %d failed\n", all_wrong);
  for (int kind = 0; kind < KINDS; ++kind) {
    free(blocks[kind].send);
    free(blocks[kind].receive);
  }
  MPI_Finalize();
  return all_wrong != 0;
}
