#include "runtime/node/persistent/parts.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/format.hpp"
#include "collective/schedule/length_check.hpp"
#include "memory/flag_line.hpp"
#include "runtime/failure/call_text.hpp"

namespace espalier::runtime {

using collective::PersistentSpec;

static_assert(sizeof(Part) <= memory::inline_capacity);

Part part_of_rank(const PersistentSpec& spec, const collective::LayoutCells& cells, int rank, int ranks,
                  Unable unable) {
  Part part{};
  part.bytes = spec.bytes;
  part.given_bytes = spec.given_bytes;
  part.cells_bytes = cells.bytes;
  part.collective = static_cast<std::int8_t>(spec.collective);
  part.operation = spec.operation;
  part.root = spec.root;
  part.unable = unable;
  if (ranks == 2 && unable == Unable::no) {
    part.cell = cells.of[static_cast<std::size_t>(1 - rank)];
    part.arrives = spec.arrives_from(1 - rank);
  }
  return part;
}

machine::CallFacts facts_of(const Part& part) {
  return {static_cast<Collective>(part.collective), part.root, part.bytes, part.operation};
}

void compare(const Parts& all) {
  const machine::CallFacts first = facts_of(all[0]);
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    const machine::CallFacts theirs = facts_of(all[rank]);
    if (theirs != first)
      throw Error(formatted("the ranks prepare different collectives: rank 0 {}, rank {} {}; {}",
                            print_beside(first, theirs), rank, print_beside(theirs, first), same_calls));
  }
}

Misfit find_misfit(const PersistentSpec& spec, int rank, const Cells& cells) {
  Misfit found;
  for (int peer = 0; peer < static_cast<int>(cells.size()) && !found.is_excess(); ++peer) {
    const std::size_t wanted = spec.arrives_from(peer), sent = cells[static_cast<std::size_t>(peer)].bytes;
    if (peer != rank && sent != wanted) found = {peer, wanted, sent};
  }
  return found;
}

Misfit find_misfit_of_two(const Parts& all, int rank) {
  const int peer = 1 - rank;
  const std::uint64_t wanted = all[static_cast<std::size_t>(rank)].arrives,
                      sent = all[static_cast<std::size_t>(peer)].cell.bytes;
  return sent == wanted ? Misfit{} : Misfit{peer, wanted, sent};
}

std::string print_misfit(const ByRank<Misfit>& all) {
  std::string text;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const Misfit& misfit = all[rank];
    if (misfit.peer < 0) continue;
    if (misfit.is_excess())
      collective::refuse_excess(static_cast<int>(rank), misfit.wanted, misfit.peer, misfit.sent);
    if (text.empty())
      text = collective::print_lengths(static_cast<int>(rank), misfit.wanted, misfit.peer, misfit.sent);
  }
  return text;
}

bool needs_cells(const PersistentSpec& spec, const collective::BufferLayout& layout) {
  return !layout.rides_in_lines(spec) || traits(spec.collective).has_v_form ||
         spec.collective == Collective::scatter || spec.collective == Collective::alltoall;
}

bool are_possible(const Parts& all, std::size_t budget) {
  return std::all_of(all.begin(), all.end(), [budget](const Part& part) {
    return part.given_bytes <= budget && part.cells_bytes <= budget;
  });
}

void check(const Cells& cells, const Parts& all, int rank) {
  for (std::size_t giver = 0; giver < cells.size(); ++giver) {
    const collective::LayoutCell& cell = cells[giver];
    const Part& part = all[giver];
    const bool is_inside = cell.offset <= part.given_bytes && cell.bytes <= part.given_bytes - cell.offset &&
                           cell.place <= part.cells_bytes && cell.stride <= part.cells_bytes - cell.place;
    if (!is_inside)
      throw Error(
          formatted("rank {} says that its block for rank {} lies outside of what it gives; the "
                    "node's shared memory is damaged",
                    giver, rank));
  }
}

}  // namespace espalier::runtime
