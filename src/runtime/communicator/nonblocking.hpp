// The nonblocking collectives of a communicator whose ranks share memory: a share of its own, with flag lines
// for a number of calls, and buffers for what rides in none.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "collective/schedule/calls_under_way.hpp"
#include "machine/host_machine.hpp"
#include "memory/arena.hpp"
#include "runtime/communicator/collective_progress.hpp"
#include "runtime/failure/mismatch_detection.hpp"
#include "runtime/progress/only_thread.hpp"
#include "runtime/statistics/counters.hpp"

namespace espalier::runtime {

/// Buffers in the arena, for collective::GivenBuffers.
class ArenaBuffers {
 public:
  explicit ArenaBuffers(memory::Arena& arena) : arena_(&arena) {}
  std::byte* allocate(std::size_t bytes) const;
  void free(std::byte* data, std::size_t bytes) const;
  bool has_room(std::size_t bytes) const;

 private:
  memory::Arena* arena_;
};

/// Where the ranks of a communicator find what they share for nonblocking collectives: in its own share.
struct NonblockingPlace {
  memory::Arena& arena;
  memory::Share share;
  const machine::Layout& layout;
};

/// How a thread of this process that waits for a call hears that another one has completed it. Where ProgressThread advances
/// calls, too.
class CompletionSignal {
 public:
  /// Null: there is no such thread.
  static std::unique_ptr<CompletionSignal> if_wanted(machine::WaitPolicy policy);
  /// This process has completed so many calls of the communicator: ends waits at completed().
  [[gnu::noinline]] void tell(std::uint64_t completed) { waiter_.signal(completed_, completed); }
  std::byte* completed() { return reinterpret_cast<std::byte*>(&completed_); }

 private:
  explicit CompletionSignal(machine::WaitPolicy policy) : waiter_(policy, {}) {}
  memory::FlagLine completed_{};
  machine::Waiter waiter_;
};

class KeptNonblocking;

/// One rank's part. Lives as long as the communicator or a request keeps it. Thread-safe: threads may start
/// a collective, and test or wait for others, at the same time; each call is one thread's at a time.
class Nonblocking final : public CollectivesUnderWay {
 public:
  using Call = collective::CallUnderWay;

  /// Local: waits for no rank. The first rank that comes makes the share. Null, on all ranks alike: there was
  /// no memory for it. `by_thread`: the progress thread, where there is one, may advance calls. `names`: what errors
  /// call the ranks, if not by their numbers.
  static KeptNonblocking open(const NonblockingPlace& place, int rank, machine::WaitPolicy policy,
                              bool by_thread = true, std::vector<int> names = {});
  /// Local. What this rank has given may still be read: the last rank to leave gives it back.
  ~Nonblocking() override;
  Nonblocking(const Nonblocking&) = delete;
  Nonblocking& operator=(const Nonblocking&) = delete;

  /// Local: waits for no rank. `call` has its spec, and lies still until it is done or forgotten. In the order
  /// of the communicator's calls. False, on all ranks alike: there is no memory for it. Throws OutOfStep, as
  /// MismatchDetection does.
  bool start(Call& call);
  /// The same of a part of a call that is counted elsewhere; `facts`: of the whole.
  bool start_part(Call& call, const machine::CallFacts& facts);
  /// This rank has no part of that call.
  void note_call(const machine::CallFacts& facts);
  /// The same of what the ranks tell each other for another purpose, which `facts` say: a short allgather that
  /// is counted nowhere, in which they agree on a word (CallsUnderWay::start_agreeing()).
  machine::Agreed start_meeting(Call& call, const machine::CallFacts& facts,
                                const std::function<std::uint64_t()>& offer);
  static constexpr const char* no_memory =
      "the shared-memory budget has no room for a nonblocking collective (see ESPALIER_SHM)";
  /// Whether complete() would return or throw at once; if not, all that is under way has been driven.
  bool is_ready(Call& call);
  /// Waits, while all else is driven, until the rank's part is done. Throws Error when a rank is gone, or has
  /// called something else.
  void complete(Call& call);
  /// The program gives the call up, done or not.
  void forget(const Call& call);
  /// Does what is to be done for calls that are under way, if no other thread does so.
  void advance_aside() override;
  bool advance_in_thread() override;
  /// Takes what has come for a call; whether it is done. Waits for nothing, and drives nothing else.
  bool advance(Call& call);
  /// Whether this rank is the first of its communicator that comes to `number`: 1, 2, ..., which every rank goes through
  /// in order. Orders nothing.
  bool claim(std::uint64_t number);
  /// Why no call can be done any more, as far as this rank has found; empty: they can. `from`: 0, or the first such call.
  std::string failure(std::uint64_t& from);

 private:
  friend class KeptNonblocking;
  void add_keeper() { add_in_call(keepers_, 1); }
  void remove_keeper() {
    if (add_in_call(keepers_, -1) == 0) std::shared_ptr<Nonblocking>(std::move(self_));
  }

  Nonblocking(memory::Arena& arena, memory::Share share, const machine::Layout& layout, int rank,
              machine::WaitPolicy policy, bool by_thread, std::vector<int> names);
  static machine::Layout layout_for(int ranks);
  static std::uint64_t make(const NonblockingPlace& place, const machine::Layout& layout);

  /// Takes what has come for a call. With the lock, as what follows.
  bool look_at(Call& call);
  void look_at_all();
  bool step(Call& call, Call::Lack& lack);
  bool comes_at_once(const Call::Lack& lack);
  void wait(Call& call, Call::Lack lack);
  /// What waits do besides looking at a line.
  void work_in_wait();
  void give_back_all();

  std::atomic<int> keepers_{0};
  /// While there are keepers. The progress thread holds it, too, while it looks.
  std::shared_ptr<Nonblocking> self_;
  memory::Arena& arena_;
  memory::Share share_;
  machine::Layout layout_;
  std::mutex mutex_;  // of what follows
  MismatchDetection mismatch_detection_;
  machine::HostMachine machine_;
  std::unique_ptr<CompletionSignal> completion_signal_;  // null: ProgressThread does not advance calls
  collective::CallsUnderWay<machine::HostMachine, ArenaBuffers> calls_;
  statistics::Counters counters_;
};

/// Keeps it alive, as a std::shared_ptr would. The count of a std::shared_ptr takes two instructions that lock for each call.
/// This one takes none where one thread makes all MPI calls.
class KeptNonblocking {
 public:
  KeptNonblocking() = default;
  KeptNonblocking(std::nullptr_t) {}
  explicit KeptNonblocking(Nonblocking& of) : of_(&of) { of.add_keeper(); }
  KeptNonblocking(const KeptNonblocking& other) : of_(other.of_) {
    if (of_) of_->add_keeper();
  }
  KeptNonblocking(KeptNonblocking&& other) noexcept : of_(std::exchange(other.of_, nullptr)) {}
  KeptNonblocking& operator=(KeptNonblocking other) noexcept {
    std::swap(of_, other.of_);
    return *this;
  }
  ~KeptNonblocking() { reset(); }
  void reset() {
    if (Nonblocking* const of = std::exchange(of_, nullptr)) of->remove_keeper();
  }

  Nonblocking* operator->() const { return of_; }
  Nonblocking& operator*() const { return *of_; }
  explicit operator bool() const { return of_ != nullptr; }

 private:
  Nonblocking* of_ = nullptr;
};

/// The share of a communicator that all ranks have left: the next one of these ranks makes another.
void forget_nonblocking_share(const memory::Arena& arena, memory::Share share, const machine::Layout& layout);

}  // namespace espalier::runtime
