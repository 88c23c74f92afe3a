/* GASPI's names over Espalier's windows: a thin layer, library libespalier-gaspi.so.
 *
 * Names, arguments and meanings are those of the GASPI specification 17.1; include/gaspi/GASPI.h lets programs include
 * <GASPI.h>. docs/gaspi.md says how to start a program and where this layer differs. In short:
 *
 *  - A segment of a rank is a part of its node's window, so a write within a node is a copy.
 *  - What comes from another node lands when a rank of the target node is in a GASPI call that waits or tests.
 *  - The timeouts of proc_init over MPI, proc_term and the atomic operations are not looked at. That of segment_create holds
 *    until all ranks have come.
 *
 * All functions return GASPI_SUCCESS, GASPI_TIMEOUT (call again with the same arguments), or an error, whose text
 * gaspi_error_str() gives. Sizes and offsets are in bytes, timeouts in milliseconds. Calls of several threads take turns
 * by a lock; over MPI such a program initialises MPI itself, with at least MPI_THREAD_SERIALIZED. */
#ifndef ESPALIER_GASPI_H
#define ESPALIER_GASPI_H

#include "espalier/espalier.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef char gaspi_char;
typedef unsigned char gaspi_uchar;
typedef short gaspi_short;
typedef unsigned short gaspi_ushort;
typedef int gaspi_int;
typedef unsigned int gaspi_uint;
typedef long gaspi_long;
typedef unsigned long gaspi_ulong;
typedef float gaspi_float;
typedef double gaspi_double;
typedef void* gaspi_pointer_t;
typedef const void* gaspi_const_pointer_t;
typedef char* gaspi_string_t;
typedef unsigned short gaspi_rank_t;
typedef unsigned char gaspi_segment_id_t;
typedef unsigned long gaspi_offset_t;
typedef unsigned long gaspi_size_t;
typedef unsigned long gaspi_alloc_t;
typedef unsigned char gaspi_queue_id_t;
typedef unsigned char gaspi_group_t;
typedef unsigned int gaspi_number_t;
typedef unsigned short gaspi_notification_id_t;
typedef unsigned int gaspi_notification_t;
typedef unsigned long gaspi_timeout_t; /* milliseconds */
typedef unsigned long gaspi_atomic_value_t;
typedef unsigned long gaspi_cycles_t;
typedef double gaspi_time_t; /* milliseconds */
typedef int gaspi_memory_description_t;
typedef unsigned char* gaspi_state_vector_t;
typedef void* gaspi_reduce_state_t;

#define GASPI_BLOCK ((gaspi_timeout_t)-1) /* until it is done */
#define GASPI_TEST ((gaspi_timeout_t)0)   /* one look */
#define GASPI_GROUP_ALL ((gaspi_group_t)0)
#define GASPI_MEM_UNINITIALIZED ((gaspi_alloc_t)0)
#define GASPI_MEM_INITIALIZED ((gaspi_alloc_t)1)
#define GASPI_ALLOC_DEFAULT GASPI_MEM_UNINITIALIZED

typedef enum {
  GASPI_ERROR = -1,
  GASPI_SUCCESS = 0,
  GASPI_TIMEOUT = 1,
  GASPI_ERR_ENV = 3,     /* the program was not started in a way that this layer knows */
  GASPI_ERR_NOINIT = 6,  /* before gaspi_proc_init or after gaspi_proc_term */
  GASPI_ERR_INITED = 7,  /* gaspi_proc_init a second time */
  GASPI_ERR_NULLPTR = 8, /* a place for a result is NULL */
  GASPI_ERR_INV_SEGSIZE = 9,
  GASPI_ERR_INV_SEG = 10,
  GASPI_ERR_INV_GROUP = 11,
  GASPI_ERR_INV_RANK = 12,
  GASPI_ERR_INV_QUEUE = 13,
  GASPI_ERR_INV_LOC_OFF = 14,
  GASPI_ERR_INV_REM_OFF = 15,
  GASPI_ERR_INV_COMMSIZE = 16,
  GASPI_ERR_INV_NOTIF_VAL = 17,
  GASPI_ERR_INV_NOTIF_ID = 18,
  GASPI_ERR_INV_NUM = 19,
  GASPI_ERR_MANY_GRP = 22,
  GASPI_QUEUE_FULL = 23,     /* gaspi_wait makes room */
  GASPI_ERR_UNALIGN_OFF = 24 /* an atomic operation at an offset that is no multiple of 8 */
} gaspi_return_t;

