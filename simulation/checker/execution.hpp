// One scenario on the checking machine: its ranks as fibers, one operation on memory after the other, in an
// order that a Chooser decides; and what is wrong with an execution.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "machine/layout.hpp"
#include "machine/wait.hpp"
#include "simulation/checker/choices.hpp"
#include "simulation/checker/memory.hpp"
#include "simulation/checker/messages.hpp"
#include "simulation/checker/site.hpp"
#include "simulation/fiber/fiber.hpp"
#include "simulation/fiber/stacks.hpp"

namespace espalier::simulation::checker {

class CheckingMachine;

/// What all ranks run, on one node or several; each node has a share of its own, and between them are
/// messages. The body sees its machine as an algorithm does; it checks results with expect() and shows them
/// with result(), both of Execution.
struct Scenario {
  std::string name;
  int ranks = 2;
  int slots = 4;  ///< a power of two
  std::size_t slot_bytes = 64;
  machine::WaitPolicy policy;
  std::function<void(CheckingMachine&)> body;
  std::vector<int> node_of = {};  ///< by rank; empty: all on one node
  std::size_t area_bytes = 0;     ///< of each node besides: for windows and the like
  bool many_pairwise = false;     ///< cells of more than two ranks
  bool serves_others = false;     ///< waits drive the host all the time (machine/progress.hpp)
  bool refuses_reads =
      false;  ///< of other ranks' memory, now and then; then all timed sleeps end by themselves
};

/// A ladder that is short, so that schedules are few: two looks, then sleep. With fences: who sleeps is
/// woken, and a timed sleep never ends by itself. Without: timed sleeps end, as they do where a wake-up may
/// be lost (machine/wait.hpp).
machine::WaitPolicy short_ladder(bool fenced);

enum class Wrong : unsigned char {
  deadlock,      ///< every rank sleeps, for something that no rank has published
  lost_wake_up,  ///< every rank sleeps, a rank although what it waits for is there
  unordered,     ///< two accesses to plain memory, one of them a write, and nothing orders them
  unwritten,     ///< a read of bytes that no rank has written
  message,       ///< memory used while a message is under way from or to it, or a message left over
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
  std::byte* note(int rank) {
    return memory_.view(running_) + node_of(rank).begin +
           node_of(rank).layout.affinity_record(local_rank(rank));
  }
  /// What the ranks of a node share besides, on the node and in the view of the rank that runs.
  std::byte* area() { return memory_.view(running_) + area_begin(node_of(running_)); }
  /// An object of the node's ranks beside all that is checked.
  template <class T>
  T& common() {
    std::shared_ptr<void>& object = common_[node_of_rank(running_)];
    if (!object) object = std::make_shared<T>();
    return *static_cast<T*>(object.get());
  }
  /// Gives bytes of the share back.
  void give_back(std::size_t offset, std::size_t bytes);
  void give_back(const void* begin, std::size_t bytes) {
    give_back(memory_.offset_of(running_, begin), bytes);
  }
  /// Memory of the rank's own, which lasts as long as the execution.
  std::byte* keep(std::size_t bytes);

  // For bodies over several nodes.
  int rank() const { return running_; }
  int ranks() const { return scenario_.ranks; }
  int node_of_rank(int rank) const {
    return scenario_.node_of.empty() ? 0 : scenario_.node_of[static_cast<std::size_t>(rank)];
  }
  Messages& messages() { return messages_; }
  /// What this rank does in its waits, before it sleeps.
  void drive_with(std::function<void()> hook) { of(running_).hook = std::move(hook); }
  /// The rank has looked at everything in vain: until there is news for it. News are its messages, and
  /// (`flags`) what other ranks of its node store.
  void idle(bool flags);

  // For the platform: operations of the rank that runs.
  std::uint64_t load(const void* flag, const char* name, std::memory_order order,
                     const std::source_location& where);
  void store(const void* flag, const char* name, std::uint64_t value, std::memory_order order,
             const std::source_location& where);
  std::uint64_t add(const void* flag, const char* name, std::uint64_t value, std::memory_order order,
                    const std::source_location& where);
  std::uint64_t exchange(const void* flag, const char* name, std::uint64_t value, std::memory_order order,
                         const std::source_location& where);
  /// `expected` becomes what was there. A weak one may fail for no reason.
  bool compare_exchange(const void* flag, const char* name, std::uint64_t& expected, std::uint64_t desired,
                        bool weak, std::memory_order success, std::memory_order failure,
                        const std::source_location& where);
  void fence(std::memory_order order, const std::source_location& where);
  void futex_wait(const void* flag, std::uint32_t seen, const std::source_location& where);
  void futex_wake(const void* flag, const std::source_location& where);
  void yield() { point(); }
  std::int64_t now() { return now_ += 1000; }
  void reads(const void* source, std::size_t bytes);
  void writes(const void* target, std::size_t bytes);
  /// Streaming stores into a slot: no rank sees them, the rank neither, before it settles them.
  void stream(void* target, const void* source, std::size_t bytes);
  void settle_streams();
  bool expose(const void* source, std::size_t bytes);
  void pull(int owner, const void* source, std::size_t bytes);
  bool refuses_read() { return scenario_.refuses_reads && ask(Question::value) == 1; }
  /// Takes note of a site; what a mutant changes there.
  Change at(const std::source_location& where, Operation operation, const char* name = "",
            std::memory_order order = std::memory_order_relaxed);
  Change at(const Site& site);
  void waits_for(const void* flag, std::uint64_t step);
  /// For mutants: the next wait of this rank is left out.
  void skip_next_wait() { skips_wait_ = true; }
  bool skips_wait() { return std::exchange(skips_wait_, false); }

