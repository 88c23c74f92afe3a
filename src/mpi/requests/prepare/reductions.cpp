// Persistent reduce, allreduce and reduce_scatter(_block).
#include "base/by_rank.hpp"
#include "generated/mpi/requests/prepare/make.hpp"
#include "mpi/requests/prepare/brief.hpp"
#include "mpi/requests/prepare/reduction.hpp"

namespace espalier::mpi::persistent {
namespace {

/// `counts`: the elements that each rank gets.
void make_scattered(const Call& call, Entry& entry, Collective collective, const ByRank<std::size_t>& counts,
                    MPI_Count elements, Draft& draft) {
  if (is_brief_scattered(call, collective, {counts.begin(), counts.size()}, entry, draft)) return;
  const collective::RankInfo rank_info = rank_info_of(entry);
  const bool is_target = counts[static_cast<std::size_t>(rank_info.rank)] > 0 || is_in_place(call.send);
  if (is_by_user(call)) [[unlikely]]
    return make_user_fold(call, entry, {elements, is_target, {counts.begin(), counts.size()}}, draft);
  make_reduction(
      call, entry, elements, is_target, draft,
      [&](const std::byte* send, std::byte* receive, const reduce::Operation& operation, std::size_t) {
        std::vector<std::size_t> shares;
        for (const std::size_t count : counts) shares.push_back(count * operation.extent);
        return collective::reduce_scatter_spec(rank_info, collective, send, receive, shares, operation,
                                               std::move(draft.spec));
      });
}

}  // namespace

void make_reduce(const Call& call, Entry& entry, Draft& draft) {
  if (!is_rank(call.root, *entry.communicator)) {
    draft.unable = bad_arguments;
    return;
  }
  const bool is_target = entry.communicator->rank() == call.root;
  if (is_brief_reduction(call, Collective::reduce, is_target, entry, draft)) return;
  make_plain(call, entry, Collective::reduce, is_target, draft);
}

void make_allreduce(const Call& call, Entry& entry, Draft& draft) {
  if (is_brief_reduction(call, Collective::allreduce, true, entry, draft)) return;
  make_plain(call, entry, Collective::allreduce, true, draft);
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
