// How much memory nonblocking collectives may take, so that no start has to wait for some.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>

#include "collective/schedule/given_data.hpp"

namespace espalier::collective {

/// Of gatherv, scatterv, alltoallv and what moves pieces no rank knows what others give.
inline bool lengths_are_unknown(const PersistentSpec& spec) {
  using enum Collective;
  constexpr CollectiveSet unknown = {gatherv, scatterv, alltoallv};
  return unknown.contains(spec.collective) || traits(spec.collective).in_pieces;
}

/// Whether a rank may need a buffer for the call, as all ranks know alike.
inline bool may_need_buffer(const PersistentSpec& spec, int ranks) {
  const auto all = static_cast<std::size_t>(ranks);
  const auto fits_line = [table = table_bytes(spec, ranks)](std::size_t bytes) {
    return bytes == 0 || table + bytes <= line_capacity;
  };
  if (lengths_are_unknown(spec)) return true;
  switch (spec.collective) {
    case Collective::scatter:
      return !fits_line(ranks > 2 ? spec.bytes * all : spec.bytes);
    case Collective::alltoall:
      return !fits_line(ranks > 2 ? spec.bytes : spec.bytes / all);
    case Collective::allgatherv:
      return (spec.bytes + 1) * all > line_capacity;  // it is the mean
    default:
      return spec.bytes > line_capacity;
  }
}

/// The most that a rank gives to a call, or in an allgatherv the mean. Blocks of one rank begin on cache lines.
inline std::size_t most_given(const PersistentSpec& spec, std::size_t ranks) {
  using enum Collective;
  const std::size_t gaps = ranks * line_bytes;
  switch (spec.collective) {
    case scatter:  // the root gives all a block
    case scatterv:
      return std::max(spec.given_bytes, spec.bytes * ranks + gaps);
    case reduce_scatter:
    case reduce_scatter_block:
      return spec.bytes + gaps;
    case allgatherv:
      return spec.bytes + 1 + line_bytes;  // the mean is rounded down, and what each rank gives up to lines
    default:
      return std::max(spec.given_bytes, spec.bytes);
  }
}

/// What all ranks together need for a call: all know the same of it, if its lengths are known.
inline std::size_t bytes_of_all(const PersistentSpec& spec, int ranks) {
  const auto all = static_cast<std::size_t>(ranks);
  const std::size_t givers = spec.collective == Collective::bcast || is_scatter(spec) ? 1 : all;
  const std::size_t each = buffer_parts(spec, ranks, most_given(spec, all)).common;
  return givers * each + (folds_in_common(spec, ranks) ? spec.fold.bytes : 0);
}

template <machine::Machine M>
bool finished_by_all(M& m, memory::Step number) {
  for (int rank = 0; rank < m.size(); ++rank)
    if (!m.finished(rank, number)) return false;
  return true;
}

/// What the rank that comes first to a call of unknown lengths says: the call is not served, it is, or all such calls up to
/// the end of its page of lines.
struct UnknownGrant {
  static constexpr std::uint64_t refused = 0, of_call = 1, of_page = 2;
};

/// Of the calls that some rank has not finished, on one rank. The rank that comes first to a call decides for
/// all whether there is memory for it: later than for itself, no more of them are under way. It grants more than
/// the call needs, which calls that follow take without asking, for all know how much each needs.
class MemoryDemand {
 public:
  /// `most`: for all ranks together.
  explicit MemoryDemand(std::size_t most) : most_(most) {}

  /// How much this rank would grant a call that needs so many bytes, beside those that are under way; 0: there
  /// is no memory for it.
  template <machine::Machine M>
  std::size_t offer(M& m, std::size_t bytes) {
    while (!calls_.empty() && finished_by_all(m, calls_.front().number)) {
      sum_ -= calls_.front().bytes;
      calls_.pop_front();
    }
    constexpr std::size_t most_at_once = std::size_t{1} << 38;
    if (bytes > std::min(most_, most_at_once) || sum_ > most_ - bytes) return 0;
    return std::min(std::max(bytes, (most_ - sum_) / 4), most_at_once);
  }

  /// Whether the call is within what the call before it has left of its grant. All ranks alike.
  bool takes_of_grant(memory::Step number, std::size_t bytes) {
    if (number > grant_ends_ || bytes > granted_) return false;
    granted_ -= bytes;
    add(number, bytes);
    return true;
  }
  /// Whether the call, of a length that no rank knows, is one of those that a call before it was granted.
  bool takes_of_unknown_grant(memory::Step number, std::size_t bytes) {
    if (number > unknown_grant_ends_) return false;
    add(number, bytes);
    return true;
  }
  /// The ranks have agreed that the call and those up to `last` that follow, of any lengths, are served.
  void take_unknown_grant(memory::Step number, std::size_t bytes, memory::Step last) {
    unknown_grant_ends_ = last;
    add(number, bytes);
  }
  /// The ranks have agreed on a grant, not 0, for the call and those up to `last` that follow.
  void take_new_grant(memory::Step number, std::size_t bytes, std::size_t grant, memory::Step last) {
    granted_ = grant - std::min(grant, bytes);
    grant_ends_ = last;
    add(number, bytes);
  }

 private:
  void add(memory::Step number, std::size_t bytes) {
    calls_.push_back({number, bytes});
    sum_ += bytes;
  }
  struct Call {
    memory::Step number;
    std::size_t bytes;
  };
  std::size_t most_, sum_ = 0;
  std::size_t granted_ = 0;
  memory::Step grant_ends_ = 0, unknown_grant_ends_ = 0;
  std::deque<Call> calls_;
};

}  // namespace espalier::collective
