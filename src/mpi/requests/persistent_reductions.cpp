// Persistent barrier and reductions.
#include "mpi/collectives/reduction_arguments.hpp"
#include "mpi/requests/persistent_collectives.hpp"

namespace espalier::mpi::persistent {
namespace {

using collective::RankInfo;

/// `elements`: of a rank's vector. `make_spec(send, receive, operation, bytes)` is called for what kernels
/// can do.
template <class MakeSpec>
void make_reduction(const Call& call, Entry& entry, MPI_Count elements, bool is_target, Draft& draft,
                    MakeSpec make_spec) {
  const auto datatype = typed<MPI_Datatype>(call.type);
  const PredefinedType* type = predefined_type(datatype);
  const PredefinedOp* op = predefined_op(typed<MPI_Op>(call.op));
  std::size_t bytes = 0;
  const reduce::Operation* operation = kernel(call, elements, bytes);
  if (!operation) operation = kernel_by_host(call, elements, bytes);
  if (elements < 0 || datatype == host.constants.datatype_null ||
      typed<MPI_Op>(call.op) == host.constants.op_null) {
    draft.unable = bad_arguments;
  } else if (!op) {
    draft.unable = "a user-defined operator in a persistent collective";
  } else if (elements > 0 && !operation) {
    const bool is_wrong = type && service_of(*type, *op) == Service::left_to_host;
    draft.unable = is_wrong ? bad_arguments : why_no_kernel(type, *op);
  } else if (elements > 0 && (!plain_buffers(call, is_target) ||
                              is_alias_for_host(call, draft.spec.collective, elements, is_target))) {
    draft.unable = bad_arguments;
  } else if (elements > 0) {
    auto* receive = static_cast<std::byte*>(call.receive);
    const bool in_place = is_target && source(call) == runtime::Communicator::in_place;
    const auto* send = in_place ? receive : static_cast<const std::byte*>(call.send);
    draft.spec = make_spec(send, receive, *operation, bytes);
  } else {  // nothing is moved
    const collective::PersistentSpec& asked = draft.spec;
    draft.spec = collective::transfer_spec(rank_info_of(entry), asked.collective, asked.root, 0, {}, {});
  }
}

void make_plain(const Call& call, Entry& entry, Collective collective, bool is_target, Draft& draft) {
  make_reduction(
      call, entry, call.count, is_target, draft,
      [&](const std::byte* send, std::byte* receive, const reduce::Operation& operation, std::size_t bytes) {
        return collective::reduction_spec(rank_info_of(entry), collective, call.root, send, receive, bytes,
                                          operation);
      });
}

/// `counts`: the elements that each rank gets.
void make_scattered(const Call& call, Entry& entry, Collective collective, const ByRank<std::size_t>& counts,
                    MPI_Count elements, Draft& draft) {
  const RankInfo rank_info = rank_info_of(entry);
  const bool is_target = counts[static_cast<std::size_t>(rank_info.rank)] > 0 || is_in_place(call.send);
  make_reduction(
      call, entry, elements, is_target, draft,
      [&](const std::byte* send, std::byte* receive, const reduce::Operation& operation, std::size_t) {
        std::vector<std::size_t> shares;
        for (const std::size_t count : counts) shares.push_back(count * operation.extent);
        return collective::reduce_scatter_spec(rank_info, collective, send, receive, shares, operation);
      });
}

}  // namespace

void make_barrier(const Call&, Entry& entry, Draft& draft) {
  draft.spec = collective::barrier_spec(rank_info_of(entry));
}

void make_reduce(const Call& call, Entry& entry, Draft& draft) {
  if (!is_rank(call.root, *entry.communicator)) {
    draft.unable = bad_arguments;
    return;
  }
  make_plain(call, entry, Collective::reduce, entry.communicator->rank() == call.root, draft);
}

void make_allreduce(const Call& call, Entry& entry, Draft& draft) {
  make_plain(call, entry, Collective::allreduce, true, draft);
}

void make_scan(const Call& call, Entry& entry, Draft& draft) {
  make_plain(call, entry, Collective::scan, true, draft);
}

void make_exscan(const Call& call, Entry& entry, Draft& draft) {
  const bool is_target = entry.communicator->rank() != 0 || is_in_place(call.send);
  make_plain(call, entry, Collective::exscan, is_target, draft);
}

void make_reduce_scatter_block(const Call& call, Entry& entry, Draft& draft) {
  const auto ranks = static_cast<std::size_t>(entry.communicator->size());
  MPI_Count elements = 0;
  if (call.count < 0 || __builtin_mul_overflow(call.count, ranks, &elements)) {
    draft.unable = bad_arguments;
    return;
  }
  ByRank<std::size_t> counts(ranks);
  std::fill(counts.begin(), counts.end(), static_cast<std::size_t>(call.count));
  make_scattered(call, entry, Collective::reduce_scatter_block, counts, elements, draft);
}

void make_reduce_scatter(const Call& call, Entry& entry, Draft& draft) {
  MPI_Count elements = 0;
  ByRank<std::size_t> counts(static_cast<std::size_t>(entry.communicator->size()));
  if (!call.counts.data() || !read_counts(call.counts, counts, elements)) {
    draft.unable = bad_arguments;
    return;
  }
  make_scattered(call, entry, Collective::reduce_scatter, counts, elements, draft);
}

}  // namespace espalier::mpi::persistent
