/* Windows: memory that the ranks of a node share, written to from every node, with notifications that all of them see.
 *
 * A window has one segment of memory and one array of notifications for each node of its communicator. All ranks of a
 * node map the node's segment: they read and write it in place. Any rank writes to the segment of any node with a put; a
 * notification tells the ranks of that node that the data are there. A notification is a number, its id, with a value;
 * the value 0 means that nothing has come. docs/windows.md has the whole contract. In short:
 *
 *  - A rank that has seen a notification (test, waitsome or reset has given its value) sees the data of the put_notify that
 *    set it, on every rank of the node, whichever of them the put went through; and everything that its sender had
 *    written to its own node's segment, or itself seen in notifications, before it.
 *  - Nothing else is ordered: two puts, or two notifications, may arrive in any order.
 *  - A notification replaces the value that the same id has. Give each put that is under way its own id.
 *  - Puts and gets only start. The memory that they read or fill belongs to them until espalier_window_flush().
 *  - What comes from another node lands when the rank that it is aimed at is in any call of Espalier that waits or
 *    tests: with k ranks on the target node, those of sender's local rank l go to rank l modulo k. So a rank that computes
 *    for long holds up what is aimed at it; espalier_window_notify_test() now and then lets it in.
 *
 * Between nodes windows need an MPI that Espalier is preloaded into. All functions return ESPALIER_OK or an error code;
 * espalier_error_text() says more. A window is used by one thread of a rank at a time. */
#ifndef ESPALIER_WINDOW_H
#define ESPALIER_WINDOW_H

#include <stddef.h>
#include <stdint.h>

#include "espalier/espalier.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct espalier_window espalier_window;

/* The most notifications that a window may have on each node. */
#define ESPALIER_WINDOW_IDS (1 << 24)

/* --- life ---------------------------------------------------------------------------------------------------------- */

/* Collective over `comm`. Segments of `bytes` zeroed bytes and `ids` notifications (1 to ESPALIER_WINDOW_IDS) on each node;
 * all ranks say the same. The communicator may be freed before the window. */
ESPALIER_API int espalier_window_create(espalier_comm* comm, size_t bytes, int ids, espalier_window** window);
/* The same over memory of the caller's: `bytes` from `memory`, which all ranks of the node have mapped, wherever each of
 * them has it (MPI_Win_allocate_shared, shm_open, mmap). That they share it is tried, not believed. It must outlive the
 * window. */
ESPALIER_API int espalier_window_bind(espalier_comm* comm, void* memory, size_t bytes, int ids, espalier_window** window);
/* Collective. Returns when nothing is under way to or from this rank any more. Notifications that no rank has looked at
 * are lost. NULL is allowed. */
ESPALIER_API int espalier_window_free(espalier_window* window);

/* --- who and where ------------------------------------------------------------------------------------------------- */

/* This node's segment. Child processes share it, however they are made. */
ESPALIER_API void* espalier_window_memory(espalier_window* window);
ESPALIER_API size_t espalier_window_bytes(const espalier_window* window);
ESPALIER_API int espalier_window_nodes(const espalier_window* window);
/* This rank's node, or that of a rank of the communicator; -1 for a rank that is none. Nodes are numbered from 0 by their
 * lowest rank. */
ESPALIER_API int espalier_window_node(const espalier_window* window);
ESPALIER_API int espalier_window_node_of(const espalier_window* window, int rank);
/* How many ranks of the window are on a node, and this one's number among those of its own; -1 for a node that is none. */
ESPALIER_API int espalier_window_local_size(const espalier_window* window, int node);
ESPALIER_API int espalier_window_local_rank(const espalier_window* window);
/* What carries puts between the nodes ("memory", "message", "rma", "notify"), and why, in words; valid as long as the
 * window. */
ESPALIER_API const char* espalier_window_transport(const espalier_window* window);
ESPALIER_API const char* espalier_window_why(const espalier_window* window);

/* --- writing and reading ------------------------------------------------------------------------------------------- */

/* Starts to write `bytes` from `source` to `offset` of a node's segment. Within the node it is a copy, done on return. */
ESPALIER_API int espalier_window_put(espalier_window* window, int node, size_t offset, const void* source, size_t bytes);
/* The same, and sets notification `id` of that node to `value`, not 0, once the data are there. */
ESPALIER_API int espalier_window_put_notify(espalier_window* window, int node, size_t offset, const void* source,
                                            size_t bytes, int id, uint32_t value);
/* A notification without data. */
ESPALIER_API int espalier_window_notify(espalier_window* window, int node, int id, uint32_t value);
/* Starts to read; the target holds the data after flush. */
ESPALIER_API int espalier_window_get(espalier_window* window, int node, size_t offset, void* target, size_t bytes);
/* Until the sources of all puts and the targets of all gets of this rank are its own again. */
ESPALIER_API int espalier_window_flush(espalier_window* window);
/* The same for `timeout_ms` milliseconds at most, then ESPALIER_ERR_TIMEOUT; -1: no timeout; 0: one look. Where the host's
 * one-sided calls carry the window it waits, whatever the timeout. */
ESPALIER_API int espalier_window_flush_within(espalier_window* window, int timeout_ms);

/* Atomic, on 8 bytes at an offset that is a multiple of 8; `old` gets what was there. compare_swap writes `desired` if that
 * was `expected`. All atomic operations on the same bytes are atomic with each other, wherever they come from, also with
 * C's atomic operations on the segment. They wait for their result. */
ESPALIER_API int espalier_window_fetch_add(espalier_window* window, int node, size_t offset, uint64_t value,
                                           uint64_t* old);
ESPALIER_API int espalier_window_compare_swap(espalier_window* window, int node, size_t offset, uint64_t expected,
                                              uint64_t desired, uint64_t* old);

/* --- notifications of this node ------------------------------------------------------------------------------------ */

/* *value: what it is now, 0 if nothing has come. */
ESPALIER_API int espalier_window_notify_test(espalier_window* window, int id, uint32_t* value);
/* Until one of first, ..., first + count - 1 is not 0: *id is the lowest such, which stays as it is. After `timeout_ms`
 * milliseconds ESPALIER_ERR_TIMEOUT, and the text says what has not come; -1: no timeout; 0: one look. */
ESPALIER_API int espalier_window_notify_waitsome(espalier_window* window, int first, int count, int timeout_ms, int* id);
/* Sets it to 0; *old: what it was. Atomic: of several ranks that reset it at once only one gets the value. */
ESPALIER_API int espalier_window_notify_reset(espalier_window* window, int id, uint32_t* old);

#ifdef __cplusplus
}
#endif
#endif
