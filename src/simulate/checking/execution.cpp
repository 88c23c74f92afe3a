#include "simulate/checking/execution.hpp"

#include <algorithm>
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
  memory_.reset();
  messages_.reset();
  for (pid_t rank = 0; rank < scenario_.ranks; ++rank)
    memory_.put(node_of(rank).begin + node_of(rank).layout.process_id(local_rank(rank)), &rank, sizeof rank);
}

void Execution::start_ranks() {
  for (int rank = 0; rank < scenario_.ranks; ++rank) {
    Rank& it = of(rank);
    it.state = State::runs;
    it.results.clear();
    it.poke = nullptr;
    it.news = it.heard = {};
    it.roused_at = 0;
    it.fiber.start(stacks_.at(static_cast<std::size_t>(rank)), [this, rank] { run_rank(rank); });
  }
}

void Execution::run_rank(int rank) {
  const machine::Poke poke{[](void* which) {
                             if (auto& it = *static_cast<Rank*>(which); it.poke) it.poke();
                           },
                           &of(rank)};
  try {
    CheckingMachine machine(memory_.view(rank) + node_of(rank).begin, node_of(rank).layout, local_rank(rank),
                            scenario_.policy, poke);
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
    else if (!end_a_nap() && !rouse_the_idle())
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

// Stores become visible at last, messages come at last, and naps end: whoever idles, or sleeps although a
// message is under way to it, looks once more at what there is by now.
bool Execution::rouse_the_idle() {
  for (int rank = 0; rank < scenario_.ranks; ++rank) {
    Rank& it = of(rank);
    const bool naps = it.state == State::sleeps && messages_.concern(rank);
    if ((it.state != State::idles && !naps) || it.roused_at == events_ + 1) continue;
    if (!naps) memory_.settle(rank);
    it.roused_at = events_ + 1;
    it.state = State::runs;
    hurries_ = true;
    return true;
  }
  return false;
}

void Execution::report_stillness() {
  bool anybody = false, there = false;
  for (const Rank& rank : ranks_) {
    if (rank.state == State::ended) continue;
    anybody = true;
    if (rank.state != State::sleeps) continue;
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

// --- operations ---

std::uint64_t Execution::load(const void* flag, const char* name, std::memory_order order,
                              const std::source_location& where) {
  if (at(where, Operation::load, name, order) == Change::relaxed) order = std::memory_order_relaxed;
  point();
  const std::size_t offset = flag_of(flag);
  const std::size_t age = age_of_load(offset);
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
  const std::uint64_t before = memory_.newest(flag_of(flag));
  memory_.store(running_, flag_of(flag), value, order);
  stored(flag_of(flag), before);
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
  const std::size_t offset = flag_of(flag);
  std::uint64_t before = memory_.newest(offset);
  if (change == Change::in_two_steps) {
    before = memory_.load(running_, offset, age_of_load(offset), order);
    point();
    memory_.store(running_, offset, before + value, order);
  } else {
    memory_.exchange(running_, offset, before + value, order);
  }
  stored(offset, before);
  if (with_log_)
    record(formatted("adds {} to {} of {}, which was {}", static_cast<std::int64_t>(value), name,
                     describe(flag_of(flag)), static_cast<std::int64_t>(before)));
  return before;
}

std::size_t Execution::age_of_load(std::size_t flag) {
  const std::size_t count = memory_.readable(running_, flag);
  if (count <= 1) return 0;
  constexpr std::size_t most = 8;
  static constexpr std::array<int, most> ages = {0, 1, 2, 3, 4, 5, 6, 7};
  return chooser_->choose(Question::value, std::span(ages).first(std::min(count, most)));
}

std::uint64_t Execution::exchange(const void* flag, const char* name, std::uint64_t value,
                                  std::memory_order order, const std::source_location& where) {
  const Change change = at(where, Operation::exchange, name, order);
  if (change == Change::relaxed) order = std::memory_order_relaxed;
  if (change == Change::acquire_only) order = std::memory_order_acquire;
  if (change == Change::release_only) order = std::memory_order_release;
  point();
  const std::size_t offset = flag_of(flag);
  std::uint64_t before = memory_.newest(offset);
  if (change == Change::removed) {
    before = memory_.load(running_, offset, age_of_load(offset), order);
  } else if (change == Change::in_two_steps) {
    before = memory_.load(running_, offset, age_of_load(offset), order);
    point();
    memory_.store(running_, offset, value, order);
  } else {
    memory_.exchange(running_, offset, value, order);
  }
  stored(offset, before);
  if (with_log_) record(formatted("puts {} into {} {}, which was {}", value, name, describe(offset), before));
  return before;
}

// One that fails is a load, and as stale as any.
bool Execution::compare_exchange(const void* flag, const char* name, std::uint64_t& expected,
                                 std::uint64_t desired, bool weak, std::memory_order success,
                                 std::memory_order failure, const std::source_location& where) {
  const Change change = at(where, Operation::compare_exchange, name, success);
  if (change == Change::relaxed) success = std::memory_order_relaxed;
  if (change == Change::acquire_only) success = std::memory_order_acquire;
  if (change == Change::release_only) success = std::memory_order_release;
  if (change == Change::failure_relaxed) failure = std::memory_order_relaxed;
  point();
  const std::size_t offset = flag_of(flag);
  const bool matches = memory_.newest(offset) == expected && !(weak && ask(Question::value) == 1);
  if (matches && change != Change::in_two_steps) {
    memory_.exchange(running_, offset, desired, success);
    stored(offset, expected);
    if (with_log_)
      record(formatted("changes {} {} from {} to {}", name, describe(offset), expected, desired));
    return true;
  }
  const std::uint64_t wanted = expected;
  std::size_t age = matches ? 0 : age_of_load(offset);
  if (memory_.value(offset, age) == wanted) age = 0;  // what matches is changed, and that takes the newest
  expected = memory_.load(running_, offset, age, failure);
  if (with_log_) record(formatted("does not change {} {}: it is {}", name, describe(offset), expected));
  if (!matches) return false;
  point();
  memory_.store(running_, offset, desired, success);
  stored(offset, wanted);
  return expected == wanted;
}

// Others of the node that look at flags have something to look at, if it is something new.
void Execution::stored(std::size_t flag, std::uint64_t before) {
  if (memory_.newest(flag) == before) return;
  ++events_;
  hurries_ = false;
  for (int rank = 0; rank < scenario_.ranks; ++rank) {
    Rank& it = of(rank);
    if (rank == running_ || node_of_rank(rank) != node_of_rank(running_)) continue;
    ++it.news.stores;
    if (it.state == State::idles && it.looks_at_flags) it.state = State::runs;
  }
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
  const Change change = at(where, Operation::futex_wait);
  if (change == Change::removed) return;
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
  if (static_cast<std::uint32_t>(value) != seen && change != Change::uncompared) {
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
  const Change change = at(where, Operation::futex_wake);
  if (change == Change::removed) return;
  point();
  const std::size_t offset = flag_of(flag);
  memory_.meet_in_kernel(running_, offset);
  for (Rank& rank : ranks_) {
    if (rank.state != State::sleeps || rank.sleeps_on != offset) continue;
    rank.state = State::runs;
    if (change == Change::one_only) break;
  }
  if (with_log_) record(formatted("wakes who sleeps on {}", describe(offset)));
}

void Execution::reads(const void* source, std::size_t bytes) {
  if (bytes == 0) return;
  if (const auto other = messages_.met_by(running_, source, bytes, false))
    fail(Wrong::message, formatted("rank {} reads {} bytes where {} is under way", running_, bytes, *other));
  if (!memory_.is_near_view(running_, source)) return;
  const std::size_t offset = memory_.offset_of(running_, source);
  if (offset + bytes > memory_.bytes())
    fail(Wrong::error, formatted("rank {} reads {} bytes beyond the share, at {}", running_, bytes, offset));
  note_writes();
  check(memory_.read(running_, offset, bytes), "reads", bytes);
}

void Execution::writes(const void* target, std::size_t bytes) {
  if (bytes == 0) return;
  if (const auto other = messages_.met_by(running_, target, bytes, true))
    fail(Wrong::message, formatted("rank {} writes {} bytes where {} is under way", running_, bytes, *other));
  if (!memory_.is_near_view(running_, target)) return;
  check(memory_.wrote(running_, memory_.offset_of(running_, target), bytes), "writes", bytes);
}

void Execution::may_write(const void* target, std::size_t bytes) {
  if (!memory_.is_near_view(running_, target)) return;
  const std::size_t offset = memory_.offset_of(running_, target);
  if (offset + bytes > memory_.bytes())
    fail(Wrong::error, formatted("rank {} writes {} bytes beyond the share, at {}", running_, bytes, offset));
}

std::uintptr_t Execution::place_of(int rank, const void* address) const {
  if (memory_.is_near_view(rank, address)) return memory_.offset_of(rank, address);
  return reinterpret_cast<std::uintptr_t>(address);
}

bool Execution::keeps(const void* address) const {
  for (int rank = 0; rank < scenario_.ranks; ++rank)
    if (memory_.is_near_view(rank, address)) return true;
  return std::any_of(kept_.begin(), kept_.end(), [&](const Kept& each) {
    return address >= each.begin.get() && address < each.begin.get() + each.bytes;
  });
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

Change Execution::at(const Site& site) {
  sites_.insert(site);
  return mutant_ && mutant_->site == site ? mutant_->change : Change::none;
}

std::size_t Execution::ask(Question question) {
  static constexpr std::array<int, 2> options = {0, 1};
  return chooser_->choose(question, options);
}

// --- scheduling ---

void Execution::point() {
  if (is_over()) throw Abandoned{};
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
  pause();
}

void Execution::pause() {
  of(running_).fiber.pause();
  if (is_over()) throw Abandoned{};
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
  of(running_).state = State::sleeps;
  pause();
}

// A second look in vain without news in between: all that is left is to wait for some.
void Execution::idle(bool flags) {
  point();
  Rank& own = of(running_);
  const Rank::News known = {own.news.messages, flags ? own.news.stores : own.heard.stores};
  if (std::exchange(own.heard, known) != known) return;
  own.looks_at_flags = flags;
  own.state = State::idles;
  pause();
}

void Execution::bring_news(int rank) {
  ++events_;
  hurries_ = false;
  Rank& it = of(rank);
  ++it.news.messages;
  if (it.state == State::idles) it.state = State::runs;
}

// Algorithms write lines and slots of their own rank without telling the machine.
void Execution::note_writes() {
  const auto& [layout, begin] = node_of(running_);
  const int local = local_rank(running_);
  const std::size_t lines = layout.station_lines() * sizeof(memory::FlagLine);
  const std::size_t slots = static_cast<std::size_t>(layout.slots) * layout.slot_bytes;
  check(memory_.find_writes(running_, begin + layout.station(local), lines), "writes", 1);
  check(memory_.find_writes(running_, begin + layout.ring(local), slots), "writes", 1);
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

int Execution::local_rank(int rank) const {
  if (scenario_.node_of.empty()) return rank;
  const auto begin = scenario_.node_of.begin();
  return static_cast<int>(std::count(begin, begin + rank, node_of_rank(rank)));
}

std::string Execution::describe(std::size_t offset) const {
  std::size_t number = nodes_.size() - 1;
  while (nodes_[number].begin > offset) --number;
  const std::string text = describe_in(nodes_[number].layout, offset - nodes_[number].begin);
  return nodes_.size() == 1 ? text : formatted("{} on node {}", text, number);
}

std::string Execution::describe_in(const machine::Layout& layout, std::size_t offset) {
  constexpr std::size_t line = sizeof(memory::FlagLine);
  if (offset >= layout.bytes()) return formatted("byte {} of the area", offset - layout.bytes());
  if (offset < layout.common_bytes()) {
    if (offset / line == 0) return "the arrival counter";
    return offset / line == 1 ? "the share's life"
                              : formatted("the common release line {}", offset / line - 2);
  }
  if (offset < layout.ring(0)) {
    const std::size_t within = offset - layout.station(0);
    const std::size_t rank = within / layout.station_bytes(), number = within % layout.station_bytes() / line;
    const auto slots = static_cast<std::size_t>(layout.slots);
    if (number == 0) return formatted("the finish line of rank {}", rank);
    if (number > 2 * slots) return formatted("the notes of rank {}", rank);
    return formatted("the {} line {} of rank {}", number <= slots ? "gather" : "release",
                     (number - 1) % slots, rank);
  }
  const std::size_t within = offset - layout.ring(0);
  return formatted("byte {} of slot {} of rank {}", within % layout.ring_bytes() % layout.slot_bytes,
                   within % layout.ring_bytes() / layout.slot_bytes, within / layout.ring_bytes());
}

std::string Execution::who_waits() const {
  std::string text;
  for (int rank = 0; rank < scenario_.ranks; ++rank) {
    const Rank& it = of(rank);
    if (!text.empty()) text += "; ";
    if (it.state == State::idles)
      text += formatted("rank {} waits for {}", rank,
                        it.looks_at_flags ? "messages and notifications" : "messages");
    else if (it.state == State::sleeps)
      text += formatted("rank {} sleeps on {} for step {}", rank, describe(it.awaited_flag), it.awaited_step);
    else
      text += formatted("rank {} {}", rank, it.state == State::ended ? "is through" : "runs");
  }
  return text;
}

}  // namespace espalier::simulate::checking