typedef enum ESPALIER_AS_UNSIGNED { GASPI_OP_MIN = 0, GASPI_OP_MAX = 1, GASPI_OP_SUM = 2 } gaspi_operation_t;

typedef enum ESPALIER_AS_UNSIGNED {
  GASPI_TYPE_INT = 0,
  GASPI_TYPE_UINT = 1,
  GASPI_TYPE_FLOAT = 2,
  GASPI_TYPE_DOUBLE = 3,
  GASPI_TYPE_LONG = 4,
  GASPI_TYPE_ULONG = 5
} gaspi_datatype_t;

/* result[i] = first[i] op second[i] for `num` elements of `elem_size` bytes; `result` may be `first`. */
typedef gaspi_return_t (*gaspi_reduce_operation_t)(gaspi_const_pointer_t first, gaspi_const_pointer_t second,
                                                   gaspi_pointer_t result, gaspi_reduce_state_t state,
                                                   gaspi_number_t num, gaspi_size_t elem_size, gaspi_timeout_t timeout);

/* --- processes ----------------------------------------------------------------------------------------------------- */

/* Collective over all ranks. Over MPI it calls MPI_Init if that has not been done; gaspi_proc_term then calls
 * MPI_Finalize. */
ESPALIER_API gaspi_return_t gaspi_proc_init(gaspi_timeout_t timeout);
ESPALIER_API gaspi_return_t gaspi_proc_term(gaspi_timeout_t timeout);
ESPALIER_API gaspi_return_t gaspi_proc_rank(gaspi_rank_t* rank);
ESPALIER_API gaspi_return_t gaspi_proc_num(gaspi_rank_t* number);
ESPALIER_API gaspi_return_t gaspi_initialized(gaspi_number_t* initialized);
/* Windows need no connections: these check the rank, and that is all there is to do. */
ESPALIER_API gaspi_return_t gaspi_connect(gaspi_rank_t rank, gaspi_timeout_t timeout);
ESPALIER_API gaspi_return_t gaspi_disconnect(gaspi_rank_t rank, gaspi_timeout_t timeout);
ESPALIER_API gaspi_return_t gaspi_version(gaspi_float* version);
ESPALIER_API gaspi_return_t gaspi_time_get(gaspi_time_t* milliseconds);

/* The text of an error: of this thread's last failed call, where the code is that call's. Valid until the thread's next
 * failed call. gaspi_print_error does the same through a pointer. */
ESPALIER_API gaspi_string_t gaspi_error_str(gaspi_return_t code);
ESPALIER_API gaspi_return_t gaspi_print_error(gaspi_return_t code, gaspi_string_t* text);
/* printf to standard output, behind the rank's number. */
ESPALIER_API void gaspi_printf(const char* format, ...);

/* --- groups -------------------------------------------------------------------------------------------------------- */

/* A group has the same number on all of its ranks: they create their groups in the same order. */
ESPALIER_API gaspi_return_t gaspi_group_create(gaspi_group_t* group);
ESPALIER_API gaspi_return_t gaspi_group_add(gaspi_group_t group, gaspi_rank_t rank);
/* Collective over the group's ranks, who have added the same ranks. */
ESPALIER_API gaspi_return_t gaspi_group_commit(gaspi_group_t group, gaspi_timeout_t timeout);
ESPALIER_API gaspi_return_t gaspi_group_delete(gaspi_group_t group);
ESPALIER_API gaspi_return_t gaspi_group_num(gaspi_number_t* number);
ESPALIER_API gaspi_return_t gaspi_group_max(gaspi_number_t* most);
ESPALIER_API gaspi_return_t gaspi_group_size(gaspi_group_t group, gaspi_number_t* size);
/* `ranks` has room for gaspi_group_size entries, and gets them in ascending order. */
ESPALIER_API gaspi_return_t gaspi_group_ranks(gaspi_group_t group, gaspi_rank_t* ranks);

/* Collective over the group's ranks, resumable: after GASPI_TIMEOUT call again with the same arguments. At most 255
 * elements and 2,040 bytes, folded in rank order: all ranks get the same bits. */