  // For messages.
  std::size_t ask(Question question);  ///< of two options
  std::size_t ask(Question question, std::span<const int> options) {
    return chooser_->choose(question, options);
  }
  void bring_news(int rank);
  /// Nothing else can go on any more: what may come comes now.
  bool hurries() const { return hurries_; }
  Memory::Knowledge tell_by_message() { return memory_.tell(running_); }
  void hear_by_message(const Memory::Knowledge& knowledge) { memory_.hear(running_, knowledge); }
  void may_write(const void* target, std::size_t bytes);
  /// What tells places in memory apart, shared or not.
  std::uintptr_t position_of(int rank, const void* address) const;
  /// Whether this memory lasts as long as the execution.
  bool keeps(const void* address) const;
  template <class Text>
  void log(Text text) {
    if (with_log_) record("'s message: " + text());
  }
  bool is_over() const { return abandoning_ || outcome_.violation; }
  /// Takes note of what is wrong, but goes on: where nothing may be thrown.
  void blame(Wrong wrong, std::string text);

  /// Ends the execution; called in a fiber.
  [[noreturn]] void fail(Wrong wrong, std::string text);

 private:
  struct Abandoned {};
  enum class State : unsigned char { runs, sleeps, idles, ended };
  struct Streamed {
    std::byte* target;
    std::vector<std::byte> data;
  };
  struct Rank {
    Fiber fiber;
    State state = State::ended;
    std::size_t sleeps_on = 0;  // a flag
    std::uint32_t seen = 0;
    std::size_t awaited_flag = 0;
    std::uint64_t awaited_step = 0;
    std::vector<std::byte> results;
    std::vector<Streamed> streamed;
    std::function<void()> hook;
    CheckingMachine* machine = nullptr;  // while it serves others in its waits
    struct News {
      std::uint64_t messages = 0, stores = 0;  // of its node's other ranks
      bool operator==(const News&) const = default;
    };
    News news, heard;             // heard: when it last looked in vain
    bool looks_at_flags = false;  // while it idles
    std::uint64_t roused_at = 0;  // in events of the whole execution
  };
  struct Node {
    machine::Layout layout;
    std::size_t begin;  // of its share
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
  bool end_a_timed_sleep();
  bool rouse_the_idle();
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
  void pause();
  void stored(std::size_t flag, std::uint64_t before);
  std::size_t age_of_load(std::size_t flag);
  const Node& node_of(int rank) const { return nodes_[static_cast<std::size_t>(node_of_rank(rank))]; }
  int local_rank(int rank) const;
  std::size_t area_begin(const Node& node) const { return node.begin + node.layout.bytes(); }
  static std::string describe_in(const machine::Layout& layout, std::size_t offset);
  void note_writes();
  std::size_t flag_of(const void* flag) const { return memory_.offset_of(running_, flag); }
  void check(const std::optional<Trespass>& trespass, const char* does, std::size_t bytes);
  void record(const std::string& line);
  std::string describe(std::size_t offset) const;
  std::string who_waits() const;
  Rank& of(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  const Rank& of(int rank) const { return ranks_[static_cast<std::size_t>(rank)]; }

  static constexpr std::size_t stack_bytes = 128 * 1024 * StackSwitch::frame_factor;
  static constexpr std::size_t most_operations = 200'000;
  static thread_local Execution* current_;

  Scenario scenario_;
  std::vector<Node> nodes_;
  Memory memory_;
  Messages messages_;
  Stacks stacks_;
  std::vector<Rank> ranks_;
  Chooser* chooser_ = nullptr;
  const Mutant* mutant_ = nullptr;
  bool with_log_ = false, abandoning_ = false, skips_wait_ = false, hurries_ = false;
  std::uint64_t events_ = 0;  // stores and news
  int running_ = 0;
  int preempting_ = -1;  // who goes on instead of the rank that paused
  std::int64_t now_ = 0;
  Outcome outcome_;
  std::vector<Exposed> exposed_;
  std::vector<Pulled> pulled_;
  struct Kept {
    std::unique_ptr<std::byte[]> begin;
    std::size_t bytes;
  };
  std::vector<Kept> kept_;
  std::map<int, std::shared_ptr<void>> common_;  // by node
  Sites sites_;
  std::unordered_set<std::uint64_t> known_sites_;  // hashes of those in sites_
};

}  // namespace espalier::simulation::checker
