/* Espalier's collectives without MPI.
 *
 * A communicator is made of the processes of one machine, from a bootstrap of the caller's or from a name that they share.
 * All functions return ESPALIER_OK or an error code; espalier_error_text() says in words what happened and what to do.
 *
 * Collectives must be called by all ranks of a communicator in the same order. A communicator is used by one thread at a
 * time; different communicators may be used by different threads at once. Sizes are in bytes or in elements as named. */
#ifndef ESPALIER_ESPALIER_H
#define ESPALIER_ESPALIER_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define ESPALIER_API __attribute__((visibility("default")))
#else
#define ESPALIER_API
#endif

/* Any number can be passed where one of these is wanted, and a wrong one is refused: C++ has to know that there is room. */
#if defined(__cplusplus) && __cplusplus >= 201103L
#define ESPALIER_AS_UNSIGNED : unsigned int
#else
#define ESPALIER_AS_UNSIGNED
#endif

enum {
  ESPALIER_OK = 0,
  ESPALIER_ERR_ARGUMENT = 1, /* a value out of place; nothing has been done */
  ESPALIER_ERR_REFUSED = 2,  /* the ranks cannot share memory; the same on all of them */
  ESPALIER_ERR_TIMEOUT = 3,  /* a rank did not come */
  ESPALIER_ERR_SYSTEM = 4,   /* the system failed; the text has its words */
  ESPALIER_ERR_PEERS = 5     /* a rank is gone, or calls something else; the communicator is of no more use */
};

typedef enum ESPALIER_AS_UNSIGNED {
  ESPALIER_INT8, ESPALIER_INT16, ESPALIER_INT32, ESPALIER_INT64,
  ESPALIER_UINT8, ESPALIER_UINT16, ESPALIER_UINT32, ESPALIER_UINT64,
  ESPALIER_FLOAT, ESPALIER_DOUBLE, ESPALIER_LONG_DOUBLE,
  ESPALIER_FLOAT_COMPLEX, ESPALIER_DOUBLE_COMPLEX,
  ESPALIER_BOOL, /* C's _Bool */
  ESPALIER_FLOAT_INT, ESPALIER_DOUBLE_INT, ESPALIER_INT_INT, /* struct { value; int index; }, for MAXLOC and MINLOC */
  /* IEEE half precision and bfloat16, 2 bytes each: what a rank adds or multiplies at a time is computed in float and
   * rounded once, to nearest, ties to even. Half precision is missing where the compiler lacks it (ESPALIER_ERR_ARGUMENT). */
  ESPALIER_FLOAT16, ESPALIER_BFLOAT16
} espalier_type;

typedef enum ESPALIER_AS_UNSIGNED {
  ESPALIER_MAX, ESPALIER_MIN, ESPALIER_SUM, ESPALIER_PROD,
  ESPALIER_LAND, ESPALIER_BAND, ESPALIER_LOR, ESPALIER_BOR, ESPALIER_LXOR, ESPALIER_BXOR,
  ESPALIER_MAXLOC, ESPALIER_MINLOC
} espalier_op;

typedef struct espalier_comm espalier_comm;

/* Collective over the ranks: `all` receives `bytes` from each rank, in rank order. Returns 0, or not on failure. */
typedef int (*espalier_exchange_fn)(const void* mine, void* all, size_t bytes, void* context);

/* In the place of `send`: the data are in `receive`. Scatter and scatterv take it at the root in the place of `receive`, as
 * (void*)ESPALIER_IN_PLACE: the root's own block stays where it is. */
ESPALIER_API extern const void* const ESPALIER_IN_PLACE;

/* Collective. A communicator of `size` ranks that exchange their first few bytes through `allgather`. The first one of a
 * process founds the shared memory; the ranks of later ones must be among its ranks. */
ESPALIER_API int espalier_comm_create(int rank, int size, espalier_exchange_fn allgather, void* context, espalier_comm** comm);

