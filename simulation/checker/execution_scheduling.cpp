// Who runs next: where ranks may be preempted, and how they sleep, idle and are roused.
#include "simulation/checker/execution.hpp"

#include <array>

#include "base/format.hpp"

namespace espalier::simulation::checker {

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
  const std::size_t lines = layout.control_block_lines() * sizeof(memory::FlagLine);
  const std::size_t slots = static_cast<std::size_t>(layout.slots) * layout.slot_bytes;
  check(memory_.find_writes(running_, begin + layout.control_block(local), lines), "writes", 1);
  check(memory_.find_writes(running_, begin + layout.ring(local), slots), "writes", 1);
}

}  // namespace espalier::simulation::checker
