#include "simulate/checking/execution.hpp"

#include <array>
#include <exception>

#include "base/error.hpp"
#include "base/format.hpp"
#include "machine/wait_ladder.hpp"
#include "simulate/checking/machine.hpp"

namespace espalier::machine {
template class BasicWaiter<simulate::checking::Platform>;
}

namespace espalier::simulate::checking {

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
                                       "read of what nobody wrote",
                                       "use of what was given back",
                                       "result",
                                       "endless",
                                       "error"};
  return names[static_cast<std::size_t>(wrong)];
}

namespace {

machine::Layout layout_of(const Scenario& scenario) {
  machine::Layout layout;
  layout.ranks = scenario.ranks;
  layout.slots = scenario.slots;
  layout.slot_bytes = scenario.slot_bytes;
  return layout;
}

}  // namespace

Execution::Execution(Scenario scenario)
    : scenario_(std::move(scenario)),
      layout_(layout_of(scenario_)),
      memory_(scenario_.ranks, layout_.bytes()),
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
  abandoning_ = skips_wait_ = false;
  preempting_ = -1;
  now_ = 0;
  outcome_ = {};
  exposed_.clear();
  pulled_.clear();
  memory_.reset();
  for (pid_t rank = 0; rank < scenario_.ranks; ++rank)
    memory_.put(layout_.process_id(rank), &rank, sizeof rank);
}

void Execution::start_ranks() {
  for (int rank = 0; rank < scenario_.ranks; ++rank) {
    Rank& it = of(rank);
    it.state = State::runs;
    it.results.clear();
    it.fiber.start(stacks_.at(static_cast<std::size_t>(rank)), [this, rank] { run_rank(rank); });
  }
}

void Execution::run_rank(int rank) {
  try {
    CheckingMachine machine(memory_.view(rank), layout_, rank, scenario_.policy, {});
    if (!abandoning_) scenario_.body(machine);
    note_writes();
  } catch (const Abandoned&) {
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
    else if (!end_a_nap())
      return report_stillness();
  }
}

// -1 when nobody can run.
int Execution::next_rank() {
  std::array<int, most_ranks> options;
  std::size_t count = 0;
  for (int rank = 0; rank < scenario_.ranks; ++rank)
    if (of(rank).state == State::runs) options[count++] = rank;
  if (count <= 1) return count == 1 ? options[0] : -1;
  return options[chooser_->choose(Question::next, {options.data(), count})];
}

