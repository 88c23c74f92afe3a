// A short block from every rank for every other, in groups: within each group a rank collects what its group has
// for some ranks of all groups, and these take it there. A rank reads from its group and from one rank of each
// other group instead of from all.
#pragma once

#include <vector>

#include "collective/core/blocks.hpp"
#include "collective/core/chunks.hpp"
#include "collective/core/rank_groups.hpp"
#include "collective/core/readers.hpp"

namespace espalier::collective {

/// Which rank of a group collects for whom: the k-th for each rank t that is the k-th of its own group, modulo
/// the ranks of the collecting group. Those are the rank's *targets*, in rank order.
class Targets {
 public:
  Targets(const RankGroups& groups, int group) : groups_(groups), stride_(groups.size_of(group)) {}

  int collectors() const { return stride_; }
  int collector_for(int rank) const { return place_in_group(rank) % stride_; }
  /// Calls visit(rank) for each target of the k-th.
  template <class Visit>
  void for_each(int k, const Visit& visit) const {
    for (int group = 0; group < groups_.count(); ++group)
      for (int rank = groups_.first(group) + k; rank < groups_.end(group); rank += stride_) visit(rank);
  }
  int count(int k) const { return count_before(k, groups_.count()); }
  /// How many targets its collector has before this rank.
  int index_of(int rank) const {
    return count_before(collector_for(rank), groups_.group_of(rank)) + place_in_group(rank) / stride_;
  }

 private:
  int place_in_group(int rank) const { return rank - groups_.first(groups_.group_of(rank)); }
  int count_before(int k, int group) const {
    int count = 0;
    for (int each = 0; each < group; ++each)
      if (const int ranks = groups_.size_of(each); ranks > k) count += (ranks - k - 1) / stride_ + 1;
    return count;
  }

  RankGroups groups_;
  int stride_;
};

/// Blocks of one length, in parts: part i of every block travels in chunk i.
template <Machine M>
class GroupedExchange {
 public:
  /// `element`: what must not be cut.
  GroupedExchange(M& m, std::size_t block, const Plan& plan, std::size_t element = 1)
      : m_(m),
        groups_(m.size()),
        group_(groups_.group_of(m.rank())),
        first_(groups_.first(group_)),
        own_(groups_, group_),
        block_(block),
        parts_(most_parts(groups_)),
        chunks_(m, parts_ * block, plan, parts_ * element) {}

  /// Whether the slots have room for an element of every block that a rank shows.
  static bool fits(const M& m, std::size_t element) {
    return most_parts(RankGroups(m.size())) * element <= m.slot_bytes() * static_cast<std::size_t>(m.slots());
  }

  /// `take(data, rank, count, part)`: the parts of this rank's blocks from `count` ranks, from `rank` on, lie
  /// one after the other in `data`. `done(part)`: all have been taken.
  template <class Take, class Done>
  void run(const void* send, const Take& take, const Done& done) {
    for (std::size_t i = 0; i < chunks_.count(); ++i) {
      const Chunk chunk = chunks_.next(m_, i);
      const Steps relayed = m_.advance(chunks_.span(), chunks_.chunk_bytes());
      const Part part{chunk.offset / parts_, chunk.bytes / parts_};
      show(chunk.steps, send, part);
      collect(chunk.steps, send, part);
      m_.finish(chunk.step());
      relay(relayed, part);
      receive(relayed, part, take);
      done(part);
      // Each rank from which this one has read has heard from its whole group.
      m_.all_finished(chunk.steps.first - 1);
      m_.finish(relayed.last());
    }
  }

 private:
  /// The most that a rank shows at a time: its own blocks, or those that it has collected.
  static std::size_t most_parts(const RankGroups& groups) {
    int most = groups.end(groups.count() - 1);
    for (const int group : {0, groups.count() - 1}) {
      const Targets targets(groups, group);
      most = std::max(most, targets.count(0) * targets.collectors());
    }
    return static_cast<std::size_t>(most);
  }

  const std::byte* part_of_block(const void* send, int rank, const Part& part) const {
    return at(send, static_cast<std::size_t>(rank) * block_ + part.offset);
  }
  std::size_t bytes_for(int targets, const Part& part) const {
    return static_cast<std::size_t>(targets) * part.bytes;
  }

  /// What each collector of the group fetches lies together.
  void show(const Steps& steps, const void* send, const Part& part) {
    m_.reserve(steps);
    std::byte* slot = m_.slot(m_.rank(), steps);
    std::byte* next = slot;
    for (int k = 0; k < own_.collectors(); ++k)
      own_.for_each(k, [&](int rank) {
        m_.write_slot(next, part_of_block(send, rank, part), part.bytes);
        next += part.bytes;
      });
    m_.flush_for_readers(slot, static_cast<std::size_t>(next - slot));
    m_.set_readers(steps, readers(m_, first_, groups_.end(group_) - 1));
    m_.publish(Channel::gather, steps.last());
  }

  /// What all ranks of the group have for this one's targets. From each at once, for most of it shares lines.
  void collect(const Steps& shown, const void* send, const Part& part) {
    const int me = m_.rank() - first_, ranks = own_.collectors();
    int below = 0;
    for (int k = 0; k < me; ++k) below += own_.count(k);
    const std::size_t each = bytes_for(own_.count(me), part);
    collected_.resize(each * static_cast<std::size_t>(ranks));
    for (int i = 0; i < ranks; ++i) {
      const int from = (me + i) % ranks;
      std::byte* target = collected_.data() + each * static_cast<std::size_t>(from);
      if (from == me) {
        take_own(target, send, part);
        continue;
      }
      m_.await(Channel::gather, first_ + from, shown.last());
      m_.copy(target, m_.slot(first_ + from, shown) + bytes_for(below, part), each);
    }
  }
  void take_own(std::byte* target, const void* send, const Part& part) {
    own_.for_each(m_.rank() - first_, [&](int rank) {
      m_.copy(target, part_of_block(send, rank, part), part.bytes);
      target += part.bytes;
    });
  }

  /// What lies together now is for one target, in the order of the group's ranks. No rank waits here for one that
  /// is still to collect: where slots are few, this one's hold what others have come for.
  void relay(const Steps& relayed, const Part& part) {
    const int ranks = own_.collectors(), targets = own_.count(m_.rank() - first_);
    m_.reserve(relayed);
    std::byte* slot = m_.slot(m_.rank(), relayed);
    for (int target = 0; target < targets; ++target)
      for (int from = 0; from < ranks; ++from)
        m_.write_slot(slot + bytes_for(target * ranks + from, part),
                      collected_.data() + bytes_for(from * targets + target, part), part.bytes);
    m_.flush_for_readers(slot, bytes_for(targets * ranks, part));
    m_.set_readers(relayed, m_.other_ranks());
    m_.publish(Channel::gather, relayed.last());
  }

  template <class Take>
  void receive(const Steps& relayed, const Part& part, const Take& take) {
    for (int i = 0; i < groups_.count(); ++i) {
      const int group = groups_.behind(group_, i);
      const Targets targets(groups_, group);
      const int relay = groups_.first(group) + targets.collector_for(m_.rank());
      if (relay != m_.rank()) m_.await(Channel::gather, relay, relayed.last());
      const std::size_t place = bytes_for(targets.index_of(m_.rank()) * targets.collectors(), part);
      take(m_.slot(relay, relayed) + place, groups_.first(group), targets.collectors(), part);
    }
  }

  M& m_;
  RankGroups groups_;
  int group_, first_;
  Targets own_;
  std::size_t block_, parts_;
  Chunks chunks_;
  std::vector<std::byte> collected_;
};

}  // namespace espalier::collective
