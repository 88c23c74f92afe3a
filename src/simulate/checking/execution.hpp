// One scenario on the checking machine: its ranks as fibers, one operation on memory after the other, in an
// order that a Chooser decides; and what is wrong with an execution.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "machine/layout.hpp"
#include "machine/wait.hpp"
#include "simulate/checking/choices.hpp"
#include "simulate/checking/memory.hpp"
#include "simulate/checking/site.hpp"
#include "simulate/fiber.hpp"
#include "simulate/stacks.hpp"

namespace espalier::simulate::checking {

class CheckingMachine;

/// What all ranks run. The body sees its machine as an algorithm does; it checks results with expect() and
/// shows them with result(), both of Execution.
struct Scenario {
  std::string name;
  int ranks = 2;
  int slots = 4;  ///< a power of two
  std::size_t slot_bytes = 64;
  machine::WaitPolicy policy;
  std::function<void(CheckingMachine&)> body;
};

/// A ladder that is short, so that schedules are few: two looks, then sleep. With fences: who sleeps is
/// woken, and a nap never ends by itself. Without: naps end, as they do where a wake-up may be lost
/// (machine/wait.hpp).
machine::WaitPolicy short_ladder(bool fenced);

enum class Wrong : unsigned char {
  deadlock,      ///< everybody sleeps, for something that nobody has published
  lost_wake_up,  ///< everybody sleeps, somebody although what it waits for is there
  unordered,     ///< two accesses to plain memory, one of them a write, and nothing orders them
  unwritten,     ///< a read of bytes that nobody has written
  freed,         ///< an access to memory that was given back
  result,        ///< a wrong one, or one that depends on the schedule
  endless,       ///< more operations than a scenario can need
  error,         ///< an exception, or a write where the rank has no business
};
const char* to_string(Wrong wrong);

struct Violation {
  Wrong wrong;
  std::string text;
};

struct Outcome {
  std::optional<Violation> violation;
  std::vector<std::byte> results;  ///< of all ranks, one after the other
  std::size_t operations = 0;
  std::vector<std::string> log;  ///< when asked for: one line an operation
};

/// Runs a scenario again and again. Not thread-safe; one a thread.
class Execution {
 public:
  explicit Execution(Scenario scenario);
  ~Execution();

  const Scenario& scenario() const { return scenario_; }
  /// Throws Error for a trace of something else.
  Outcome run(Chooser& chooser, const Mutant* mutant = nullptr, bool with_log = false);
  /// All sites that executions so far have come by.
  const Sites& sites() const { return sites_; }

  /// The execution whose fiber runs.
  static Execution& current() { return *current_; }

  // For bodies of scenarios.
  void expect(bool holds, const char* what);
  void result(const void* data, std::size_t bytes);
  /// The rank uses this buffer, which others may have pulled from, for something else.
  void use_again(const void* buffer, std::size_t bytes);
  /// A place for scenarios, a kilobyte for each rank; in the view of the rank that runs.
  std::byte* note(int rank) { return memory_.view(running_) + layout_.note(rank); }
  /// Gives bytes of the share back.
  void give_back(std::size_t offset, std::size_t bytes);

  // For the platform: operations of the rank that runs.
  std::uint64_t load(const void* flag, const char* of, std::memory_order order,
                     const std::source_location& where);
  void store(const void* flag, const char* of, std::uint64_t value, std::memory_order order,
             const std::source_location& where);
  std::uint64_t add(const void* flag, const char* of, std::uint64_t value, std::memory_order order,
                    const std::source_location& where);
  void fence(std::memory_order order, const std::source_location& where);
  void futex_wait(const void* flag, std::uint32_t seen, const std::source_location& where);
  void futex_wake(const void* flag, const std::source_location& where);
  void yield() { point(); }
  std::int64_t now() { return now_ += 1000; }
  void reads(const void* source, std::size_t bytes);
  void writes(const void* target, std::size_t bytes);
  bool expose(const void* source, std::size_t bytes);
  void pull(int owner, const void* source, std::size_t bytes);
  /// Takes note of a site; what a mutant changes there.
  Change at(const std::source_location& where, Operation operation, const char* of = "",
            std::memory_order order = std::memory_order_relaxed);
  void waits_for(const void* flag, std::uint64_t step);
  /// For mutants: the next wait of this rank is left out.
  void skip_next_wait() { skips_wait_ = true; }
  bool skips_wait() { return std::exchange(skips_wait_, false); }

  /// Ends the execution; called in a fiber.
  [[noreturn]] void fail(Wrong wrong, std::string text);

 private:
  struct Abandoned {};
  enum class State : unsigned char { runs, sleeps, ended };
  struct Rank {
    Fiber fiber;
    State state = State::ended;
    std::size_t sleeps_on = 0;  // a flag
    std::uint32_t seen = 0;
    std::size_t awaited_flag = 0;
    std::uint64_t awaited_step = 0;
    std::vector<std::byte> results;
  };
  struct Exposed {
    int owner;
    const std::byte* begin;
    std::size_t bytes;
    std::uint32_t since;
  };
  struct Pulled {
    int reader, owner;
    const std::byte* begin;
    std::size_t bytes;
    std::uint32_t when;
  };

  void begin(Chooser& chooser, const Mutant* mutant, bool with_log);
  void start_ranks();
  void run_rank(int rank);
  void schedule();
  int next_rank();
  bool end_a_nap();
  void report_stillness();
  void abandon();
  void look_for_stray_writes();
  void check_stacks();

  /// Where another rank may go on instead.
  void point();
  void preempt();
  void rouse();
  void count_operation();
  void sleep();
  void note_writes();
  std::size_t flag_of(const void* flag) const { return memory_.offset_of(running_, flag); }
  void check(const std::optional<Trespass>& trespass, const char* does, std::size_t bytes);
  void record(const std::string& line);
  std::string describe(std::size_t offset) const;
  std::string who_waits() const;
  Rank& of(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  const Rank& of(int rank) const { return ranks_[static_cast<std::size_t>(rank)]; }

  static constexpr std::size_t stack_bytes = 128 * 1024;
  static constexpr std::size_t most_operations = 200'000;
  static thread_local Execution* current_;

  Scenario scenario_;
  machine::Layout layout_;
  Memory memory_;
  Stacks stacks_;
  std::vector<Rank> ranks_;
  Chooser* chooser_ = nullptr;
  const Mutant* mutant_ = nullptr;
  bool with_log_ = false, abandoning_ = false, skips_wait_ = false;
  int running_ = 0;
  int preempting_ = -1;  // who goes on instead of the rank that paused
  std::int64_t now_ = 0;
  Outcome outcome_;
  std::vector<Exposed> exposed_;
  std::vector<Pulled> pulled_;
  Sites sites_;
  std::unordered_set<std::uint64_t> known_sites_;  // hashes of those in sites_
};

}  // namespace espalier::simulate::checking
