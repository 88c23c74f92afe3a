// The interface of sharp_coll.h over a software aggregation tree. No exception leaves it.

#include <atomic>
#include <cstring>
#include <limits>

#include "base/format.hpp"
#include "sharp/library/comm.hpp"
#include "sharp/operations.hpp"

using namespace espalier::sharp;
using espalier::print_to;

#define ESPALIER_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

// Without a destructor: it may be asked for when the thread ends.
thread_local char last_problem[512];

/// A piece of memory that operations may work on.
struct Registered {
  const std::byte* first;
  std::size_t bytes;
};

// As the last context was told; relaxed, since nothing else hangs on it.
std::atomic<bool> hides_errors = false;

std::int32_t report(std::int32_t code, const char* why) {
  std::strncpy(last_problem, why, sizeof last_problem - 1);
  if (!hides_errors.load(std::memory_order_relaxed))
    print_to(stderr, "espalier-sharp: {} ({}): {}\n", sharp_coll_strerror(code), code, why);
  return code;
}

template <class Body>
int guarded(Body body) noexcept {
  try {
    body();
    return SHARP_COLL_SUCCESS;
  } catch (const Problem& problem) {
    return report(problem.code(), problem.what());
  } catch (const std::bad_alloc&) {
    return report(SHARP_COLL_ENOMEM, "out of memory");
  } catch (const std::exception& error) {
    return report(SHARP_COLL_EINVAL, error.what());
  }
}

[[noreturn]] void invalid(const char* what) { throw Problem(SHARP_COLL_EINVAL, what); }
[[noreturn]] void unsupported(const char* what) { throw Problem(SHARP_COLL_ENOT_SUPP, what); }

void check(const sharp_coll_data_desc& data, std::size_t bytes) {
  if (data.type != SHARP_DATA_BUFFER) unsupported("only contiguous buffers");
  if (data.mem_type != SHARP_MEM_TYPE_HOST) unsupported("only host memory");
  if (bytes == 0) return;
  if (!data.buffer.ptr || data.buffer.length < bytes)
    invalid("a buffer is shorter than the operation's data");
  const auto* registered = static_cast<const Registered*>(data.buffer.mem_handle);
  const auto* first = static_cast<const std::byte*>(data.buffer.ptr);
  if (registered && (first < registered->first || first + bytes > registered->first + registered->bytes))
    invalid("a buffer lies outside of the memory that its handle stands for");
}

std::unique_ptr<Request> request_of(sharp_coll_comm& comm, Operation operation) {
  auto request = std::make_unique<Request>();
  request->comm = &comm;
  request->like.kind = Kind::contribute;
  request->like.operation = operation;
  request->like.job = comm.context().spec.job_id;
  request->like.group = comm.id();
  return request;
}

void check_root(const sharp_coll_comm& comm, int root) {
  if (root < 0 || root >= comm.size()) invalid("the root is no member of the group");
}

/// What a C program has put into an enumeration, be it one of its values or not.
template <class Enumeration>
unsigned number_in(const Enumeration& value) {
  unsigned number = 0;
  static_assert(sizeof value == sizeof number);
  std::memcpy(&number, &value, sizeof number);
  return number;
}

std::unique_ptr<Request> reduction(sharp_coll_comm& comm, const sharp_coll_reduce_spec& spec,
                                   Operation operation) {
  const Limits& limits = comm.context().tree.limits;
  const unsigned wide_op = number_in(spec.op), wide_type = number_in(spec.dtype);
  const bool exists = wide_op < SHARP_OP_NULL && wide_type < SHARP_DTYPE_NULL;
  const auto op = static_cast<std::uint8_t>(wide_op), type = static_cast<std::uint8_t>(wide_type);
  if (!exists || (limits.ops >> op & 1) == 0 || (limits.types >> type & 1) == 0 || !kernel_of(op, type))
    unsupported("no such operator on this type (see sharp_coll_caps_query)");
  if (spec.aggr_mode == SHARP_AGGREGATION_STREAMING && !comm.context().wants_lock)
    unsupported("streaming aggregation needs the tree's lock (SHARP_COLL_LOCK_ON_COMM_INIT)");
  auto request = request_of(comm, operation);
  if (spec.length > std::numeric_limits<std::size_t>::max() / extent_of(type))
    invalid("more elements than memory can hold");
  request->bytes = spec.length * extent_of(type);
  const bool gets = operation == Operation::allreduce || comm.rank() == spec.root;
  check(spec.sbuf_desc, request->bytes);
  if (gets) check(spec.rbuf_desc, request->bytes);
  if (operation == Operation::reduce) check_root(comm, spec.root);
  request->like.op = op;
  request->like.type = type;
  request->like.root = operation == Operation::reduce ? static_cast<std::uint32_t>(spec.root) : 0;
  request->source = static_cast<const std::byte*>(spec.sbuf_desc.buffer.ptr);
  request->target = gets ? static_cast<std::byte*>(spec.rbuf_desc.buffer.ptr) : nullptr;
  return request;
}