// Where naps end, somebody who sleeps although the flag has moved on looks again.
bool Execution::end_a_nap() {
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

void Execution::report_stillness() {
  bool anybody = false, there = false;
  for (const Rank& rank : ranks_) {
    if (rank.state != State::sleeps) continue;
    anybody = true;
    there = there || memory_.newest(rank.awaited_flag) >= rank.awaited_step;
  }
  if (anybody) outcome_.violation = {there ? Wrong::lost_wake_up : Wrong::deadlock, who_waits()};
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
  if (!outcome_.violation) outcome_.violation = {wrong, std::move(text)};
  throw Abandoned{};
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

void Execution::give_back(std::size_t offset, std::size_t bytes) {
  note_writes();
  check(memory_.freed(running_, offset, bytes), "gives back", bytes);
}

// --- operations ---

std::uint64_t Execution::load(const void* flag, const char* name, std::memory_order order,
                              const std::source_location& where) {
  if (at(where, Operation::load, name, order) == Change::relaxed) order = std::memory_order_relaxed;
  point();
  const std::size_t offset = flag_of(flag);
  const std::size_t count = memory_.readable(running_, offset);
  std::size_t age = 0;
  if (count > 1) {
    constexpr std::size_t most = 8;
    static constexpr std::array<int, most> ages = {0, 1, 2, 3, 4, 5, 6, 7};
    age = chooser_->choose(Question::value, std::span(ages).first(std::min(count, most)));
  }
  const std::uint64_t value = memory_.load(running_, offset, age, order);
  if (with_log_)
    record(
        formatted("reads {} of {}: {}{}", name, describe(offset), value, age > 0 ? ", which is stale" : ""));
  return value;
}

void Execution::store(const void* flag, const char* name, std::uint64_t value, std::memory_order order,
                      const std::source_location& where) {
  if (at(where, Operation::store, name, order) == Change::relaxed) order = std::memory_order_relaxed;
  point();
  memory_.store(running_, flag_of(flag), value, order);
  if (with_log_) record(formatted("sets {} of {} to {}", name, describe(flag_of(flag)), value));
}

std::uint64_t Execution::add(const void* flag, const char* name, std::uint64_t value, std::memory_order order,
                             const std::source_location& where) {
  const Change change = at(where, Operation::add, name, order);
  if (change == Change::relaxed) order = std::memory_order_relaxed;
  if (change == Change::acquire_only) order = std::memory_order_acquire;
  if (change == Change::release_only) order = std::memory_order_release;
  point();
  if (change == Change::removed) value = 0;
  const std::uint64_t before = memory_.add(running_, flag_of(flag), value, order);
  if (with_log_)
    record(formatted("adds {} to {} of {}, which was {}", static_cast<std::int64_t>(value), name,
                     describe(flag_of(flag)), static_cast<std::int64_t>(before)));
  return before;
}

void Execution::fence(std::memory_order order, const std::source_location& where) {
  const Change change = at(where, Operation::fence, "", order);
  point();
  if (change == Change::removed) return;
  if (change == Change::acquire_only) order = std::memory_order_acquire;
  if (change == Change::release_only) order = std::memory_order_release;
  memory_.fence(running_, order);
  if (with_log_) record("fence");
}

void Execution::futex_wait(const void* flag, std::uint32_t seen, const std::source_location& where) {
  if (at(where, Operation::futex_wait) == Change::removed) return;
  point();
  const std::size_t offset = flag_of(flag);
  memory_.meet_in_kernel(running_, offset);
  const std::size_t count = memory_.readable(running_, offset);
  std::size_t age = 0;
  if (count > 1) {
    static constexpr std::array<int, 2> newest_or_oldest = {0, 1};
    age = chooser_->choose(Question::value, newest_or_oldest) == 0 ? 0 : count - 1;
  }
  const std::uint64_t value = memory_.load(running_, offset, age, std::memory_order_relaxed);
  if (static_cast<std::uint32_t>(value) != seen) {
    if (with_log_) record(formatted("does not sleep on {}: it is {}", describe(offset), value));
    return;
  }
  if (with_log_) record(formatted("sleeps on {}, which is {}", describe(offset), value));
  of(running_).sleeps_on = offset;
  of(running_).seen = seen;
  sleep();
  memory_.meet_in_kernel(running_, offset);
  if (with_log_) record("is awake");
}

void Execution::futex_wake(const void* flag, const std::source_location& where) {
  if (at(where, Operation::futex_wake) == Change::removed) return;
  point();
  const std::size_t offset = flag_of(flag);
  memory_.meet_in_kernel(running_, offset);
  for (Rank& rank : ranks_)
    if (rank.state == State::sleeps && rank.sleeps_on == offset) rank.state = State::runs;
  if (with_log_) record(formatted("wakes who sleeps on {}", describe(offset)));
}

void Execution::reads(const void* source, std::size_t bytes) {
  if (!memory_.is_near_view(running_, source) || bytes == 0) return;
  const std::size_t offset = memory_.offset_of(running_, source);
  if (offset + bytes > memory_.bytes())
    fail(Wrong::error, formatted("rank {} reads {} bytes beyond the share, at {}", running_, bytes, offset));
  note_writes();
  check(memory_.read(running_, offset, bytes), "reads", bytes);
}

void Execution::writes(const void* target, std::size_t bytes) {
  if (!memory_.is_near_view(running_, target) || bytes == 0) return;
  check(memory_.wrote(running_, memory_.offset_of(running_, target), bytes), "writes", bytes);
}

bool Execution::expose(const void* source, std::size_t bytes) {
  exposed_.push_back({running_, static_cast<const std::byte*>(source), bytes, memory_.time_of(running_)});
  return true;
}

void Execution::pull(int owner, const void* source, std::size_t bytes) {
  point();
  const auto* begin = static_cast<const std::byte*>(source);
  for (const Exposed& e : exposed_) {
    if (e.owner != owner || begin < e.begin || begin + bytes > e.begin + e.bytes) continue;
    if (e.since > memory_.clock_of(running_)[owner]) break;
    pulled_.push_back({running_, owner, begin, bytes, memory_.time_of(running_)});
    return;
  }
  fail(Wrong::unordered,
       formatted("rank {} reads {} bytes of rank {}'s memory, which that has not shown to it, or has "
                 "taken back",
                 running_, bytes, owner));
}

void Execution::waits_for(const void* flag, std::uint64_t step) {
  of(running_).awaited_flag = flag_of(flag);
  of(running_).awaited_step = step;
}

Change Execution::at(const std::source_location& where, Operation operation, const char* name,
                     std::memory_order order) {
  const std::uint64_t hash =
      reinterpret_cast<std::uint64_t>(where.file_name()) * 31 +
      (std::uint64_t{where.line()} << 20 | where.column() << 8 | static_cast<std::uint64_t>(operation));
  if (known_sites_.insert(hash).second) sites_.insert(site_of(where, operation, name, order));
  if (!mutant_ || mutant_->site.line != where.line() || mutant_->site.column != where.column() ||
      mutant_->site.operation != operation)
    return Change::none;
  return site_of(where, operation, name, order) == mutant_->site ? mutant_->change : Change::none;
}

// --- scheduling ---

void Execution::point() {
  if (abandoning_) throw Abandoned{};
  note_writes();
  count_operation();
  rouse();
  preempt();
}

void Execution::count_operation() {
  if (++outcome_.operations > most_operations)
    fail(Wrong::endless, formatted("{} operations, and no end: {}", most_operations, who_waits()));
}

void Execution::preempt() {
  std::array<int, most_ranks> options = {running_};
  std::size_t count = 1;
  for (int rank = 0; rank < scenario_.ranks; ++rank)
    if (rank != running_ && of(rank).state == State::runs) options[count++] = rank;
  if (count == 1) return;
  const int chosen = options[chooser_->choose(Question::go_on, {options.data(), count})];
  if (chosen == running_) return;
  preempting_ = chosen;
  const int self = running_;
  of(self).fiber.pause();
  if (abandoning_) throw Abandoned{};
}

// A futex may wake for no reason.
void Execution::rouse() {
  if (!chooser_->rouses()) return;
  std::array<int, most_ranks + 1> options = {-1};
  std::size_t count = 1;
  for (int rank = 0; rank < scenario_.ranks; ++rank)
    if (of(rank).state == State::sleeps) options[count++] = rank;
  if (count == 1) return;
  const int chosen = options[chooser_->choose(Question::rouse, {options.data(), count})];
  if (chosen >= 0) of(chosen).state = State::runs;
}

void Execution::sleep() {
  Rank& own = of(running_);
  own.state = State::sleeps;
  own.fiber.pause();
  if (abandoning_) throw Abandoned{};
}

// Algorithms write lines and slots of their own rank without telling the machine.
void Execution::note_writes() {
  const std::size_t lines = layout_.station_lines() * sizeof(memory::FlagLine);
  const std::size_t slots = static_cast<std::size_t>(layout_.slots) * layout_.slot_bytes;
  check(memory_.find_writes(running_, layout_.station(running_), lines), "writes", 1);
  check(memory_.find_writes(running_, layout_.ring(running_), slots), "writes", 1);
}

// --- reports ---

void Execution::check(const std::optional<Trespass>& trespass, const char* does, std::size_t bytes) {
  if (!trespass || abandoning_) return;
  const std::string what =
      formatted("rank {} {} {} bytes, of which {}", running_, does, bytes, describe(trespass->offset));
  if (trespass->other.is_never()) fail(Wrong::unwritten, what + " was never written");
  if (memory_.is_freed(trespass->offset))
    fail(Wrong::freed, formatted("{} was given back by rank {}", what, trespass->other.rank()));
  fail(Wrong::unordered, formatted("{} was {} by rank {} with nothing that orders the two", what,
                                   trespass->other_wrote ? "written" : "read", trespass->other.rank()));
}

void Execution::record(const std::string& line) {
  outcome_.log.push_back(formatted("rank {} {}", running_, line));
}

std::string Execution::describe(std::size_t offset) const {
  constexpr std::size_t line = sizeof(memory::FlagLine);
  if (offset < layout_.common_bytes()) {
    if (offset / line == 0) return "the arrival counter";
    return offset / line == 1 ? "the share's life"
                              : formatted("the common release line {}", offset / line - 2);
  }
  if (offset < layout_.ring(0)) {
    const std::size_t within = offset - layout_.station(0);
    const std::size_t rank = within / layout_.station_bytes(),
                      number = within % layout_.station_bytes() / line;
    const auto slots = static_cast<std::size_t>(layout_.slots);
    if (number == 0) return formatted("the finish line of rank {}", rank);
    if (number > 2 * slots) return formatted("the notes of rank {}", rank);
    return formatted("the {} line {} of rank {}", number <= slots ? "gather" : "release",
                     (number - 1) % slots, rank);
  }
  const std::size_t within = offset - layout_.ring(0);
  return formatted("byte {} of slot {} of rank {}", within % layout_.ring_bytes() % layout_.slot_bytes,
                   within % layout_.ring_bytes() / layout_.slot_bytes, within / layout_.ring_bytes());
}

std::string Execution::who_waits() const {
  std::string text;
  for (int rank = 0; rank < scenario_.ranks; ++rank) {
    const Rank& it = of(rank);
    if (!text.empty()) text += "; ";
    if (it.state == State::sleeps)
      text += formatted("rank {} sleeps on {} for step {}", rank, describe(it.awaited_flag), it.awaited_step);
    else
      text += formatted("rank {} {}", rank, it.state == State::ended ? "is through" : "runs");
  }
  return text;
}

}  // namespace espalier::simulate::checking
