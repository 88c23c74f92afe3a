/* A second, independent libsharp_coll, which checks every argument that it is given and ends the process with a line
 * beginning "MOCK:" where one is wrong. It shares no source with Espalier's library. Processes of one machine meet in shared
 * memory named by the job.
 *
 * MOCK_NODES=4: the processes lie on so many nodes, in blocks, and no two members of a group may be on one.
 * MOCK_PAYLOAD=64: bytes of an operation. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdatomic.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <sharp/api/sharp_coll.h>

#define EXPORT __attribute__((visibility("default")))
#define MEMBERS 16
#define GROUPS 64
#define SLOTS 16
#define LONGEST 4096

static void wrong(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fputs("MOCK: ", stderr);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
  abort();
}
#define CHECK(condition) \
  do { \
    if (!(condition)) wrong("%s: %s does not hold", __func__, #condition); \
  } while (0)

/* One operation of a group: what each member gave, and how many have given and taken. */
struct slot {
  atomic_ulong sequence; /* + 1; whose turn it is */
  atomic_int given, taken;
  size_t bytes[MEMBERS];
  int op[MEMBERS], dtype[MEMBERS];
  unsigned char data[MEMBERS][LONGEST];
};
struct shared {
  atomic_int operations;
  struct {
    struct slot slots[SLOTS];
  } groups[GROUPS];
};

struct registration {
  char* first;
  size_t size;
};
struct sharp_coll_context {
  struct sharp_coll_init_spec spec;
  struct shared* shared;
  char name[64];
  int groups, registrations;
};
struct sharp_coll_comm {
  struct sharp_coll_context* context;
  int rank, size, number;
  unsigned long begun;
  int open;
};
struct request {
  unsigned magic;
  struct sharp_coll_comm* comm;
  struct slot* slot;
  unsigned long sequence;
  int given, done;
  void* target;
  const void* source;
  size_t bytes, elements;
  int op, dtype;
};
#define LIVE 0x600dbeefu

EXPORT const struct sharp_coll_config sharp_coll_default_config = {0, 77, -1, 0, {0}};

static int payload(void) { return getenv("MOCK_PAYLOAD") ? atoi(getenv("MOCK_PAYLOAD")) : 256; }

/* sharp_coll_finalize says how much was done, and among how many, for the test to see that the client came here at all. */
static int total, largest;

