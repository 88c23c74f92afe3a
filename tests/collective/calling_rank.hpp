// A rank of a test that starts and completes nonblocking collectives of all kinds, with data that say whether the results are
// right. Those that may be brief calls are that on some ranks, and on others have a spec's lists.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <list>
#include <numeric>
#include <thread>
#include <vector>

#include "collective/schedule/calls_under_way.hpp"
#include "tests/collective/doubles.hpp"
#include "tests/collective/ranks.hpp"
#include "tests/collective/under_way.hpp"

namespace espalier::testing {

using Doubles = std::vector<double>;

/// Used by one thread.
class CallingRank {
 public:
  using Calls = collective::CallsUnderWay<WatchedMachine, RankMemoryOf>;

  CallingRank(WatchedMachine& m, SharedMemory& memory, bool seems_to_have_room = true)
      : m_(m), memory_(memory.for_a_rank()), calls_(m, memory.with(memory_)) {
    memory_.seems_to_have_room = seems_to_have_room;
  }

  struct Started {
    collective::CallUnderWay call;
    Doubles send, receive, wanted;
  };
  /// False: there is no memory for it.
  bool start(Collective collective, std::size_t count, int round) {
    Started& started = started_.emplace_back();
    started.call.spec = spec_of(collective, count, round, started);
    started.call.is_brief = may_be_brief(started.call.spec) && (m_.rank() + round) % 3 != 0;
    started.call.brief = brief(started, count);
    if (calls_.start(started.call)) return true;
    started_.pop_back();
    return false;
  }
  void complete(Started& started) {
    while (!calls_.advance(started.call)) {
      calls_.advance_all();
      std::this_thread::yield();
    }
    EXPECT_EQ(started.receive, started.wanted);
  }
  void complete_all(bool last_first) {
    while (!started_.empty()) {
      const auto next = last_first ? std::prev(started_.end()) : started_.begin();
      complete(*next);
      started_.erase(next);
    }
  }
  Calls& calls() { return calls_; }

 private:
  bool may_be_brief(const collective::PersistentSpec& spec) const {
    using enum Collective;
    constexpr std::array kinds = {barrier, bcast,    reduce, allreduce, allgather,      alltoall,  gather,
                                  scatter, scatterv, scan,   exscan,    reduce_scatter, allgatherv};
    if (spec.collective == scatterv && m_.rank() == 0) return false;  // the root has blocks of many lengths
    if (spec.collective == reduce_scatter && spec.fold.bytes * 2 != spec.bytes) return false;
    const bool has_blocks = spec.collective == alltoall || spec.collective == reduce_scatter;
    const std::size_t blocks = has_blocks ? static_cast<std::size_t>(m_.size()) : 1;
    const std::size_t bytes = spec.collective == scatterv ? spec.arrives_from(0) : spec.bytes;
    return bytes / blocks <= collective::longest_brief_block(spec.collective, m_.size()) &&
           std::count(kinds.begin(), kinds.end(), spec.collective) > 0;
  }
  collective::BriefCall brief(Started& started, std::size_t count) const {
    const Collective collective = started.call.spec.collective;
    if (collective == Collective::allgatherv) return brief_pair(started);
    if (collective == Collective::scatterv || collective == Collective::reduce_scatter)
      count = started.receive.size();
    return collective::brief_of_equal_blocks(collective, started.call.spec.root, {m_.rank(), m_.size()},
                                             bytes_of(started.send), bytes_of(started.receive), count * 8);
  }
  /// Of two ranks, whose blocks are of different lengths.
  collective::BriefCall brief_pair(Started& started) const {
    const std::size_t given = started.send.size() * 8, all = started.receive.size() * 8;
    std::byte* const receive = bytes_of(started.receive);
    const std::size_t own = m_.rank() == 0 ? 0 : all - given, other = m_.rank() == 0 ? given : 0;
    return {.send = bytes_of(started.send),
            .receive = receive + other,
            .block = all - given,
            .keep = {bytes_of(started.send), receive + own, given},
            .other_given = given};
  }
  collective::PersistentSpec spec_of(Collective collective, std::size_t count, int round, Started& to);
  collective::PersistentSpec transfer(Collective collective, const std::vector<std::size_t>& sent,
                                      const std::vector<std::size_t>& received, std::size_t bytes, int round,
                                      Started& to);