ESPALIER_API gaspi_return_t gaspi_barrier(gaspi_group_t group, gaspi_timeout_t timeout);
ESPALIER_API gaspi_return_t gaspi_allreduce(gaspi_const_pointer_t send, gaspi_pointer_t receive, gaspi_number_t num,
                                            gaspi_operation_t operation, gaspi_datatype_t type, gaspi_group_t group,
                                            gaspi_timeout_t timeout);
ESPALIER_API gaspi_return_t gaspi_allreduce_user(gaspi_const_pointer_t send, gaspi_pointer_t receive, gaspi_number_t num,
                                                 gaspi_size_t elem_size, gaspi_reduce_operation_t operation,
                                                 gaspi_reduce_state_t state, gaspi_group_t group,
                                                 gaspi_timeout_t timeout);
ESPALIER_API gaspi_return_t gaspi_allreduce_elem_max(gaspi_number_t* most);
ESPALIER_API gaspi_return_t gaspi_allreduce_buf_size(gaspi_size_t* bytes);

/* --- segments ------------------------------------------------------------------------------------------------------ */

/* Collective over the group's ranks, each with a size of its own, not 0. The memory is zeroed under either policy. */
ESPALIER_API gaspi_return_t gaspi_segment_create(gaspi_segment_id_t segment, gaspi_size_t bytes, gaspi_group_t group,
                                                 gaspi_timeout_t timeout, gaspi_alloc_t policy);
/* Local: the id is free again. The memory goes back when the same group creates a segment of that id, or in
 * gaspi_proc_term. */
ESPALIER_API gaspi_return_t gaspi_segment_delete(gaspi_segment_id_t segment);
ESPALIER_API gaspi_return_t gaspi_segment_ptr(gaspi_segment_id_t segment, gaspi_pointer_t* pointer);
ESPALIER_API gaspi_return_t gaspi_segment_size(gaspi_segment_id_t segment, gaspi_rank_t rank, gaspi_size_t* bytes);
ESPALIER_API gaspi_return_t gaspi_segment_num(gaspi_number_t* number);
ESPALIER_API gaspi_return_t gaspi_segment_max(gaspi_number_t* most);
ESPALIER_API gaspi_return_t gaspi_segment_list(gaspi_number_t num, gaspi_segment_id_t* segments);

/* --- one-sided communication --------------------------------------------------------------------------------------- */

/* The source is the caller's again after gaspi_wait on the queue; a read has come by then. */
ESPALIER_API gaspi_return_t gaspi_write(gaspi_segment_id_t local, gaspi_offset_t local_offset, gaspi_rank_t rank,
                                        gaspi_segment_id_t remote, gaspi_offset_t remote_offset, gaspi_size_t bytes,
                                        gaspi_queue_id_t queue, gaspi_timeout_t timeout);
ESPALIER_API gaspi_return_t gaspi_read(gaspi_segment_id_t local, gaspi_offset_t local_offset, gaspi_rank_t rank,
                                       gaspi_segment_id_t remote, gaspi_offset_t remote_offset, gaspi_size_t bytes,
                                       gaspi_queue_id_t queue, gaspi_timeout_t timeout);
/* The notification comes after the data of all earlier writes of this rank to the same segment of that rank. */
ESPALIER_API gaspi_return_t gaspi_write_notify(gaspi_segment_id_t local, gaspi_offset_t local_offset, gaspi_rank_t rank,
                                               gaspi_segment_id_t remote, gaspi_offset_t remote_offset,
                                               gaspi_size_t bytes, gaspi_notification_id_t id,
                                               gaspi_notification_t value, gaspi_queue_id_t queue,
                                               gaspi_timeout_t timeout);
ESPALIER_API gaspi_return_t gaspi_notify(gaspi_segment_id_t remote, gaspi_rank_t rank, gaspi_notification_id_t id,
                                         gaspi_notification_t value, gaspi_queue_id_t queue, gaspi_timeout_t timeout);
/* The ids first to first + num - 1 of this rank; *id is the lowest that has come. */
ESPALIER_API gaspi_return_t gaspi_notify_waitsome(gaspi_segment_id_t segment, gaspi_notification_id_t first,
                                                  gaspi_number_t num, gaspi_notification_id_t* id,
                                                  gaspi_timeout_t timeout);