EXPORT int sharp_coll_init(struct sharp_coll_init_spec* spec, struct sharp_coll_context** context) {
  CHECK(spec && context && spec->job_id != 0);
  CHECK(spec->world_rank >= 0 && spec->world_rank < spec->world_size && spec->world_size <= MEMBERS);
  CHECK(spec->world_local_rank >= 0 && spec->world_local_rank < spec->world_size);
  CHECK(spec->oob_colls.bcast && spec->oob_colls.barrier && spec->oob_colls.gather && spec->oob_ctx);
  CHECK(spec->progress_func && spec->progress_func() == 0);
  CHECK(spec->config.flags & SHARP_COLL_DISABLE_LAZY_GROUP_RESOURCE_ALLOC);
  CHECK(spec->config.user_progress_num_polls == 77); /* taken over from the default */
  CHECK(spec->enable_thread_support == 1 && spec->group_channel_idx == 0);
  for (int i = 0; i < 4; ++i) CHECK(spec->reserved[i] == 0);
  uint64_t job = spec->world_rank == 1 ? spec->job_id : 0;
  CHECK(spec->oob_colls.bcast(spec->oob_ctx, &job, sizeof job, 1) >= 0 && job == spec->job_id);
  int all[MEMBERS] = {0}, mine = 100 + spec->world_rank;
  CHECK(spec->oob_colls.gather(spec->oob_ctx, 0, &mine, all, sizeof mine) >= 0);
  for (int i = 0; spec->world_rank == 0 && i < spec->world_size; ++i) CHECK(all[i] == 100 + i);
  struct sharp_coll_context* made = calloc(1, sizeof *made);
  made->spec = *spec;
  snprintf(made->name, sizeof made->name, "/mock-sharp-%016lx", (unsigned long)spec->job_id);
  int file = shm_open(made->name, O_RDWR | O_CREAT, 0600);
  CHECK(file >= 0 && ftruncate(file, sizeof(struct shared)) == 0);
  made->shared = mmap(0, sizeof(struct shared), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  CHECK(made->shared != MAP_FAILED);
  close(file);
  CHECK(spec->oob_colls.barrier(spec->oob_ctx) >= 0);
  shm_unlink(made->name);
  *context = made;
  return SHARP_COLL_SUCCESS;
}

EXPORT int sharp_coll_finalize(struct sharp_coll_context* context) {
  CHECK(context && context->groups == 0 && context->registrations == 0);
  if (context->spec.world_rank == 0) fprintf(stderr, "MOCK-DONE: %d operations, groups of %d\n", total, largest);
  munmap(context->shared, sizeof(struct shared));
  free(context);
  return SHARP_COLL_SUCCESS;
}

EXPORT int sharp_coll_caps_query(struct sharp_coll_context* context, struct sharp_coll_caps* caps) {
  CHECK(context && caps);
  memset(caps, 0, sizeof *caps);
  caps->support_mask.dtypes = 1u << SHARP_DTYPE_UNSIGNED | 1u << SHARP_DTYPE_INT | 1u << SHARP_DTYPE_DOUBLE;
  caps->support_mask.reduce_ops = 1u << SHARP_OP_SUM | 1u << SHARP_OP_MAX;
  caps->resources.user_data_per_ost = payload();
  caps->resources.max_osts = 64;
  caps->resources.osts_per_group = 8;
  caps->resources.max_groups = GROUPS;
  return SHARP_COLL_SUCCESS;
}

EXPORT int sharp_coll_progress(struct sharp_coll_context* context) {
  CHECK(context);
  return SHARP_COLL_SUCCESS;
}

static int node_of(const struct sharp_coll_init_spec* spec, int process) {
  const char* nodes = getenv("MOCK_NODES");
  return nodes ? process * atoi(nodes) / spec->world_size : process;
}

EXPORT int sharp_coll_comm_init(struct sharp_coll_context* context, struct sharp_coll_comm_init_spec* spec,
                                struct sharp_coll_comm** comm) {
  CHECK(context && spec && comm && spec->oob_ctx && spec->oob_ctx != context->spec.oob_ctx);
  CHECK(spec->rank >= 0 && spec->rank < spec->size && spec->size <= MEMBERS);
  CHECK(spec->group_world_ranks == 0 || (int)spec->group_world_ranks[spec->rank] == context->spec.world_rank);
  const struct sharp_coll_out_of_band_colls* oob = &context->spec.oob_colls;
  int all[MEMBERS], mine = context->spec.world_rank;
  CHECK(oob->gather(spec->oob_ctx, 0, &mine, all, sizeof mine) >= 0);
  CHECK(oob->bcast(spec->oob_ctx, all, (int)sizeof all, 0) >= 0);
  CHECK(all[spec->rank] == mine);
  for (int i = 0; i < spec->size; ++i)
    for (int j = 0; j < i; ++j)
      if (node_of(&context->spec, all[i]) == node_of(&context->spec, all[j]))
        wrong("members %d and %d of a group are on one node", j, i);
  /* The number of the group: processes may have made different numbers of them. */
  static int made_here;
  int numbers[MEMBERS], number = made_here;
  CHECK(oob->gather(spec->oob_ctx, 0, &number, numbers, sizeof number) >= 0);
  for (int i = 0; spec->rank == 0 && i < spec->size; ++i) number = numbers[i] > number ? numbers[i] : number;
  CHECK(oob->bcast(spec->oob_ctx, &number, sizeof number, 0) >= 0);
  made_here = number + 1;
  CHECK(number < GROUPS);
  /* Groups of disjoint processes may have one number: their first process tells them apart. */
  number = (number + all[0] * 8) % GROUPS;
  CHECK(oob->barrier(spec->oob_ctx) >= 0);
  struct sharp_coll_comm* result = calloc(1, sizeof *result);
  *result = (struct sharp_coll_comm){context, spec->rank, spec->size, number, 0, 0};
  ++context->groups;
  if (spec->size > largest) largest = spec->size;
  *comm = result;
  return SHARP_COLL_SUCCESS;
}

EXPORT int sharp_coll_comm_destroy(struct sharp_coll_comm* comm) {
  CHECK(comm && comm->open == 0); /* no request may be left */
  --comm->context->groups;
  free(comm);
  return SHARP_COLL_SUCCESS;
}

EXPORT int sharp_coll_reg_mr(struct sharp_coll_context* context, void* buffer, size_t size, void** handle) {
  CHECK(context && buffer && size > 0 && handle);
  struct registration* made = malloc(sizeof *made);
  *made = (struct registration){buffer, size};
  ++context->registrations;
  *handle = made;
  return SHARP_COLL_SUCCESS;
}

EXPORT int sharp_coll_dereg_mr(struct sharp_coll_context* context, void* handle) {
  CHECK(context && handle && context->registrations > 0);
  --context->registrations;
  free(handle);
  return SHARP_COLL_SUCCESS;
}

static void check_buffer(const struct sharp_coll_data_desc* data, size_t bytes) {
  CHECK(data->type == SHARP_DATA_BUFFER && data->mem_type == SHARP_MEM_TYPE_HOST);
  CHECK(data->buffer.length == bytes); /* in bytes, neither more nor less */
  const struct registration* registered = data->buffer.mem_handle;
  CHECK(registered);
  const char* first = data->buffer.ptr;
  CHECK(first >= registered->first && first + bytes <= registered->first + registered->size);
}

static struct request* begin(struct sharp_coll_comm* comm) {
  struct request* request = calloc(1, sizeof *request);
  request->magic = LIVE;
  request->comm = comm;
  request->sequence = comm->begun++;
  request->slot = &comm->context->shared->groups[comm->number].slots[request->sequence % SLOTS];
  ++comm->open;
  ++total;
  return request;
}

EXPORT int sharp_coll_do_barrier_nb(struct sharp_coll_comm* comm, void** handle) {
  CHECK(comm && handle);
  *handle = begin(comm);
  return SHARP_COLL_SUCCESS;
}

EXPORT int sharp_coll_do_allreduce_nb(struct sharp_coll_comm* comm, struct sharp_coll_reduce_spec* spec, void** handle) {
  CHECK(comm && spec && handle);
  /* what the caps say */
  CHECK(spec->dtype == SHARP_DTYPE_UNSIGNED || spec->dtype == SHARP_DTYPE_INT || spec->dtype == SHARP_DTYPE_DOUBLE);
  CHECK(spec->op == SHARP_OP_SUM || spec->op == SHARP_OP_MAX);
  const size_t extent = spec->dtype == SHARP_DTYPE_DOUBLE ? 8 : 4, bytes = spec->length * extent; /* in elements */
  CHECK(bytes > 0 && bytes <= (size_t)payload());
  check_buffer(&spec->sbuf_desc, bytes);
  check_buffer(&spec->rbuf_desc, bytes);
  const char *send = spec->sbuf_desc.buffer.ptr, *receive = spec->rbuf_desc.buffer.ptr;
  CHECK(send == receive || send + bytes <= receive || receive + bytes <= send); /* in place or apart */
  CHECK(spec->aggr_mode == SHARP_AGGREGATION_NONE && spec->reserved[0] == 0 && spec->reserved[1] == 0);
  struct request* request = begin(comm);
  request->source = send;
  request->target = spec->rbuf_desc.buffer.ptr;
  request->bytes = bytes;
  request->elements = spec->length;
  request->op = spec->op;
  request->dtype = spec->dtype;
  *handle = request;
  return SHARP_COLL_SUCCESS;
}

static void fold(const struct request* request) {
  const struct slot* slot = request->slot;
  memcpy(request->target, slot->data[0], request->bytes);
  for (int member = 1; member < request->comm->size; ++member)
    for (size_t i = 0; i < request->elements; ++i) {
#define FOLD(type) \
  type *to = (type*)request->target + i, from = ((const type*)slot->data[member])[i]; \
  *to = request->op == SHARP_OP_SUM ? *to + from : *to > from ? *to : from
      if (request->dtype == SHARP_DTYPE_UNSIGNED) {
        FOLD(unsigned);
      } else if (request->dtype == SHARP_DTYPE_INT) {
        FOLD(int);
      } else {
        FOLD(double);
      }
    }
}

static void give(struct request* request) {
  struct slot* slot = request->slot;
  const int rank = request->comm->rank;
  if (request->given || atomic_load(&slot->sequence) != request->sequence / SLOTS) return;
  if (request->bytes) memcpy(slot->data[rank], request->source, request->bytes);
  slot->bytes[rank] = request->bytes;
  slot->op[rank] = request->op;
  slot->dtype[rank] = request->dtype;
  atomic_fetch_add(&slot->given, 1);
  request->given = 1;
}

static int advance(struct request* request) {
  struct slot* slot = request->slot;
  const int size = request->comm->size;
  give(request);
  if (request->done || !request->given || atomic_load(&slot->given) < size) return request->done;
  for (int member = 0; member < size; ++member)
    CHECK(slot->bytes[member] == request->bytes && slot->op[member] == request->op && slot->dtype[member] == request->dtype);
  if (request->bytes) fold(request);
  request->done = 1;
  if (atomic_fetch_add(&slot->taken, 1) + 1 == size) {
    atomic_store(&slot->taken, 0);
    atomic_store(&slot->given, 0);
    atomic_fetch_add(&slot->sequence, 1);
  }
  return 1;
}

EXPORT int sharp_coll_req_test(void* handle) {
  struct request* request = handle;
  CHECK(request && request->magic == LIVE);
  return advance(request);
}

EXPORT int sharp_coll_req_free(void* handle) {
  struct request* request = handle;
  CHECK(request && request->magic == LIVE); /* not freed twice, nor after a wait */
  request->magic = 0;
  --request->comm->open;
  free(request);
  return SHARP_COLL_SUCCESS;
}

EXPORT int sharp_coll_req_wait(void* handle) {
  while (!sharp_coll_req_test(handle)) usleep(10);
  return sharp_coll_req_free(handle);
}