std::unique_ptr<Request> broadcast(sharp_coll_comm& comm, const sharp_coll_bcast_spec& spec) {
  check_root(comm, spec.root);
  check(spec.buf_desc, spec.size);
  auto request = request_of(comm, Operation::bcast);
  request->like.type = SHARP_DTYPE_UINT8;  // one byte is an element
  request->like.root = static_cast<std::uint32_t>(spec.root);
  request->bytes = spec.size;
  request->target = static_cast<std::byte*>(spec.buf_desc.buffer.ptr);
  request->source = comm.rank() == spec.root ? request->target : nullptr;
  return request;
}

/// make(comm) -> the request.
template <class Make>
int begin(sharp_coll_comm* comm, void** handle, Make make) {
  return guarded([&] {
    if (!comm || !handle) invalid("no group, or nowhere to put the request");
    const std::lock_guard lock(comm->context().mutex);
    *handle = comm->begin(make(*comm));
  });
}

template <class Begin>
int complete(Begin begin_it) {
  void* request = nullptr;
  const int code = begin_it(&request);
  return code < 0 ? code : sharp_coll_req_wait(request);
}

void free_request(Request* request) {
  request->comm->forget(request);
  delete request;
}

int no_support(const char* what) { return report(SHARP_COLL_ENOT_SUPP, what); }

}  // namespace

// NOLINTNEXTLINE(readability-redundant-declaration): the header's does not export
ESPALIER_EXPORT const struct sharp_coll_config sharp_coll_default_config;
const struct sharp_coll_config sharp_coll_default_config = {nullptr, 1000, -1, 0, {0, 0, 0}};

/// The reason of this thread's last error, beyond its code. Not part of the interface of the hardware's
/// library.
ESPALIER_EXPORT const char* espalier_sharp_last_problem() { return last_problem; }

ESPALIER_EXPORT int sharp_coll_init(struct sharp_coll_init_spec* spec, struct sharp_coll_context** context) {
  return guarded([&] {
    if (!spec || !context || !spec->oob_colls.bcast || !spec->oob_colls.gather || !spec->oob_colls.barrier)
      invalid("sharp_coll_init needs a description of the job with its callbacks");
    if (spec->world_size < 1 || spec->world_rank < 0 || spec->world_rank >= spec->world_size)
      invalid("the process's number is not below that of processes");
    hides_errors.store((spec->config.flags & SHARP_COLL_HIDE_ERRORS) != 0, std::memory_order_relaxed);
    *context = new sharp_coll_context(*spec);
  });
}

ESPALIER_EXPORT int sharp_coll_finalize(struct sharp_coll_context* context) {
  delete context;
  return SHARP_COLL_SUCCESS;
}

ESPALIER_EXPORT int sharp_coll_caps_query(struct sharp_coll_context* context, struct sharp_coll_caps* caps) {
  return guarded([&] {
    if (!context || !caps) invalid("nothing to ask, or nowhere to put the answer");
    *caps = context->caps();
  });
}

ESPALIER_EXPORT int sharp_coll_progress(struct sharp_coll_context* context) {
  return guarded([&] {
    const std::lock_guard lock(context->mutex);
    context->progress();
  });
}

ESPALIER_EXPORT int sharp_coll_comm_init(struct sharp_coll_context* context,
                                         struct sharp_coll_comm_init_spec* spec,
                                         struct sharp_coll_comm** comm) {
  return guarded([&] {
    if (!context || !spec || !comm || spec->size < 1 || spec->rank < 0 || spec->rank >= spec->size)
      invalid("sharp_coll_comm_init needs a context and a description of the group");
    const std::lock_guard lock(context->mutex);
    *comm = new sharp_coll_comm(*context, *spec);
  });
}

ESPALIER_EXPORT int sharp_coll_comm_destroy(struct sharp_coll_comm* comm) {
  return guarded([&] {
    if (!comm) invalid("no group to destroy");
    const std::lock_guard lock(comm->context().mutex);
    delete comm;
  });
}

ESPALIER_EXPORT int sharp_coll_reg_mr(struct sharp_coll_context* context, void* buffer, size_t size,
                                      void** handle) {
  return guarded([&] {
    if (!context || !buffer || !handle) invalid("nothing to register");
    *handle = new Registered{static_cast<const std::byte*>(buffer), size};
  });
}

ESPALIER_EXPORT int sharp_coll_dereg_mr(struct sharp_coll_context*, void* handle) {
  delete static_cast<Registered*>(handle);
  return SHARP_COLL_SUCCESS;
}

ESPALIER_EXPORT int sharp_coll_do_barrier_nb(struct sharp_coll_comm* comm, void** request) {
  return begin(comm, request, [](sharp_coll_comm& group) { return request_of(group, Operation::barrier); });
}

ESPALIER_EXPORT int sharp_coll_do_allreduce_nb(struct sharp_coll_comm* comm,
                                               struct sharp_coll_reduce_spec* spec, void** request) {
  return begin(comm, request,
               [&](sharp_coll_comm& group) { return reduction(group, *spec, Operation::allreduce); });
}

