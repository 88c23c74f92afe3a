// How much memory nonblocking collectives may take, so that no start has to wait for some.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>

#include "collective/schedule/given_data.hpp"

namespace espalier::collective {

/// Whether a rank may need a buffer for the call, as all ranks know alike. Of gatherv, scatterv and alltoallv
/// none knows what others give.
inline bool may_need_buffer(const PersistentSpec& spec, int ranks) {
  const auto all = static_cast<std::size_t>(ranks);
  switch (spec.collective) {
    case Collective::gatherv:
    case Collective::scatterv:
    case Collective::alltoallv:
      return true;
    case Collective::scatter:
    case Collective::alltoall:
      return spec.bytes > (ranks > 2 ? 0 : line_capacity / all);
    case Collective::allgatherv:
      return (spec.bytes + 1) * all > line_capacity;  // it is the mean
    default:
      return spec.bytes > line_capacity;
  }
}

/// What all ranks together need for a call, as far as this one knows.
inline std::size_t bytes_of_all(const PersistentSpec& spec, int ranks) {
  const std::size_t givers = spec.collective == Collective::bcast ? 1 : static_cast<std::size_t>(ranks);
  const std::size_t each = buffer_parts(spec, ranks, std::max(spec.given_bytes, spec.bytes)).common;
  return givers * each + (folds_in_common(spec, ranks) ? spec.fold.bytes : 0);
}

/// Of the calls that some rank has not finished, on one rank. The rank that comes first to a call decides for
/// all whether there is memory for it: later than for itself, no more of them are under way.
class MemoryDemand {
 public:
  /// `most`: for all ranks together.
  explicit MemoryDemand(std::size_t most) : most_(most) {}

  /// Whether there is memory for a call beside those that are under way.
  template <machine::Machine M>
  bool has_room_for(M& m, std::size_t bytes) {
    while (!calls_.empty() && is_finished(m, calls_.front().number)) {
      sum_ -= calls_.front().bytes;
      calls_.pop_front();
    }
    return bytes <= most_ && sum_ <= most_ - bytes;
  }
  void add(memory::Step number, std::size_t bytes) {
    calls_.push_back({number, bytes});
    sum_ += bytes;
  }

 private:
  struct Call {
    memory::Step number;
    std::size_t bytes;
  };
  template <machine::Machine M>
  static bool is_finished(M& m, memory::Step number) {
    for (int rank = 0; rank < m.size(); ++rank)
      if (!m.finished(rank, number)) return false;
    return true;
  }

  std::size_t most_, sum_ = 0;
  std::deque<Call> calls_;
};

}  // namespace espalier::collective
