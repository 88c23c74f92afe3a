// Ranks to measure with: forked processes, each fixed to a core, over one piece of shared memory.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "machine/host_machine.hpp"

namespace espalier::measure {

/// Nanoseconds of a clock that all processes share.
std::int64_t now_ns();

/// One rank, in its own process.
class Rank {
 public:
  machine::HostMachine& machine() { return machine_; }
  int number() const { return machine_.rank(); }
  int count() const { return machine_.size(); }

  /// Times `work`, from a moment at which all ranks begin until the last is through, in nanoseconds; the same
  /// on all. With more ranks than cores, where no rank can spin towards a moment, the time begins when the
  /// last has come.
  template <class Work>
  double time(Work work) {
    const std::int64_t begin = begin_together();
    work();
    return end_together(begin);
  }
  /// Until all have come.
  void meet();

 private:
  friend class Crew;
  struct Board;
  Rank(Board& board, std::byte* share, const machine::Layout& layout, int number, machine::WaitPolicy policy)
      : board_(board),
        machine_(share, layout, number, policy, {}),
        oversubscribed_(policy.fast_spins < 100) {}
  std::int64_t begin_together();
  double end_together(std::int64_t begin);
  void make_room() const;

  Board& board_;
  machine::HostMachine machine_;
  bool oversubscribed_;
  std::uint64_t meetings_ = 0;
};

class Crew {
 public:
  /// Rank r is fixed to cpus[r % cpus.size()]. Waits are those of a job in which all cores are these.
  Crew(int ranks, std::vector<int> cpus, std::size_t slot_bytes = 32 * 1024);

  /// Runs `body` on every rank; what rank 0 puts into `results` is what comes out. Throws Error when a rank
  /// fails, or when they are not through after `seconds`.
  std::vector<double> run(std::size_t results, const std::function<void(Rank&, double* results)>& body,
                          unsigned seconds = 120);

 private:
  void be_rank(int number, std::byte* memory, const std::function<void(Rank&, double*)>& body) const;
  std::size_t share_offset() const;
  std::size_t results_offset() const;

  machine::Layout layout_;
  std::vector<int> cpus_;
};

/// The middle one; of an even number the upper.
double median(std::vector<double> values);

}  // namespace espalier::measure