/* Collective. The same for processes of one machine and one user that share nothing but `name`: rank 0 waits under that
 * name until all others have come. `timeout_ms` milliseconds are for all of it, not for each rank. A rank that ends
 * meanwhile is ESPALIER_ERR_SYSTEM on all others, with its number in the text. */
ESPALIER_API int espalier_comm_meet(const char* name, int rank, int size, int timeout_ms, espalier_comm** comm);

/* Collective over MPI_COMM_WORLD, in a program that Espalier is preloaded into (`espalier run`), between MPI_Init and
 * MPI_Finalize: the ranks of MPI_COMM_WORLD, on however many nodes. Elsewhere it is ESPALIER_ERR_REFUSED. */
ESPALIER_API int espalier_comm_world(espalier_comm** comm);

/* Local: from its next collective on this rank waits at most `timeout_ms` milliseconds for the others in a call; 0, as it is
 * at first: without end. Then the call is ESPALIER_ERR_TIMEOUT, the text names the ranks that have not come, and the
 * communicator is of no more use. ESPALIER_ERR_REFUSED for ranks of several nodes. */
ESPALIER_API int espalier_comm_set_timeout(espalier_comm* comm, int timeout_ms);

/* Local: with `on` other than 0 this rank sleeps where it waits for others for more than some tens of microseconds, from
 * its next collective on, and does not yield. For a thread on whose core its process computes meanwhile: one that yields
 * takes half of that core, and one that wakes gets it sooner. 0, as it is at first: it waits as ESPALIER_WAIT says. Each
 * rank may choose for itself, and again between any two calls. ESPALIER_ERR_REFUSED for ranks of several nodes. */
ESPALIER_API int espalier_comm_set_background(espalier_comm* comm, int on);

/* Local: what else all ranks have to agree on in their collectives from the next one on, beside what the calls say: a number of
 * the program's own, 1 to ESPALIER_MOST_LABEL, or 0, as it is at first. Ranks whose labels differ get ESPALIER_ERR_PEERS, with
 * the names of both, which each rank may have given by espalier_comm_name_labels: names[0] is that of label 1, and the texts are
 * copied. For bindings: that all ranks broadcast the same type shows in no number of bytes. Costs each call a nanosecond or two
 * from the first label on. ESPALIER_ERR_REFUSED for ranks of several nodes. */
#define ESPALIER_MOST_LABEL 1023
ESPALIER_API int espalier_comm_set_label(espalier_comm* comm, int label);
ESPALIER_API int espalier_comm_name_labels(espalier_comm* comm, const char* const* names, int count);

/* Local; the memory goes back when the last rank has left. NULL is allowed. */
ESPALIER_API void espalier_comm_free(espalier_comm* comm);

ESPALIER_API int espalier_comm_rank(const espalier_comm* comm);
ESPALIER_API int espalier_comm_size(const espalier_comm* comm);

/* No rank leaves before all have come. */
ESPALIER_API int espalier_barrier(espalier_comm* comm);
/* `bytes` from the root's buffer into each other rank's. */
ESPALIER_API int espalier_bcast(espalier_comm* comm, void* buffer, size_t bytes, int root);
/* receive[i] = send of rank 0 [i] op ... op send of the last rank [i], at the root; `receive` may be NULL elsewhere. */
ESPALIER_API int espalier_reduce(espalier_comm* comm, const void* send, void* receive, size_t count, espalier_type type,
                                 espalier_op op, int root);
/* The same on all ranks, with identical bits. */
ESPALIER_API int espalier_allreduce(espalier_comm* comm, const void* send, void* receive, size_t count, espalier_type type,
                                    espalier_op op);

/* `bytes` of each rank to all ranks, in rank order. In place: the own block is in its place in `receive`. */
ESPALIER_API int espalier_allgather(espalier_comm* comm, const void* send, void* receive, size_t bytes);
/* bytes[r] of rank r to offsets[r] of each rank's `receive`; both arrays have an entry for each rank and are the same on
 * all. Blocks may be empty, lie in any order and leave gaps; they must not overlap. */
