// The collectives with an operator.
#include "base/by_rank.hpp"
#include "mpi/collectives/collectives.hpp"
#include "mpi/collectives/forward.hpp"
#include "mpi/collectives/reduction_arguments.hpp"
#include "mpi/collectives/serve.hpp"
#include "mpi/collectives/user_reduction.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/host/handles.hpp"

namespace espalier::mpi {
namespace {

using runtime::Communicator;

/// What a kind of reduction makes of a call.
struct Shape {
  Collective collective;
  MPI_Count elements;  ///< of each rank's vector
  bool is_target;      ///< a result comes to this rank; without one `receive` may hold anything
};

bool buffers_fit(const Call& call, bool is_target, const Layout& layout) {
  const bool has_source = is_in_place(call.send) ? is_target : may_begin_at(call.send, layout);
  return has_source && (!is_target || may_begin_at(call.receive, layout));
}

/// Reductions other than a kernel on valid arguments.
template <class ByUser>
int reduce_other(Entry& entry, const Call& call, const Shape& shape, std::size_t& bytes, ByUser by_user) {
  const auto op = typed<MPI_Op>(call.op);
  const auto datatype = typed<MPI_Datatype>(call.type);
  Layout layout;
  if (shape.elements < 0 || datatype == host.constants.datatype_null || op == host.constants.op_null ||
      !lay_out(datatype, shape.elements, layout) || !buffers_fit(call, shape.is_target, layout))
    return to_host;
  bytes = layout.bytes();
  const PredefinedType* type = predefined_type(layout.type);
  const PredefinedOp* predefined = predefined_op(op);
  const bool is_known = type || (predefined && operation_on_unnamed(datatype, *predefined));
  if (predefined && (predefined->op == reduce::Op::none || !is_known))
    return refuse(entry, shape.collective, bytes, why_no_kernel(type, *predefined));
  if (predefined && type && !operation(*type, *predefined) &&
      service_of(*type, *predefined) == Service::left_to_host)
    return to_host;
  if (bytes == 0) return MPI_SUCCESS;
  UserReduction reduction(op, layout, entry.comm);
  return served(by_user(reduction, shape.is_target ? source(call) : call.send), entry, shape.collective,
                bytes);
}

/// `by_kernel(send, operation)` and `by_user(reduction, send)` call the runtime.
template <class ByKernel, class ByUser>
int serve_shape(Entry& entry, const Call& call, const Shape& shape, std::size_t& bytes, ByKernel by_kernel,
                ByUser by_user) {
  if (is_alias_for_host(call, shape.collective, shape.elements, shape.is_target)) [[unlikely]]
    return to_host;
  const reduce::Operation* found = kernel(call, shape.elements, bytes);
  if (!found) [[unlikely]]
    found = kernel_by_host(call, shape.elements, bytes);
  if (!found || !plain_buffers(call, shape.is_target)) [[unlikely]]
    return reduce_other(entry, call, shape, bytes, by_user);
  const bool done = by_kernel(shape.is_target ? source(call) : call.send, *found);
  return served(done, entry, shape.collective, bytes);
}

int serve_reduce(const Call& call, void* caller, std::size_t& bytes) {
  Entry* entry = entry_of(call.comm, caller);
  if (!entry || !is_rank(call.root, *entry->communicator)) return to_host;
  Communicator& communicator = *entry->communicator;
  const Shape shape = {Collective::reduce, call.count, communicator.rank() == call.root};
  return serve_shape(
      *entry, call, shape, bytes,
      [&](const void* send, const reduce::Operation& operation) {
        return communicator.reduce(send, call.receive, static_cast<std::size_t>(call.count), operation,
                                   call.root);
      },
      [&](UserReduction& reduction, const void* send) {
        return reduction.reduce(communicator, send, call.receive, call.root);
      });
}

int serve_allreduce(const Call& call, void* caller, std::size_t& bytes) {
  Entry* entry = entry_of(call.comm, caller);
  if (!entry) return to_host;
  Communicator& communicator = *entry->communicator;
  return serve_shape(
      *entry, call, {Collective::allreduce, call.count, true}, bytes,
      [&](const void* send, const reduce::Operation& operation) {
        return communicator.allreduce(send, call.receive, static_cast<std::size_t>(call.count), operation);
      },
      [&](UserReduction& reduction, const void* send) {
        return reduction.allreduce(communicator, send, call.receive);
      });
}

int serve_scan(const Call& call, void* caller, std::size_t& bytes) {
  Entry* entry = entry_of(call.comm, caller);
  if (!entry) return to_host;
  Communicator& communicator = *entry->communicator;
  return serve_shape(
      *entry, call, {Collective::scan, call.count, true}, bytes,
      [&](const void* send, const reduce::Operation& operation) {
        return communicator.scan(send, call.receive, static_cast<std::size_t>(call.count), operation);
      },
      [&](UserReduction& reduction, const void* send) {
        return reduction.scan(communicator, send, call.receive);
      });
}

int serve_exscan(const Call& call, void* caller, std::size_t& bytes) {
  Entry* entry = entry_of(call.comm, caller);
  if (!entry) return to_host;
  Communicator& communicator = *entry->communicator;
  // Rank 0 gets nothing; in place its buffer still holds what it gives.
  const bool is_target = communicator.rank() != 0 || is_in_place(call.send);
  return serve_shape(
      *entry, call, {Collective::exscan, call.count, is_target}, bytes,
      [&](const void* send, const reduce::Operation& operation) {
        return communicator.exscan(send, is_target ? call.receive : nullptr,
                                   static_cast<std::size_t>(call.count), operation);
      },
      [&](UserReduction& reduction, const void* send) {
        return reduction.exscan(communicator, send, is_target ? call.receive : nullptr);
      });
}

int serve_reduce_scatter_block(const Call& call, void* caller, std::size_t& bytes) {
  Entry* entry = entry_of(call.comm, caller);
  MPI_Count elements = 0;
  if (!entry || call.count < 0 || __builtin_mul_overflow(call.count, entry->communicator->size(), &elements))
    return to_host;
  Communicator& communicator = *entry->communicator;
  return serve_shape(
      *entry, call, {Collective::reduce_scatter_block, elements, true}, bytes,
      [&](const void* send, const reduce::Operation& operation) {
        return communicator.reduce_scatter_block(send, call.receive, static_cast<std::size_t>(call.count),
                                                 operation);
      },
      [&](UserReduction& reduction, const void* send) {
        return reduction.reduce_scatter_block(communicator, send, call.receive);
      });
}

int serve_reduce_scatter(const Call& call, void* caller, std::size_t& bytes) {
  Entry* entry = entry_of(call.comm, caller);
  if (!entry || !call.counts.data()) return to_host;
  Communicator& communicator = *entry->communicator;
  MPI_Count elements = 0;
  ByRank<std::size_t> counts(static_cast<std::size_t>(communicator.size()));
  if (!read_counts(call.counts, counts, elements)) return to_host;
  // A rank without a block may pass any receive buffer.
  const bool is_target = counts[static_cast<std::size_t>(communicator.rank())] > 0 || is_in_place(call.send);
  return serve_shape(
      *entry, call, {Collective::reduce_scatter, elements, is_target}, bytes,
      [&](const void* send, const reduce::Operation& operation) {
        return communicator.reduce_scatter(send, is_target ? call.receive : nullptr, counts, operation);
      },
      [&](UserReduction& reduction, const void* send) {
        return reduction.reduce_scatter(communicator, send, is_target ? call.receive : nullptr, counts);
      });
}

}  // namespace

int reduce(const Call& call, void* caller) {
  return perform<serve_reduce, forward_reduce>(call, caller, Collective::reduce);
}

int allreduce(const Call& call, void* caller) {
  return perform<serve_allreduce, forward_allreduce>(call, caller, Collective::allreduce);
}

int reduce_scatter_block(const Call& call, void* caller) {
  return perform<serve_reduce_scatter_block, forward_reduce_scatter_block>(call, caller,
                                                                           Collective::reduce_scatter_block);
}

int reduce_scatter(const Call& call, void* caller) {
  return perform<serve_reduce_scatter, forward_reduce_scatter>(call, caller, Collective::reduce_scatter);
}

int scan(const Call& call, void* caller) {
  return perform<serve_scan, forward_scan>(call, caller, Collective::scan);
}

int exscan(const Call& call, void* caller) {
  return perform<serve_exscan, forward_exscan>(call, caller, Collective::exscan);
}

}  // namespace espalier::mpi