  WatchedMachine& m_;
  RankMemory memory_;
  Calls calls_;
  std::list<Started> started_;
};

/// `sent`, `received`: how many numbers go to each rank, or come from it. A bcast or allgather(v) has one block
/// for all. `bytes`: as all ranks know them.
inline collective::PersistentSpec CallingRank::transfer(Collective collective,
                                                        const std::vector<std::size_t>& sent,
                                                        const std::vector<std::size_t>& received,
                                                        std::size_t bytes, int round, Started& to) {
  const int rank = m_.rank(), n = m_.size();
  const bool is_one = collective == Collective::bcast || collective == Collective::allgather ||
                      collective == Collective::allgatherv;
  for (int peer = 0; peer < n; ++peer) {
    const auto i = static_cast<std::size_t>(peer);
    if (!is_one || peer == 0) {
      const Doubles block = vector_of(rank + 8 * (is_one ? 0 : peer), sent[i], round);
      to.send.insert(to.send.end(), block.begin(), block.end());
    }
    const Doubles block = vector_of(peer + 8 * (is_one ? 0 : rank), received[i], round);
    to.wanted.insert(to.wanted.end(), block.begin(), block.end());
  }
  to.receive.resize(to.wanted.size());
  std::vector<collective::Block> out, in;
  std::size_t from = 0, into = 0;
  for (std::size_t i = 0; i < sent.size(); ++i) {
    out.push_back({bytes_of(to.send) + from * 8, sent[i] * 8});
    in.push_back({bytes_of(to.receive) + into * 8, received[i] * 8});
    if (!is_one) from += sent[i];
    into += received[i];
  }
  return collective::transfer_spec({rank, n}, collective, 0, bytes, out, in);
}

inline collective::PersistentSpec CallingRank::spec_of(Collective collective, std::size_t count, int round,
                                                       Started& to) {
  const int rank = m_.rank(), n = m_.size();
  const auto ranks = static_cast<std::size_t>(n);
  const std::vector<std::size_t> none(ranks, 0), all(ranks, count);
  std::vector<std::size_t> from_root = none;
  from_root[0] = count;
  switch (collective) {
    case Collective::barrier:
      return collective::barrier_spec({rank, n});
    case Collective::bcast: {
      std::vector<std::size_t> to_others = rank == 0 ? all : none;
      return transfer(collective, to_others, rank == 0 ? none : from_root, count * 8, round, to);
    }
    case Collective::allgather:
      return transfer(collective, all, all, count * 8, round, to);
    case Collective::allgatherv: {
      std::vector<std::size_t> received = all;
      for (std::size_t i = 0; i < ranks; ++i) received[i] += i;
      const std::vector<std::size_t> sent(ranks, received[static_cast<std::size_t>(rank)]);
      const std::size_t mean = std::accumulate(received.begin(), received.end(), std::size_t{0}) * 8 / ranks;
      return transfer(collective, sent, received, mean, round, to);
    }
    case Collective::alltoall:
      return transfer(collective, all, all, count * 8 * ranks, round, to);
    case Collective::gather:
      return transfer(collective, from_root, rank == 0 ? all : none, count * 8, round, to);
    case Collective::scatter:
      return transfer(collective, rank == 0 ? all : none, from_root, count * 8, round, to);
    case Collective::scatterv: {
      std::vector<std::size_t> sent = none, received = none;
      for (std::size_t i = 0; i < ranks && rank == 0; ++i) sent[i] = count + i;
      received[0] = count + static_cast<std::size_t>(rank);
      return transfer(collective, sent, received, 0, round, to);
    }
    default:
      break;
  }
  to.send = vector_of(rank, count, round);
  const int last = collective == Collective::scan ? rank + 1 : collective == Collective::exscan ? rank : n;
  const bool has_result = last > 0 && (collective != Collective::reduce || rank == 1);
  if (has_result) to.wanted = sum_of(last, count, round);
  if (collective == Collective::reduce_scatter) {
    std::vector<std::size_t> shares(ranks, count / ranks * 8);
    shares.back() += count % ranks * 8;
    const std::size_t begin = static_cast<std::size_t>(rank) * shares[0] / 8;
    const auto at = to.wanted.begin() + static_cast<std::ptrdiff_t>(begin);
    to.wanted = Doubles(at, at + static_cast<std::ptrdiff_t>(shares[static_cast<std::size_t>(rank)] / 8));
    to.receive.resize(to.wanted.size());
    return collective::reduce_scatter_spec({rank, n}, collective, bytes_of(to.send), bytes_of(to.receive),
                                           shares, sum_of_doubles());
  }
  to.receive.resize(has_result ? count : 0);
  const int root = collective == Collective::reduce ? 1 : 0;
  return collective::reduction_spec({rank, n}, collective, root, bytes_of(to.send), bytes_of(to.receive),
                                    count * 8, sum_of_doubles());
}

/// All that it starts.
inline constexpr Collective kinds[] = {
    Collective::barrier,   Collective::bcast,    Collective::allgather,      Collective::alltoall,
    Collective::reduce,    Collective::gather,   Collective::scatter,        Collective::allreduce,
    Collective::scan,      Collective::scatterv, Collective::reduce_scatter, Collective::exscan,
    Collective::allgatherv};

}  // namespace espalier::testing
