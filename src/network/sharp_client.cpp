#include "network/sharp_client.hpp"

#include <algorithm>

#include "base/format.hpp"
#include "base/printable.hpp"
#include "network/sharp_library.hpp"
#include "reduce/names.hpp"

namespace espalier::network {
namespace {

using reduce::Op;
using reduce::Type;

sharp_datatype datatype_of(Type type) {
  switch (type) {
    case Type::uint32:
      return SHARP_DTYPE_UNSIGNED;
    case Type::int32:
      return SHARP_DTYPE_INT;
    case Type::uint64:
      return SHARP_DTYPE_UNSIGNED_LONG;
    case Type::int64:
      return SHARP_DTYPE_LONG;
    case Type::float32:
      return SHARP_DTYPE_FLOAT;
    case Type::float64:
      return SHARP_DTYPE_DOUBLE;
    case Type::uint16:
      return SHARP_DTYPE_UNSIGNED_SHORT;
    case Type::int16:
      return SHARP_DTYPE_SHORT;
    case Type::float16:
      return SHARP_DTYPE_FLOAT_SHORT;
    case Type::uint8:
    case Type::byte:  // bitwise operators only
      return SHARP_DTYPE_UINT8;
    case Type::int8:
      return SHARP_DTYPE_INT8;
    default:
      return SHARP_DTYPE_NULL;
  }
}

sharp_reduce_op op_of(Op op) {
  switch (op) {
    case Op::max:
      return SHARP_OP_MAX;
    case Op::min:
      return SHARP_OP_MIN;
    case Op::sum:
      return SHARP_OP_SUM;
    case Op::prod:
      return SHARP_OP_PROD;
    case Op::land:
      return SHARP_OP_LAND;
    case Op::band:
      return SHARP_OP_BAND;
    case Op::lor:
      return SHARP_OP_LOR;
    case Op::bor:
      return SHARP_OP_BOR;
    case Op::lxor:
      return SHARP_OP_LXOR;
    case Op::bxor:
      return SHARP_OP_BXOR;
    default:
      return SHARP_OP_NULL;  // pairs would need a tag type
  }
}

/// The interface calls back through plain functions, which must not throw.
template <class Body>
int guarded(Body body) noexcept {
  try {
    body();
    return 0;
  } catch (const std::exception& error) {
    print_to(stderr, "espalier: an exchange for the SHARP library failed: {}\n", error.what());
    return -1;
  }
}

OutOfBand& exchange_of(void* context) { return *static_cast<OutOfBand*>(context); }

int oob_bcast(void* context, void* data, int bytes, int root) {
  return guarded([&] { exchange_of(context).bcast(data, static_cast<std::size_t>(bytes), root); });
}
int oob_barrier(void* context) {
  return guarded([&] { exchange_of(context).barrier(); });
}
int oob_gather(void* context, int root, void* send, void* receive, int bytes) {
  return guarded([&] { exchange_of(context).gather(root, send, receive, static_cast<std::size_t>(bytes)); });
}

void check(const SharpLibrary& library, int code, const char* what) {
  if (code >= 0) return;
  const std::string more = library.last_problem ? formatted(" ({})", printable(library.last_problem())) : "";
  throw SharpError(code, formatted("{}: {}{}", what, decode_sharp(code), more));
}

}  // namespace

std::string SharpCaps::objection(const reduce::Operation& operation) const {
  const sharp_datatype type = datatype_of(operation.type);
  const sharp_reduce_op op = op_of(operation.op);
  if (type == SHARP_DTYPE_NULL || (types >> type & 1) == 0)
    return formatted("the aggregation nodes do not have the type {}", reduce::to_string(operation.type));
  if (op == SHARP_OP_NULL || (ops >> op & 1) == 0)
    return formatted("the aggregation nodes do not have the operator {}", reduce::to_string(operation.op));
  return "";
}

SharpCaps SharpCaps::operator&(const SharpCaps& other) const {
  return {types & other.types, ops & other.ops, std::min(payload, other.payload),
          std::min(slots, other.slots)};
}

struct SharpJob::Handle {
  const SharpLibrary& library;
  sharp_coll_context* context = nullptr;
};

void SharpJob::load(const std::string& path) { SharpLibrary::load(path); }

SharpJob::SharpJob(OutOfBand& processes, const Description& description)
    : handle_(new Handle{SharpLibrary::load(description.library)}) {
  const SharpLibrary& library = handle_->library;
  sharp_coll_init_spec spec{};
  spec.job_id = description.job;
  spec.world_rank = processes.rank();
  spec.world_size = processes.size();
  spec.world_local_rank = description.local_rank;
  spec.progress_func = description.progress;
  spec.enable_thread_support = 1;
  spec.config = *library.default_config;
  spec.config.coll_timeout = description.timeout_ms;
  // Failures are agreed and reported by us. And groups get what they need when they are made: a failure at
  // the first operation could not be agreed any more (facts: NCCL and UCC switch the laziness off, too).
  spec.config.flags |= SHARP_COLL_HIDE_ERRORS | SHARP_COLL_DISABLE_LAZY_GROUP_RESOURCE_ALLOC;
  spec.oob_colls = {oob_bcast, oob_barrier, oob_gather};
  spec.oob_ctx = &processes;
  check(library, library.init(&spec, &handle_->context), "sharp_coll_init");
  sharp_coll_caps caps{};
  const int code = library.caps_query(handle_->context, &caps);
  if (code < 0) library.finalize(handle_->context);
  check(library, code, "sharp_coll_caps_query");
  caps_ = {caps.support_mask.dtypes, caps.support_mask.reduce_ops,
           static_cast<std::size_t>(std::max(0, caps.resources.user_data_per_ost)),
           std::max(1, caps.resources.osts_per_group)};
}

SharpJob::~SharpJob() {
  if (handle_->context) handle_->library.finalize(handle_->context);
}

struct SharpGroup::Handle {
  const SharpLibrary& library;
  sharp_coll_context* context;
  std::vector<std::uint32_t> processes;
  sharp_coll_comm* comm = nullptr;
  void* registration = nullptr;

