/* One step of a random program. Every rank runs all steps in their order; those on a communicator that it is no member of
   it passes over. tools/soak makes them and prints them as C. */
#ifndef SOAK_STEP_H
#define SOAK_STEP_H

#include <mpi.h>

/* name, as a program's text has it */
#define VERBS(X)                                                                                                        \
  X(BARRIER) X(BCAST) X(REDUCE) X(ALLREDUCE) X(SCAN) X(EXSCAN) X(GATHER) X(GATHERV) X(SCATTER) X(SCATTERV) X(ALLGATHER)  \
  X(ALLGATHERV) X(ALLTOALL) X(ALLTOALLV) X(ALLTOALLW) X(REDUCE_SCATTER) X(REDUCE_SCATTER_BLOCK) X(NEIGHBOR_ALLGATHER)   \
  X(NEIGHBOR_ALLTOALL) /* collectives up to here */                                                                     \
  X(WAIT)          /* for all nonblocking calls of this thread */                                                       \
  X(DUP) X(SPLIT) X(CREATE) X(CREATE_GROUP) X(CART) X(GRAPH) X(INTER) X(MERGE) X(FREE)                                  \
  X(RING)          /* point to point, to the next rank */                                                               \
  X(POST) X(COMPLETE) /* the same, begun and ended in different steps */                                                \
  X(WINDOW)        /* a window, a put to the next rank between fences */                                                \
  X(FILE_IO)       /* a file that the ranks write and read together */                                                  \
  X(DELAY)         /* of one rank */                                                                                    \
  X(TIMER)         /* a signal every so many microseconds from now on; 0: none */                                       \
  X(FORK)          /* a child that exits at once */                                                                     \
  X(JOIN)          /* the steps before it that have a thread run side by side */
#define NAMED(name) name,
enum { VERBS(NAMED) VERB_COUNT };
enum { BLOCKING, NONBLOCKING, PERSISTENT };
enum { COMMUNICATORS = 16, THREADS = 2 };

typedef struct {
  int verb;
  int comm;      /* which communicator */
  int to;        /* the one that is made from it */
  int form;      /* of a collective */
  int type, op;  /* of types[] and ops[] */
  long count;    /* items, of a block */
  int root;      /* modulo the ranks */
  int in_place;
  int rank;      /* who is late */
  long us;       /* how late */
  int thread;    /* 0: the main one; 1, 2: one of those that run side by side */
  unsigned long long seed; /* of what is sent */
} Step;

#endif
