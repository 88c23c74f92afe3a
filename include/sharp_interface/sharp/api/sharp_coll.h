/* The interface of NVIDIA's libsharp_coll, written anew from what its public users (UCC, NCCL's SHARP plugin) show of
 * names, values, order of fields and sizes; no text of the original. It stands in where a user has no HPC-X: with
 * -DESPALIER_SHARP_INCLUDE=$HPCX_SHARP_DIR/include the same sources compile against the original. tests/sharp/layout_test.cpp
 * holds every size and offset of version 3.6 on x86-64.
 *
 * All functions return enum sharp_error_no as an int unless they say something else; errors are below 0. Calls marked
 * "collective" must be made by all members, in the same order. */
#ifndef SHARP_COLL_H_
#define SHARP_COLL_H_

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "sharp/api/version.h"

#ifdef __cplusplus
extern "C" {
#endif

enum sharp_error_no {
  SHARP_COLL_SUCCESS = 0,
  SHARP_COLL_ERROR = -1,
  SHARP_COLL_ENOT_SUPP = -2,
  SHARP_COLL_ENOMEM = -3,
  SHARP_COLL_EGROUP_ALLOC = -4,
  SHARP_COLL_ECONN_TREE = -5,
  SHARP_COLL_EGROUP_JOIN = -6,
  SHARP_COLL_EQUOTA = -7,
  SHARP_COLL_ESESS_INIT = -8,
  SHARP_COLL_EDEV = -9,
  SHARP_COLL_EINVAL = -10,
  SHARP_COLL_EJOB_CREATE = -11,
  SHARP_COLL_ETREE_INFO = -12,
  SHARP_COLL_ENOTREE = -13,
  SHARP_COLL_EGROUP_ID = -14,
  SHARP_COLL_EOOB = -15,
  SHARP_COLL_EGROUP_MCAST = -16,
  SHARP_COLL_EGROUP_TRIM = -17,
  SHARP_COLL_ELOCK_FAILED = -18,
  SHARP_COLL_ELOCK_DENIED = -19,
  SHARP_COLL_ENO_RESOURCE = -20
};

enum sharp_datatype {
  SHARP_DTYPE_UNSIGNED,       /* 32 bit */
  SHARP_DTYPE_INT,            /* 32 bit */
  SHARP_DTYPE_UNSIGNED_LONG,  /* 64 bit */
  SHARP_DTYPE_LONG,           /* 64 bit */
  SHARP_DTYPE_FLOAT,          /* 32 bit */
  SHARP_DTYPE_DOUBLE,         /* 64 bit */
  SHARP_DTYPE_UNSIGNED_SHORT, /* 16 bit */
  SHARP_DTYPE_SHORT,          /* 16 bit */
  SHARP_DTYPE_FLOAT_SHORT,    /* 16 bit */
  SHARP_DTYPE_BFLOAT16,       /* this and the next two: ask sharp_coll_caps first */
  SHARP_DTYPE_UINT8,
  SHARP_DTYPE_INT8,
  SHARP_DTYPE_NULL
};

enum sharp_reduce_op {
  SHARP_OP_MAX,
  SHARP_OP_MIN,
  SHARP_OP_SUM,
  SHARP_OP_PROD,
  SHARP_OP_LAND,
  SHARP_OP_BAND,
  SHARP_OP_LOR,
  SHARP_OP_BOR,
  SHARP_OP_LXOR,
  SHARP_OP_BXOR,
  SHARP_OP_MAXLOC,
  SHARP_OP_MINLOC,
  SHARP_OP_NULL
};

enum sharp_aggregation_mode { SHARP_AGGREGATION_NONE, SHARP_AGGREGATION_DATAGRAM, SHARP_AGGREGATION_STREAMING };

enum sharp_data_type { SHARP_DATA_BUFFER, SHARP_DATA_IOV };

enum sharp_mem_type { SHARP_MEM_TYPE_HOST, SHARP_MEM_TYPE_CUDA, SHARP_MEM_TYPE_LAST };

enum sharp_feature {
  SHARP_FEATURE_LLT = 1,
  SHARP_FEATURE_REPRODUCIBLE = 2,
  SHARP_FEATURE_SAT = 4,
  SHARP_FEATURE_SAT_EXCLUSIVE_LOCK = 8
};

enum sharp_init_flags {
  SHARP_COLL_HIDE_ERRORS = 1,
  SHARP_COLL_DISABLE_LAZY_GROUP_RESOURCE_ALLOC = 2
};

struct sharp_coll_context; /* a process's part of a job */
struct sharp_coll_comm;    /* a process's part of a group */

struct sharp_coll_config {
  const char* ib_dev_list;
  int user_progress_num_polls; /* progress_func is called after so many polls */
  int coll_timeout;            /* milliseconds; -1: none */
  uint32_t flags;              /* enum sharp_init_flags */
  int reserved[3];
};
extern const struct sharp_coll_config sharp_coll_default_config;

/* How the library exchanges a few bytes among the members before there is a tree. Collective; below 0 is an error. */
struct sharp_coll_out_of_band_colls {
  int (*bcast)(void* context, void* buffer, int bytes, int root);
  int (*barrier)(void* context);
  int (*gather)(void* context, int root, void* send, void* receive, int bytes);
};

struct sharp_coll_init_spec {
  uint64_t job_id; /* the same on all processes, unlike any other job's */
  int world_rank;
  int world_size;
  int (*progress_func)(void);
  int group_channel_idx;
  struct sharp_coll_config config;
  struct sharp_coll_out_of_band_colls oob_colls; /* of the job and of its groups */
  int world_local_rank;                          /* on its node */
  int enable_thread_support;
  void* oob_ctx; /* of the job */
  int reserved[4];
};

struct sharp_coll_comm_init_spec {
  int rank;
  int size;
  void* oob_ctx;                     /* of the group */
  const uint32_t* group_world_ranks; /* by rank; may be NULL */
  int reserved[2];
};

struct sharp_coll_caps {
  int sharp_pkt_version;
  uint64_t reserved[2];
  struct {
    uint64_t dtypes; /* 1 << enum sharp_datatype, and so on */
    uint64_t tag_dtypes;
    uint64_t reduce_ops;
    uint64_t feature_mask; /* enum sharp_feature */
    uint64_t reserved[4];
  } support_mask;
  struct {
    int max_osts;          /* outstanding operation slots */
    int user_data_per_ost; /* bytes */
    int max_groups;
    int max_group_channels;
    int osts_per_group;
  } resources;
};

struct sharp_data_iov {
  void* ptr;
  size_t length;
  void* mem_handle;
};

struct sharp_coll_data_desc {
  enum sharp_data_type type;
  enum sharp_mem_type mem_type;
  int reserved[2];
  union {
    struct {
      void* ptr;
      size_t length;    /* bytes */
      void* mem_handle; /* of sharp_coll_reg_mr */
    } buffer;
    struct {
      int count;
      struct sharp_data_iov* vector;
    } iov;
  };
};

struct sharp_coll_reduce_spec {
  int root; /* of a reduce */
  struct sharp_coll_data_desc sbuf_desc;
  struct sharp_coll_data_desc rbuf_desc; /* the same buffer: in place */
  enum sharp_datatype dtype;
  size_t length; /* elements; of a reduce-scatter those that each member receives */
  enum sharp_reduce_op op;
  enum sharp_datatype tag_dtype;
  enum sharp_aggregation_mode aggr_mode;
  int stream_lock_batch_size;
  size_t offset;
  int reserved[2];
};

struct sharp_coll_bcast_spec {
  int root;
  struct sharp_coll_data_desc buf_desc;
  size_t size; /* bytes */
  int reserved[4];
};

struct sharp_coll_gather_spec {
  struct sharp_coll_data_desc sbuf_desc;
  struct sharp_coll_data_desc rbuf_desc;
  enum sharp_datatype dtype;
  size_t size;
  size_t offset;
  int reserved[4];
};

/* Collective over the job, and over a group. */
int sharp_coll_init(struct sharp_coll_init_spec* spec, struct sharp_coll_context** context);
int sharp_coll_finalize(struct sharp_coll_context* context);
int sharp_coll_caps_query(struct sharp_coll_context* context, struct sharp_coll_caps* caps);
int sharp_coll_progress(struct sharp_coll_context* context);
int sharp_coll_comm_init(struct sharp_coll_context* context, struct sharp_coll_comm_init_spec* spec,
                         struct sharp_coll_comm** comm);
int sharp_coll_comm_destroy(struct sharp_coll_comm* comm);

/* Memory that operations work on is registered first. */
int sharp_coll_reg_mr(struct sharp_coll_context* context, void* buffer, size_t size, void** handle);
int sharp_coll_dereg_mr(struct sharp_coll_context* context, void* handle);

int sharp_coll_do_barrier(struct sharp_coll_comm* comm);
int sharp_coll_do_barrier_nb(struct sharp_coll_comm* comm, void** request);
int sharp_coll_do_allreduce(struct sharp_coll_comm* comm, struct sharp_coll_reduce_spec* spec);
int sharp_coll_do_allreduce_nb(struct sharp_coll_comm* comm, struct sharp_coll_reduce_spec* spec, void** request);
int sharp_coll_do_reduce(struct sharp_coll_comm* comm, struct sharp_coll_reduce_spec* spec);
int sharp_coll_do_reduce_nb(struct sharp_coll_comm* comm, struct sharp_coll_reduce_spec* spec, void** request);
int sharp_coll_do_reduce_scatter(struct sharp_coll_comm* comm, struct sharp_coll_reduce_spec* spec);
int sharp_coll_do_reduce_scatter_nb(struct sharp_coll_comm* comm, struct sharp_coll_reduce_spec* spec,
                                    void** request);
int sharp_coll_do_bcast(struct sharp_coll_comm* comm, struct sharp_coll_bcast_spec* spec);
int sharp_coll_do_bcast_nb(struct sharp_coll_comm* comm, struct sharp_coll_bcast_spec* spec, void** request);
int sharp_coll_do_allgather(struct sharp_coll_comm* comm, struct sharp_coll_gather_spec* spec);
int sharp_coll_do_allgather_nb(struct sharp_coll_comm* comm, struct sharp_coll_gather_spec* spec, void** request);

int sharp_coll_req_test(void* handle); /* not 0: done; frees nothing */
int sharp_coll_req_free(void* handle);
int sharp_coll_req_wait(void* handle); /* waits and frees */

int sharp_coll_print_config(FILE* file, uint32_t flags, const char* exec);
const char* sharp_coll_strerror(int error);
int sharp_coll_dump_stats(struct sharp_coll_context* context);

#ifdef __cplusplus
}
#endif
#endif
