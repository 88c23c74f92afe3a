// How an execution says what happened, and where.
#include "simulation/checker/execution.hpp"

#include <algorithm>

#include "base/format.hpp"

namespace espalier::simulation::checker {

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
    static constexpr std::array names = {"the arrival counter", "the share's life", "the share's failure",
                                         "the counter of pieces", "the count of ranks that ask for copies"};
    const std::size_t number = offset / line;
    return number < names.size() ? names[number]
                                 : formatted("the common release line {}", number - names.size());
  }
  if (offset < layout.ring(0)) {
    const std::size_t within = offset - layout.control_block(0);
    const std::size_t rank = within / layout.control_block_bytes(),
                      number = within % layout.control_block_bytes() / line;
    const auto slots = static_cast<std::size_t>(layout.slots);
    if (number == 0) return formatted("the finish line of rank {}", rank);
    if (number >= layout.control_block_lines()) return formatted("the notes of rank {}", rank);
    if (number > 2 * slots)
      return formatted("the {} line of rank {}", number == 2 * slots + 1 ? "request" : "answer", rank);
    return formatted("the {} line {} of rank {}", number <= slots ? "gather" : "release",
                     (number - 1) % slots, rank);
  }
  if (offset >= layout.pairwise_area(0)) {
    const std::size_t within = offset - layout.pairwise_area(0), area = layout.pairwise_area_bytes();
    return formatted("byte {} of the pairwise cells of rank {}", within % area, within / area);
  }
  const std::size_t rank = (offset - layout.ring(0)) / layout.ring_and_page_bytes();
  const std::size_t within = (offset - layout.ring(0)) % layout.ring_and_page_bytes();
  if (within >= layout.ring_bytes())
    return formatted("byte {} of what was copied for rank {}", within - layout.ring_bytes(), rank);
  return formatted("byte {} of slot {} of rank {}", within % layout.slot_bytes, within / layout.slot_bytes,
                   rank);
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

}  // namespace espalier::simulation::checker