ESPALIER_EXPORT int sharp_coll_do_reduce_nb(struct sharp_coll_comm* comm, struct sharp_coll_reduce_spec* spec,
                                            void** request) {
  return begin(comm, request,
               [&](sharp_coll_comm& group) { return reduction(group, *spec, Operation::reduce); });
}

ESPALIER_EXPORT int sharp_coll_do_bcast_nb(struct sharp_coll_comm* comm, struct sharp_coll_bcast_spec* spec,
                                           void** request) {
  return begin(comm, request, [&](sharp_coll_comm& group) { return broadcast(group, *spec); });
}

ESPALIER_EXPORT int sharp_coll_do_barrier(struct sharp_coll_comm* comm) {
  return complete([&](void** request) { return sharp_coll_do_barrier_nb(comm, request); });
}

ESPALIER_EXPORT int sharp_coll_do_allreduce(struct sharp_coll_comm* comm,
                                            struct sharp_coll_reduce_spec* spec) {
  return complete([&](void** request) { return sharp_coll_do_allreduce_nb(comm, spec, request); });
}

ESPALIER_EXPORT int sharp_coll_do_reduce(struct sharp_coll_comm* comm, struct sharp_coll_reduce_spec* spec) {
  return complete([&](void** request) { return sharp_coll_do_reduce_nb(comm, spec, request); });
}

ESPALIER_EXPORT int sharp_coll_do_bcast(struct sharp_coll_comm* comm, struct sharp_coll_bcast_spec* spec) {
  return complete([&](void** request) { return sharp_coll_do_bcast_nb(comm, spec, request); });
}

// The hardware does these by streaming aggregation, which the tree in software has not.
ESPALIER_EXPORT int sharp_coll_do_reduce_scatter(struct sharp_coll_comm*, struct sharp_coll_reduce_spec*) {
  return no_support("reduce-scatter");
}
ESPALIER_EXPORT int sharp_coll_do_reduce_scatter_nb(struct sharp_coll_comm*, struct sharp_coll_reduce_spec*,
                                                    void**) {
  return no_support("reduce-scatter");
}
ESPALIER_EXPORT int sharp_coll_do_allgather(struct sharp_coll_comm*, struct sharp_coll_gather_spec*) {
  return no_support("allgather");
}
ESPALIER_EXPORT int sharp_coll_do_allgather_nb(struct sharp_coll_comm*, struct sharp_coll_gather_spec*,
                                               void**) {
  return no_support("allgather");
}

ESPALIER_EXPORT int sharp_coll_req_test(void* handle) {
  auto* request = static_cast<Request*>(handle);
  sharp_coll_context& context = request->comm->context();
  const std::lock_guard lock(context.mutex);
  if (!request->is_done) {
    guarded([&] { context.progress(); });
    context.call_home();
  }
  return request->is_done;
}

ESPALIER_EXPORT int sharp_coll_req_free(void* handle) {
  auto* request = static_cast<Request*>(handle);
  const std::lock_guard lock(request->comm->context().mutex);
  free_request(request);
  return SHARP_COLL_SUCCESS;
}

ESPALIER_EXPORT int sharp_coll_req_wait(void* handle) {
  auto* request = static_cast<Request*>(handle);
  while (!sharp_coll_req_test(handle)) {
  }
  const std::lock_guard lock(request->comm->context().mutex);
  const int code = request->code;
  if (code < 0) report(code, request->comm->why().c_str());
  free_request(request);
  return code;
}

ESPALIER_EXPORT int sharp_coll_print_config(FILE* file, uint32_t, const char*) {
  for (const char* name : {"ESPALIER_AGGREGATION", "ESPALIER_SHARP_FAULTS", "SHARP_COLL_ENABLE_SAT",
                           "SHARP_COLL_LOCK_ON_COMM_INIT"})
    print_to(file, "{}={}\n", name, setting(name));
  return SHARP_COLL_SUCCESS;
}

ESPALIER_EXPORT const char* sharp_coll_strerror(int error) {
  static constexpr const char* texts[] = {"success",
                                          "error",
                                          "not supported",
                                          "out of memory",
                                          "no group could be allocated",
                                          "no connection to the aggregation tree",
                                          "the group could not be joined",
                                          "quota exhausted",
                                          "no session with the aggregation service",
                                          "no device",
                                          "invalid argument",
                                          "the job could not be created",
                                          "no information about the tree",
                                          "no such tree",
                                          "invalid group",
                                          "out-of-band exchange failed",
                                          "no multicast for the group",
                                          "the group could not be trimmed",
                                          "the tree's lock is taken",
                                          "the tree's lock is denied",
                                          "no resources left"};
  return error <= 0 && error >= SHARP_COLL_ENO_RESOURCE ? texts[-error] : "unknown error";
}

ESPALIER_EXPORT int sharp_coll_dump_stats(struct sharp_coll_context*) { return SHARP_COLL_SUCCESS; }