ESPALIER_API int espalier_allgatherv(espalier_comm* comm, const void* send, void* receive, const size_t* bytes,
                                     const size_t* offsets);
/* The same without a copy for each rank: the blocks are put together once on each node, in memory that its ranks share, and
 * lent to them. *whole: where they begin; block r lies at offsets[r] from there, without gaps, in the order of the nodes and
 * of the ranks on them (rank order on one node); `offsets` has room for an entry for each rank. `send`, which is not in
 * place, is this rank's own again on return. What is lent is to be read, never written, and only until this rank's next
 * collective on `comm`, or until it frees it; no other rank can change it before. Where a node's shared memory is spent, each
 * of its ranks gets a copy to itself. With no data at all *whole is NULL. A child process sees there what the node's ranks
 * write later. */
ESPALIER_API int espalier_allgatherv_lent(espalier_comm* comm, const void* send, const size_t* bytes, const void** whole,
                                          size_t* offsets);
/* The same as allgatherv at the root alone; `receive`, `bytes` and `offsets` mean nothing elsewhere and may be NULL. In place, at the root
 * only: its own block is in its place. In gatherv a rank says in `send_bytes` how much it brings: bytes[r] at the root. */
ESPALIER_API int espalier_gather(espalier_comm* comm, const void* send, void* receive, size_t bytes, int root);
ESPALIER_API int espalier_gatherv(espalier_comm* comm, const void* send, size_t send_bytes, void* receive,
                                  const size_t* bytes, const size_t* offsets, int root);
/* Block r of the root's `send` to rank r; `send`, `bytes` and `offsets` mean nothing elsewhere and may be NULL. In scatterv
 * a rank says in `receive_bytes` how much it gets: bytes[r] at the root. */
ESPALIER_API int espalier_scatter(espalier_comm* comm, const void* send, void* receive, size_t bytes, int root);
ESPALIER_API int espalier_scatterv(espalier_comm* comm, const void* send, const size_t* bytes, const size_t* offsets,
                                   void* receive, size_t receive_bytes, int root);
/* Block r of `send` to rank r, whose block of this rank it becomes: `bytes` each, or as the arrays say, where what one rank
 * sends to another is as long as what that one receives. In place: what is to be sent lies in `receive` and is replaced;
 * the arrays of `send` may then be NULL. */
ESPALIER_API int espalier_alltoall(espalier_comm* comm, const void* send, void* receive, size_t bytes);
ESPALIER_API int espalier_alltoallv(espalier_comm* comm, const void* send, const size_t* send_bytes,
                                    const size_t* send_offsets, void* receive, const size_t* receive_bytes,
                                    const size_t* receive_offsets);

/* Rank r gets block r of the reduced vector: `count` elements, or counts[r] of the array that is the same on all ranks. In
 * place: the whole vector is in `receive`, the result goes to its start. These and the next fold in rank order, from left
 * to right, so the same data give the same bits in every call. */
ESPALIER_API int espalier_reduce_scatter_block(espalier_comm* comm, const void* send, void* receive, size_t count,
                                               espalier_type type, espalier_op op);
ESPALIER_API int espalier_reduce_scatter(espalier_comm* comm, const void* send, void* receive, const size_t* counts,
                                         espalier_type type, espalier_op op);
/* The reduction over rank 0 to this one; exscan: to the one below, and rank 0's `receive` is left alone and may be NULL. */
ESPALIER_API int espalier_scan(espalier_comm* comm, const void* send, void* receive, size_t count, espalier_type type,
                               espalier_op op);
ESPALIER_API int espalier_exscan(espalier_comm* comm, const void* send, void* receive, size_t count, espalier_type type,
                                 espalier_op op);

/* What the calling thread's last failed call says; "" when there was none. Valid until its next call. */
ESPALIER_API const char* espalier_error_text(void);

#ifdef __cplusplus
}
#endif
#endif
