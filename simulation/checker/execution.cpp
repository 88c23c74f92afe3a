#include "simulation/checker/execution.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>

#include "base/error.hpp"
#include "base/format.hpp"
#include "machine/wait_ladder.hpp"
#include "simulation/checker/machine.hpp"

namespace espalier::machine {
template class BasicWaiter<simulation::checker::Platform>;
}

namespace espalier::simulation::checker {

thread_local Execution* Execution::current_ = nullptr;

machine::WaitPolicy short_ladder(bool fenced) {
  machine::WaitPolicy policy;
  policy.fast_spins = 1;
  policy.fenced = fenced;
  if (!fenced) policy.spins = 4, policy.yields = 1;  // all rungs, on one of the two
  return policy;
}

const char* to_string(Wrong wrong) {
  static constexpr std::array names = {"deadlock",
                                       "lost wake-up",
                                       "accesses without order",
                                       "read of what no rank wrote",
                                       "message",
                                       "use of what was given back",
                                       "result",
                                       "endless",
                                       "error"};
  return names[static_cast<std::size_t>(wrong)];
}

namespace {

machine::Layout layout_of(const Scenario& scenario, int node) {
  machine::Layout layout;
  layout.ranks = scenario.node_of.empty()
                     ? scenario.ranks
                     : static_cast<int>(std::count(scenario.node_of.begin(), scenario.node_of.end(), node));
  layout.slots = scenario.slots;
  layout.slot_bytes = scenario.slot_bytes;
  layout.many_pairwise = scenario.many_pairwise;
  return layout;
}

int count_nodes(const Scenario& scenario) {
  if (scenario.node_of.empty()) return 1;
  return *std::max_element(scenario.node_of.begin(), scenario.node_of.end()) + 1;
}

// Of one node after the other, each with its area.
template <class Node>
std::vector<Node> nodes_of(const Scenario& scenario) {
  std::vector<Node> nodes;
  std::size_t begin = 0;
  for (int node = 0; node < count_nodes(scenario); ++node) {
    nodes.push_back({layout_of(scenario, node), begin});
    begin +=
        machine::Layout::round_up(nodes.back().layout.bytes() + scenario.area_bytes, machine::Layout::page);
  }
  return nodes;
}

}  // namespace

Execution::Execution(Scenario scenario)
    : scenario_(std::move(scenario)),
      nodes_(nodes_of<Node>(scenario_)),
      memory_(scenario_.ranks, area_begin(nodes_.back()) + scenario_.area_bytes),
      messages_(*this, scenario_.ranks),
      stacks_(static_cast<std::size_t>(scenario_.ranks), stack_bytes),
      ranks_(static_cast<std::size_t>(scenario_.ranks)) {}

Execution::~Execution() = default;

// --- one execution ---

Outcome Execution::run(Chooser& chooser, const Mutant* mutant, bool with_log) {
  Execution* const outer = std::exchange(current_, this);
  begin(chooser, mutant, with_log);
  start_ranks();
  std::exception_ptr trouble;
  try {
    schedule();
    if (!outcome_.violation) look_for_stray_writes();
    if (const std::string left = messages_.left_over(); !outcome_.violation && !left.empty())
      outcome_.violation = {Wrong::message, left};
  } catch (...) {
    trouble = std::current_exception();  // of the chooser: a trace of something else
  }
  abandon();
  check_stacks();
  current_ = outer;
  if (trouble) std::rethrow_exception(trouble);
  for (const Rank& rank : ranks_)
    outcome_.results.insert(outcome_.results.end(), rank.results.begin(), rank.results.end());
  return std::move(outcome_);
}

void Execution::begin(Chooser& chooser, const Mutant* mutant, bool with_log) {
  chooser_ = &chooser;
  mutant_ = mutant;
  with_log_ = with_log;
  abandoning_ = skips_wait_ = hurries_ = false;
  events_ = 0;
  preempting_ = -1;
  now_ = 0;
  outcome_ = {};
  exposed_.clear();
  pulled_.clear();
  kept_.clear();
  common_.clear();
  memory_.reset();
  messages_.reset();
  for (pid_t rank = 0; rank < scenario_.ranks; ++rank)
    memory_.put(node_of(rank).begin + node_of(rank).layout.process(local_rank(rank)), &rank, sizeof rank);
}

void Execution::start_ranks() {
  for (int rank = 0; rank < scenario_.ranks; ++rank) {
    Rank& it = of(rank);
    it.state = State::runs;
    it.results.clear();
    it.streamed.clear();
    it.hook = nullptr;
    it.machine = nullptr;
    it.news = it.heard = {};
    it.roused_at = 0;
    it.fiber.start(stacks_.at(static_cast<std::size_t>(rank)), [this, rank] { run_rank(rank); });
  }
}

void Execution::run_rank(int rank) {
  // A wait that serves others without an end looks at its flag again when something has happened.
  static const std::atomic<int> always{1};
  machine::Progress progress;
  if (scenario_.serves_others)
    progress = {&always, [](void* execution) { static_cast<Execution*>(execution)->idle(true); }, this};
  const machine::ProgressHook hook{[](void* which) {
                                     auto& it = *static_cast<Rank*>(which);
                                     if (it.machine) it.machine->serve_pulls();
                                     if (it.hook) it.hook();
                                   },
                                   &of(rank), progress};
  try {
    CheckingMachine machine(memory_.view(rank) + node_of(rank).begin, node_of(rank).layout, local_rank(rank),
                            scenario_.policy, hook);
    of(rank).machine = scenario_.refuses_reads ? &machine : nullptr;
    if (!abandoning_) scenario_.body(machine);
    note_writes();
  } catch (const Abandoned&) {  // what the others ran into says why
  } catch (const std::exception& error) {
    if (!outcome_.violation)
      outcome_.violation = {Wrong::error, formatted("rank {}: {}", rank, error.what())};
  }
  of(rank).state = State::ended;
}

void Execution::schedule() {
  while (!outcome_.violation) {
    const int next = std::exchange(preempting_, -1);
    running_ = next >= 0 ? next : next_rank();
    if (running_ >= 0)
      of(running_).fiber.resume();
    else if (!end_a_timed_sleep() && !rouse_the_idle())
      return report_stillness();
  }
}

// -1 when no rank can run.
int Execution::next_rank() {
  std::array<int, most_ranks> options;
  std::size_t count = 0;
  for (int rank = 0; rank < scenario_.ranks; ++rank)
    if (of(rank).state == State::runs) options[count++] = rank;
  if (count <= 1) return count == 1 ? options[0] : -1;
  return options[chooser_->choose(Question::next, {options.data(), count})];
}

// Where timed sleeps end, a rank who sleeps although the flag has moved on looks again.
bool Execution::end_a_timed_sleep() {
  if (scenario_.policy.fenced) return false;
  for (int rank = 0; rank < scenario_.ranks; ++rank) {
    Rank& it = of(rank);
    if (it.state != State::sleeps || static_cast<std::uint32_t>(memory_.newest(it.sleeps_on)) == it.seen)
      continue;
    memory_.settle(rank, it.sleeps_on);
    it.state = State::runs;
    return true;
  }
  return false;
}

// Stores become visible at last, messages come at last, and timed sleeps end: the rank that idles, or sleeps
// although a message is under way to it, or another rank may ask it for a copy, looks once more at what there
// is by now.
bool Execution::rouse_the_idle() {
  for (int rank = 0; rank < scenario_.ranks; ++rank) {
    Rank& it = of(rank);
    const bool serves = it.state == State::sleeps && scenario_.refuses_reads;
    const bool naps = it.state == State::sleeps && messages_.concern(rank);
    if ((it.state != State::idles && !naps && !serves) || it.roused_at == events_ + 1) continue;
    if (!naps) memory_.settle(rank);
    it.roused_at = events_ + 1;
    it.state = State::runs;
    hurries_ = true;
    return true;
  }
  return false;
}

void Execution::report_stillness() {
  bool any_left = false, there = false;
  for (const Rank& rank : ranks_) {
    if (rank.state == State::ended) continue;
    any_left = true;
    if (rank.state != State::sleeps) continue;
    there = there || memory_.newest(rank.awaited_flag) >= rank.awaited_step;
  }
  if (any_left) outcome_.violation = {there ? Wrong::lost_wake_up : Wrong::deadlock, who_waits()};
}

void Execution::abandon() {
  abandoning_ = true;
  for (int rank = 0; rank < scenario_.ranks; ++rank) {
    running_ = rank;
    while (!of(rank).fiber.is_done()) of(rank).fiber.resume();
  }
}

// What was written in another's part of the share without telling, or in one's own after the last operation.
void Execution::look_for_stray_writes() {
  for (int rank = 0; rank < scenario_.ranks; ++rank) {
    const std::uint32_t before = memory_.time_of(rank);
    running_ = rank;
    const std::size_t at = memory_.stray_write(rank);
    if (at < memory_.bytes())
      outcome_.violation = {Wrong::error,
                            formatted("rank {} wrote {} at time {}, which is not its own to write", rank,
                                      describe(at), before)};
  }
}

void Execution::check_stacks() {
  for (std::size_t i = 0; i < stacks_.count(); ++i)
    if (!stacks_.is_intact(i))
      throw Error(formatted("rank {} needs a larger stack than {} bytes", i, stack_bytes));
}

void Execution::fail(Wrong wrong, std::string text) {
  blame(wrong, std::move(text));
  throw Abandoned{};
}

void Execution::blame(Wrong wrong, std::string text) {
  if (!is_over()) outcome_.violation = {wrong, std::move(text)};
}

// --- for bodies ---

void Execution::expect(bool holds, const char* what) {
  if (!holds) fail(Wrong::result, formatted("rank {}: {}", running_, what));
}

void Execution::result(const void* data, std::size_t bytes) {
  const auto* begin = static_cast<const std::byte*>(data);
  of(running_).results.insert(of(running_).results.end(), begin, begin + bytes);
}

void Execution::use_again(const void* buffer, std::size_t bytes) {
  const auto* begin = static_cast<const std::byte*>(buffer);
  std::erase_if(exposed_, [&](const Exposed& e) {
    return e.owner == running_ && e.begin < begin + bytes && begin < e.begin + e.bytes;
  });
  for (const Pulled& pull : pulled_) {
    if (pull.owner != running_ || pull.begin >= begin + bytes || begin >= pull.begin + pull.bytes) continue;
    if (pull.when > memory_.clock_of(running_)[pull.reader])
      fail(Wrong::unordered,
           formatted("rank {} uses its buffer again although nothing says that rank {} has read it", running_,
                     pull.reader));
  }
}

std::byte* Execution::keep(std::size_t bytes) {
  kept_.push_back({std::make_unique<std::byte[]>(bytes), bytes});
  std::byte* begin = kept_.back().begin.get();
  std::fill_n(begin, bytes, Memory::junk);
  return begin;
}

void Execution::give_back(std::size_t offset, std::size_t bytes) {
  note_writes();
  if (const auto other = messages_.met_by(running_, memory_.view(running_) + offset, bytes, true))
    fail(Wrong::message, formatted("rank {} gives memory back although {} is under way", running_, *other));
  check(memory_.freed(running_, offset, bytes), "gives back", bytes);
}

}  // namespace espalier::simulation::checker