/* Atomic: of several threads that reset an id at once one gets its value, the others 0. */
ESPALIER_API gaspi_return_t gaspi_notify_reset(gaspi_segment_id_t segment, gaspi_notification_id_t id,
                                               gaspi_notification_t* old);
ESPALIER_API gaspi_return_t gaspi_notification_num(gaspi_number_t* number);

/* On 8 bytes at a multiple of 8; they wait for their result. */
ESPALIER_API gaspi_return_t gaspi_atomic_fetch_add(gaspi_segment_id_t segment, gaspi_offset_t offset, gaspi_rank_t rank,
                                                   gaspi_atomic_value_t value, gaspi_atomic_value_t* old,
                                                   gaspi_timeout_t timeout);
ESPALIER_API gaspi_return_t gaspi_atomic_compare_swap(gaspi_segment_id_t segment, gaspi_offset_t offset,
                                                      gaspi_rank_t rank, gaspi_atomic_value_t comparator,
                                                      gaspi_atomic_value_t value, gaspi_atomic_value_t* old,
                                                      gaspi_timeout_t timeout);

/* --- queues -------------------------------------------------------------------------------------------------------- */

/* Local completion of all that was posted to the queue. Data of more than 8 KiB for another node wait there for the
 * target, whatever the timeout. */
ESPALIER_API gaspi_return_t gaspi_wait(gaspi_queue_id_t queue, gaspi_timeout_t timeout);
ESPALIER_API gaspi_return_t gaspi_queue_size(gaspi_queue_id_t queue, gaspi_number_t* posted);
ESPALIER_API gaspi_return_t gaspi_queue_num(gaspi_number_t* number);
ESPALIER_API gaspi_return_t gaspi_queue_max(gaspi_number_t* most);
ESPALIER_API gaspi_return_t gaspi_queue_size_max(gaspi_number_t* most);
ESPALIER_API gaspi_return_t gaspi_transfer_size_min(gaspi_size_t* bytes);
ESPALIER_API gaspi_return_t gaspi_transfer_size_max(gaspi_size_t* bytes);

/* --- not supported: each returns GASPI_ERROR, and its text says what to use ------------------------------------------ */

ESPALIER_API gaspi_return_t gaspi_passive_send(gaspi_segment_id_t local, gaspi_offset_t offset, gaspi_rank_t rank,
                                               gaspi_size_t bytes, gaspi_timeout_t timeout);
ESPALIER_API gaspi_return_t gaspi_passive_receive(gaspi_segment_id_t local, gaspi_offset_t offset, gaspi_rank_t* rank,
                                                  gaspi_size_t bytes, gaspi_timeout_t timeout);
ESPALIER_API gaspi_return_t gaspi_proc_kill(gaspi_rank_t rank, gaspi_timeout_t timeout);
ESPALIER_API gaspi_return_t gaspi_segment_alloc(gaspi_segment_id_t segment, gaspi_size_t bytes, gaspi_alloc_t policy);
ESPALIER_API gaspi_return_t gaspi_segment_register(gaspi_segment_id_t segment, gaspi_rank_t rank,
                                                   gaspi_timeout_t timeout);
ESPALIER_API gaspi_return_t gaspi_segment_bind(gaspi_segment_id_t segment, gaspi_pointer_t pointer, gaspi_size_t bytes,
                                               gaspi_memory_description_t description);
ESPALIER_API gaspi_return_t gaspi_segment_use(gaspi_segment_id_t segment, gaspi_pointer_t pointer, gaspi_size_t bytes,
                                              gaspi_group_t group, gaspi_timeout_t timeout,
                                              gaspi_memory_description_t description);
ESPALIER_API gaspi_return_t gaspi_queue_create(gaspi_queue_id_t* queue, gaspi_timeout_t timeout);
ESPALIER_API gaspi_return_t gaspi_queue_delete(gaspi_queue_id_t queue);
ESPALIER_API gaspi_return_t gaspi_state_vec_get(gaspi_state_vector_t states);
ESPALIER_API gaspi_return_t gaspi_statistic_counter_max(gaspi_number_t* most);

#ifdef __cplusplus
}
#endif
#endif