  sharp_coll_data_desc describe(std::byte* data, std::size_t bytes) const {
    sharp_coll_data_desc result{};
    result.type = SHARP_DATA_BUFFER;
    result.mem_type = SHARP_MEM_TYPE_HOST;
    result.buffer.ptr = data;
    result.buffer.length = bytes;
    result.buffer.mem_handle = registration;
    return result;
  }
};

SharpGroup::SharpGroup(SharpJob& job, OutOfBand& leaders, const std::vector<std::uint32_t>& processes,
                       std::span<std::byte> memory)
    : handle_(new Handle{job.handle_->library, job.handle_->context, processes}) {
  const SharpLibrary& library = handle_->library;
  sharp_coll_comm_init_spec spec{};
  spec.rank = leaders.rank();
  spec.size = leaders.size();
  spec.oob_ctx = &leaders;
  spec.group_world_ranks = handle_->processes.data();
  check(library, library.comm_init(handle_->context, &spec, &handle_->comm), "sharp_coll_comm_init");
  const int code = library.reg_mr(handle_->context, memory.data(), memory.size(), &handle_->registration);
  if (code < 0) library.comm_destroy(handle_->comm);
  check(library, code, "sharp_coll_reg_mr");
}

SharpGroup::~SharpGroup() {
  handle_->library.dereg_mr(handle_->context, handle_->registration);
  handle_->library.comm_destroy(handle_->comm);
}

SharpGroup::Operation::~Operation() {
  if (request_) group_->handle_->library.req_free(request_);
}

/// Only req_wait tells how an operation ended; after a successful test it does not wait.
bool SharpGroup::Operation::test() {
  const SharpLibrary& library = group_->handle_->library;
  if (!library.req_test(request_)) return false;
  check(library, library.req_wait(std::exchange(request_, nullptr)), "an operation of a SHARP group");
  return true;
}

SharpGroup::Operation SharpGroup::barrier() {
  void* request = nullptr;
  check(handle_->library, handle_->library.do_barrier_nb(handle_->comm, &request),
        "sharp_coll_do_barrier_nb");
  return {*this, request};
}

SharpGroup::Operation SharpGroup::allreduce(std::byte* source, std::byte* target, std::size_t bytes,
                                            const reduce::Operation& operation) {
  sharp_coll_reduce_spec spec{};
  spec.sbuf_desc = handle_->describe(source, bytes);
  spec.rbuf_desc = handle_->describe(target, bytes);
  spec.dtype = datatype_of(operation.type);
  spec.op = op_of(operation.op);
  spec.length = bytes / operation.extent;
  spec.tag_dtype = SHARP_DTYPE_NULL;
  spec.aggr_mode = SHARP_AGGREGATION_NONE;
  void* request = nullptr;
  check(handle_->library, handle_->library.do_allreduce_nb(handle_->comm, &spec, &request),
        "sharp_coll_do_allreduce_nb");
  return {*this, request};
}

}  // namespace espalier::network
