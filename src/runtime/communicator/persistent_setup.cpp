// How ranks prepare a persistent collective: they compare what each of them wants, and share memory for what
// they give each other.
#include <algorithm>
#include <cstring>

#include "base/config.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "collective/schedule/buffer_layout.hpp"
#include "runtime/communicator/node_communicator.hpp"
#include "runtime/communicator/persistent.hpp"
#include "runtime/failure/call_text.hpp"
#include "runtime/setup/eligibility.hpp"

namespace espalier::runtime {
namespace {

using collective::Recipe;
using machine::Layout;

/// What a rank says of its part. Plain bytes: it crosses the bootstrap.
struct Part {
  std::uint64_t bytes, given_bytes, cells_bytes;
  std::int32_t collective, root;
  char unable[112];
};

Part part_of(const Recipe& recipe, int rank, const std::string& unable) {
  Part part{};
  part.bytes = recipe.bytes;
  part.given_bytes = recipe.given_bytes;
  part.cells_bytes = collective::PlotCells(recipe, rank).bytes;
  part.collective = static_cast<std::int32_t>(recipe.collective);
  part.root = recipe.root;
  std::strncpy(part.unable, unable.c_str(), sizeof part.unable - 1);
  return part;
}

machine::CallFacts facts_of(const Part& part) {
  return {static_cast<Collective>(part.collective), part.root, part.bytes};
}

/// Empty: all ranks can.
std::string why_not(const std::vector<Part>& all) {
  for (std::size_t rank = 0; rank < all.size(); ++rank)
    if (all[rank].unable[0] != '\0') return formatted("rank {}: {}", rank, all[rank].unable);
  return "";
}

/// Throws on all ranks alike.
void compare(const std::vector<Part>& all) {
  const machine::CallFacts first = facts_of(all.front());
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    const machine::CallFacts theirs = facts_of(all[rank]);
    if (theirs != first)
      throw Error(formatted("the ranks prepare different collectives: rank 0 {}, rank {} {}; {}",
                            print(first), rank, print(theirs), same_calls));
  }
}

/// How the ranks' machine and all else lie in the share. With one slot the machine needs no more than with
/// two.
struct Ground {
  explicit Ground(const std::vector<Part>& all)
      : layout(layout_of(all.size(), 2)),
        plot(static_cast<Collective>(all.front().collective), contributions_of(all), layout.bytes()) {
    layout = layout_of(all.size(), plot.slots());
  }

  Layout layout;
  collective::Plot plot;

 private:
  static Layout layout_of(std::size_t ranks, int slots) {
    Layout layout;
    layout.ranks = static_cast<int>(ranks);
    layout.slots = slots;
    layout.slot_bytes = 0;
    layout.trades = false;
    return layout;
  }
  static std::vector<collective::Contribution> contributions_of(const std::vector<Part>& all) {
    std::vector<collective::Contribution> contributions;
    for (const Part& part : all) contributions.push_back({part.given_bytes, part.cells_bytes});
    return contributions;
  }
};

/// Backs this rank's part with memory, and says there where others find what they read.
bool open_region(const memory::Arena& arena, memory::Share share, const Ground& ground, int rank,
                 const Recipe& recipe) {
  const collective::Plot& plot = ground.plot;
  if (!prepare(arena, share, ground.layout, rank) ||
      !arena.reserve(share, plot.region(rank), plot.region_bytes(rank)) ||
      (rank == 0 && !arena.reserve(share, plot.common(), plot.common_bytes())))
    return false;
  arena.map_now(share, plot.region(rank), plot.region_bytes(rank), memory::Arena::Use::writing);
  const collective::PlotCells cells(recipe, rank);
  std::memcpy(arena.at(share.offset) + plot.table(rank, 0), cells.of.data(),
              cells.of.size() * sizeof(collective::PlotCell));
  return true;
}

/// Rank 0 offers memory, all say whether their part of it is there. No share, on all ranks alike: none was to
/// be had.
memory::Share meet(const Bootstrap& bootstrap, memory::Arena& arena, const Ground& ground,
                   const Recipe& recipe) {
  const std::size_t bytes = ground.plot.end();
  std::uint64_t offset = bootstrap.rank == 0 ? arena.allocate(bytes).offset : 0;
  offset = exchange(bootstrap, offset).front();
  if (offset == 0) return {};
  const memory::Share share = {static_cast<std::size_t>(offset), bytes};
  const auto opened = exchange(
      bootstrap, static_cast<std::int32_t>(open_region(arena, share, ground, bootstrap.rank, recipe)));
  if (std::count(opened.begin(), opened.end(), 0) == 0) return share;
  if (bootstrap.rank == 0) arena.free(share);
  return {};
}

/// Of each rank, the cell for this one.
std::vector<collective::PlotCell> cells_for(int rank, int ranks, const std::byte* base,
                                            const collective::Plot& plot) {
  std::vector<collective::PlotCell> cells(static_cast<std::size_t>(ranks));
  for (int giver = 0; giver < ranks; ++giver)
    std::memcpy(&cells[static_cast<std::size_t>(giver)], base + plot.table(giver, rank),
                sizeof(collective::PlotCell));
  return cells;
}

/// A block that a rank wants is not as long as the one that is sent.
struct Misfit {
  std::int32_t peer = -1;  ///< who sends it; -1: all fit
  std::uint64_t wanted = 0, sent = 0;
};

Misfit find_misfit(const Recipe& recipe, int rank, const std::vector<collective::PlotCell>& cells) {
  for (int peer = 0; peer < static_cast<int>(cells.size()); ++peer) {
    const std::size_t wanted = recipe.arrives_from(peer), sent = cells[static_cast<std::size_t>(peer)].bytes;
    if (peer != rank && sent != wanted) return {peer, wanted, sent};
  }
  return {};
}

/// Empty, or what all ranks say alike.
std::string print_first(const std::vector<Misfit>& all) {
  for (std::size_t rank = 0; rank < all.size(); ++rank)
    if (all[rank].peer >= 0)
      return formatted("rank {} wants {} bytes of rank {}, which sends {}; both must name the same length",
                       rank, all[rank].wanted, all[rank].peer, all[rank].sent);
  return "";
}

}  // namespace

std::unique_ptr<Persistent> NodeCommunicator::prepare(const Bootstrap& bootstrap, const Recipe& recipe,
                                                      const std::string& unable, std::string& why) {
  if (!Config::instance().flag("ESPALIER_PERSISTENT")) return nullptr;  // switched off by the user
  const auto all = exchange(bootstrap, part_of(recipe, bootstrap.rank, unable));
  why = why_not(all);
  if (!why.empty()) return nullptr;
  compare(all);
  const Ground ground(all);
  const memory::Share share = meet(bootstrap, state_.arena, ground, recipe);
  if (!share) {
    why = "the shared-memory budget has no room left for a persistent collective (see ESPALIER_SHM)";
    return nullptr;
  }
  std::byte* const base = state_.arena.at(share.offset);
  const auto cells = cells_for(rank(), size(), base, ground.plot);
  const std::string misfit = print_first(exchange(bootstrap, find_misfit(recipe, rank(), cells)));
  if (!misfit.empty()) {
    if (rank() == 0) state_.arena.free(share);
    throw Error(misfit);
  }
  return std::make_unique<Persistent>(
      state_.arena, share, ground.layout, rank(), state_.machine.waiter().policy(),
      ground.plot.prepare(recipe, rank(), base, cells), facts_of(all.front()));
}

}  // namespace espalier::runtime
