#include "calls.h"

#include <mpi.h>

struct functions {
  __typeof__(&MPI_Barrier) barrier;
  __typeof__(&MPI_Bcast) bcast;
  __typeof__(&MPI_Reduce) reduce;
  __typeof__(&MPI_Allreduce) allreduce;
  __typeof__(&MPI_Allgather) allgather;
  __typeof__(&MPI_Allgatherv) allgatherv;
  __typeof__(&MPI_Gather) gather;
  __typeof__(&MPI_Gatherv) gatherv;
  __typeof__(&MPI_Scatter) scatter;
  __typeof__(&MPI_Scatterv) scatterv;
  __typeof__(&MPI_Alltoall) alltoall;
  __typeof__(&MPI_Alltoallv) alltoallv;
  __typeof__(&MPI_Reduce_scatter_block) reduce_scatter_block;
  __typeof__(&MPI_Reduce_scatter) reduce_scatter;
  __typeof__(&MPI_Scan) scan;
  __typeof__(&MPI_Exscan) exscan;
};

#define FUNCTIONS(P)                                                                                    \
  {                                                                                                     \
    P##Barrier, P##Bcast, P##Reduce, P##Allreduce, P##Allgather, P##Allgatherv, P##Gather, P##Gatherv,  \
        P##Scatter, P##Scatterv, P##Alltoall, P##Alltoallv, P##Reduce_scatter_block, P##Reduce_scatter, \
        P##Scan, P##Exscan                                                                              \
  }

static const struct functions side_functions[SIDES] = {FUNCTIONS(PMPI_), FUNCTIONS(MPI_)};

void calls_make(const struct point* p, const struct layout* l, enum side side, void* send, void* receive) {
  const struct functions* f = &side_functions[side];
  const struct blocks *out = &l->send, *in = &l->receive;
  const MPI_Comm world = MPI_COMM_WORLD;
  const MPI_Datatype type = MPI_DOUBLE;
  const int n = l->mine;
  switch (p->what) {
    case BARRIER:
      f->barrier(world);
      break;
    case BCAST:
      f->bcast(send, n, type, p->root, world);
      break;
    case REDUCE:
      f->reduce(send, receive, n, type, MPI_SUM, p->root, world);
      break;
    case ALLREDUCE:
      f->allreduce(send, receive, n, type, MPI_SUM, world);
      break;
    case ALLGATHER:
      f->allgather(send, n, type, receive, n, type, world);
      break;
    case ALLGATHERV:
      f->allgatherv(send, n, type, receive, in->count, in->at, type, world);
      break;
    case GATHER:
      f->gather(send, n, type, receive, n, type, p->root, world);
      break;
    case GATHERV:
      f->gatherv(send, n, type, receive, in->count, in->at, type, p->root, world);
      break;
    case SCATTER:
      f->scatter(send, n, type, receive, n, type, p->root, world);
      break;
    case SCATTERV:
      f->scatterv(send, out->count, out->at, type, receive, n, type, p->root, world);
      break;
    case ALLTOALL:
      f->alltoall(send, n, type, receive, n, type, world);
      break;
    case ALLTOALLV:
      f->alltoallv(send, out->count, out->at, type, receive, in->count, in->at, type, world);
      break;
    case REDUCE_SCATTER_BLOCK:
      f->reduce_scatter_block(send, receive, n, type, MPI_SUM, world);
      break;
    case REDUCE_SCATTER:
      f->reduce_scatter(send, receive, out->count, type, MPI_SUM, world);
      break;
    case SCAN:
      f->scan(send, receive, n, type, MPI_SUM, world);
      break;
    case EXSCAN:
      f->exscan(send, receive, n, type, MPI_SUM, world);
      break;
    case COLLECTIVES:
      break;
  }
}

void* calls_address(enum collective which, enum side side) {
  const struct functions* f = &side_functions[side];
  void* const all[COLLECTIVES] = {(void*)f->barrier,
                                  (void*)f->bcast,
                                  (void*)f->reduce,
                                  (void*)f->allreduce,
                                  (void*)f->allgather,
                                  (void*)f->allgatherv,
                                  (void*)f->gather,
                                  (void*)f->gatherv,
                                  (void*)f->scatter,
                                  (void*)f->scatterv,
                                  (void*)f->alltoall,
                                  (void*)f->alltoallv,
                                  (void*)f->reduce_scatter_block,
                                  (void*)f->reduce_scatter,
                                  (void*)f->scan,
                                  (void*)f->exscan};
  return all[which];
}
