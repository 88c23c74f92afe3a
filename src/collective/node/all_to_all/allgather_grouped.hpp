// Allgather and allgatherv in groups: the first rank of each group collects the blocks of its group in its slot,
// and all ranks copy them out there. A rank waits for one rank of each group instead of for all: for blocks of
// many ranks, unless they are long.
#pragma once

#include "collective/core/chunk_copies.hpp"
#include "collective/core/gather_parts.hpp"
#include "collective/core/packed_blocks.hpp"
#include "collective/core/rank_groups.hpp"
#include "collective/core/readers.hpp"
#include "collective/core/rounds.hpp"

namespace espalier::collective {

namespace detail {

/// One call of one rank. `B`: of the buffer; `Packed`: of the stream of all blocks (packed_blocks.hpp). In each
/// round every group's part of the stream goes on by a chunk.
template <Machine M, class B, class Packed>
class GroupedAllgather {
 public:
  GroupedAllgather(M& m, const void* own, void* receive, const B& blocks, const Packed& packed,
                   const Plan& plan)
      : m_(m),
        own_(own),
        receive_(receive),
        blocks_(blocks),
        packed_(packed),
        groups_(m.size()),
        group_(groups_.group_of(m.rank())),
        leader_(groups_.first(group_)),
        chunks_(m, longest(), plan),
        inlined_(plan.inlined && chunks_.count() == 1) {}

  void run() {
    const Rounds rounds = {.count = chunks_.count(),
                           .span = chunks_.span(),
                           .bytes = chunks_.chunk_bytes(),
                           .overlap = true,
                           .readers = leads() ? m_.other_ranks() : readers(m_, leader_, leader_)};
    in_rounds(
        m_, rounds, [&](const Round& round) { show(round); },
        [&](const Round& round) { return read(round); });
  }

 private:
  using Edge = StreamPart<Packed>;

  bool leads() const { return m_.rank() == leader_; }

  std::size_t longest() const {
    std::size_t most = 0;
    for (int group = 0; group < groups_.count(); ++group)
      most = std::max(most, packed_.offset_of(groups_.end(group)) - packed_.offset_of(groups_.first(group)));
    return most;
  }

  Edge edge_of(int group, const Round& round) const {
    const std::size_t first = packed_.offset_of(groups_.first(group));
    const Part part =
        part_of(packed_.offset_of(groups_.end(group)) - first, round.index, chunks_.chunk_bytes());
    return {packed_, first + part.offset, part.bytes};
  }

  /// A leader's block goes where it collects the others'; it announces them together.
  void show(const Round& round) {
    const Edge edge = edge_of(group_, round);
    const std::size_t bytes = edge(m_.rank() + 1) - edge(m_.rank());
    const void* own = at(own_, edge.in_block(m_.rank()));
    if (leads()) return m_.write_slot(m_.slot(leader_, round.steps), own, bytes);
    if (parts_ride_inline(bytes, inlined_)) {
      if (bytes > 0) m_.copy(m_.inline_buffer(Channel::gather, round.step()), own, bytes);
    } else {
      std::byte* slot = m_.slot(m_.rank(), round.steps);
      m_.write_slot(slot, own, bytes);
      m_.flush_for_readers(slot, bytes);
    }
    m_.publish(Channel::gather, round.step());
  }

  void collect(const Round& round) {
    const Edge edge = edge_of(group_, round);
    std::byte* parts = m_.slot(leader_, round.steps);
    for (int peer = leader_ + 1; peer < groups_.end(group_); ++peer) {
      m_.await(Channel::gather, peer, round.step());
      const std::size_t bytes = edge(peer + 1) - edge(peer);
      const std::byte* theirs = parts_ride_inline(bytes, inlined_)
                                    ? m_.inline_data(Channel::gather, peer, round.step())
                                    : m_.slot(peer, round.steps);
      if (bytes > 0) m_.copy(parts + edge(peer), theirs, bytes);
    }
    m_.flush_for_readers(parts, edge.bytes);
    m_.publish(Channel::release, round.step());
  }

  /// A rank that has heard from all leaders has heard from all ranks.
  bool read(const Round& round) {
    if (leads()) collect(round);
    for (int i = 0; i < groups_.count(); ++i) {
      const int group = groups_.behind(group_, i), leader = groups_.first(group);
      if (leader != m_.rank()) m_.await(Channel::release, leader, round.step());
      const Edge edge = edge_of(group, round);
      const std::byte* parts = m_.slot(leader, round.steps);
      copy_to_blocks(m_, begin_reading(m_, parts, edge.bytes), receive_, blocks_, edge, leader,
                     groups_.end(group));
    }
    return true;
  }

  M& m_;
  const void* own_;
  void* receive_;
  const B& blocks_;
  const Packed& packed_;
  RankGroups groups_;
  int group_, leader_;
  Chunks chunks_;
  bool inlined_;  ///< short blocks of ranks that do not lead ride in their lines
};

}  // namespace detail

/// `own`: this rank's block, which may be in its place in `receive` already.
template <Machine M, class B>
void allgather_grouped(M& m, const void* own, void* receive, const B& blocks, const Plan& plan) {
  const std::vector<std::size_t> edges = packed_edges(blocks, m.size());
  const PackedBlocks packed{edges};
  detail::GroupedAllgather(m, own, receive, blocks, packed, plan).run();
}
template <Machine M>
void allgather_grouped(M& m, const void* own, void* receive, const EqualBlocks& blocks, const Plan& plan) {
  detail::GroupedAllgather(m, own, receive, blocks, blocks, plan).run();
}

}  // namespace espalier::collective
