// Reduce, allreduce and reduce_scatter(_block).
#include "base/by_rank.hpp"
#include "generated/mpi/collectives/collectives.hpp"
#include "generated/mpi/collectives/forward.hpp"
#include "mpi/collectives/serve_reduction.hpp"

namespace espalier::mpi {
namespace {

using runtime::Communicator;

int serve_reduce(Entry& entry, const Call& call, std::size_t& bytes) {
  if (!is_rank(call.root, *entry.communicator)) return to_host;
  Communicator& communicator = *entry.communicator;
  const Shape shape = {Collective::reduce, call.count, communicator.rank() == call.root};
  return serve_shape(
      entry, call, shape, bytes,
      [&](const void* send, const reduce::Operation& operation) {
        return communicator.reduce(send, call.receive, static_cast<std::size_t>(call.count), operation,
                                   call.root);
      },
      [&](UserReduction& reduction, const void* send) {
        return reduction.reduce(communicator, send, call.receive, call.root);
      });
}

int serve_allreduce(Entry& entry, const Call& call, std::size_t& bytes) {
  Communicator& communicator = *entry.communicator;
  return serve_shape(
      entry, call, {Collective::allreduce, call.count, true}, bytes,
      [&](const void* send, const reduce::Operation& operation) {
        return communicator.allreduce(send, call.receive, static_cast<std::size_t>(call.count), operation);
      },
      [&](UserReduction& reduction, const void* send) {
        return reduction.allreduce(communicator, send, call.receive);
      });
}

int serve_reduce_scatter_block(Entry& entry, const Call& call, std::size_t& bytes) {
  MPI_Count elements = 0;
  if (call.count < 0 || __builtin_mul_overflow(call.count, entry.communicator->size(), &elements))
    return to_host;
  Communicator& communicator = *entry.communicator;
  return serve_shape(
      entry, call, {Collective::reduce_scatter_block, elements, true}, bytes,
      [&](const void* send, const reduce::Operation& operation) {
        return communicator.reduce_scatter_block(send, call.receive, static_cast<std::size_t>(call.count),
                                                 operation);
      },
      [&](UserReduction& reduction, const void* send) {
        return reduction.reduce_scatter_block(communicator, send, call.receive);
      });
}

int serve_reduce_scatter(Entry& entry, const Call& call, std::size_t& bytes) {
  if (!call.counts.data()) return to_host;
  Communicator& communicator = *entry.communicator;
  MPI_Count elements = 0;
  ByRank<std::size_t> counts(static_cast<std::size_t>(communicator.size()));
  if (!read_counts(call.counts, counts, elements)) return to_host;
  // A rank without a block may pass any receive buffer.
  const bool is_target = counts[static_cast<std::size_t>(communicator.rank())] > 0 || is_in_place(call.send);
  return serve_shape(
      entry, call, {Collective::reduce_scatter, elements, is_target}, bytes,
      [&](const void* send, const reduce::Operation& operation) {
        return communicator.reduce_scatter(send, is_target ? call.receive : nullptr, counts, operation);
      },
      [&](UserReduction& reduction, const void* send) {
        return reduction.reduce_scatter(communicator, send, is_target ? call.receive : nullptr, counts);
      });
}

}  // namespace

int reduce(const Call& call, void* caller) {
  return perform<Collective::reduce, serve_reduce, forward_reduce>(call, caller);
}

int allreduce(const Call& call, void* caller) {
  return perform<Collective::allreduce, serve_allreduce, forward_allreduce>(call, caller);
}

int reduce_scatter_block(const Call& call, void* caller) {
  return perform<Collective::reduce_scatter_block, serve_reduce_scatter_block, forward_reduce_scatter_block>(
      call, caller);
}

int reduce_scatter(const Call& call, void* caller) {
  return perform<Collective::reduce_scatter, serve_reduce_scatter, forward_reduce_scatter>(call, caller);
}

}  // namespace espalier::mpi
