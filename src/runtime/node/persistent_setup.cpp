// How ranks prepare a persistent collective: they compare what each of them wants, and share memory for what
// they give each other.
#include <algorithm>
#include <cstring>

#include "base/config.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "collective/node/all_to_all/allgather.hpp"
#include "collective/schedule/buffer_layout.hpp"
#include "runtime/communicator/persistent.hpp"
#include "runtime/failure/call_text.hpp"
#include "runtime/node/node_communicator.hpp"
#include "runtime/setup/eligibility.hpp"

namespace espalier::runtime {
namespace {

using collective::PersistentSpec;
using machine::Layout;

/// What a rank tells the others of its part. Plain bytes: it goes through the bootstrap.
struct Part {
  std::uint64_t bytes, given_bytes, cells_bytes;
  std::int32_t collective, root, is_unable;
};

/// Why a rank is unable.
struct Reason {
  char text[112];
};

Part part_of(const PersistentSpec& spec, int rank, const std::string& unable) {
  Part part{};
  part.bytes = spec.bytes;
  part.given_bytes = spec.given_bytes;
  part.cells_bytes = collective::LayoutCells(spec, rank).bytes;
  part.collective = static_cast<std::int32_t>(spec.collective);
  part.root = spec.root;
  part.is_unable = !unable.empty();
  return part;
}

machine::CallFacts facts_of(const Part& part) {
  return {static_cast<Collective>(part.collective), part.root, part.bytes};
}

/// The reason of the first rank that is unable; empty: all ranks are able. Ranks exchange reasons only where
/// there are some: the parts ride in flag lines.
std::string why_not(const Bootstrap& bootstrap, const std::vector<Part>& all, const std::string& unable) {
  const auto first =
      std::find_if(all.begin(), all.end(), [](const Part& part) { return part.is_unable != 0; });
  if (first == all.end()) return "";
  Reason mine{};
  std::strncpy(mine.text, unable.c_str(), sizeof mine.text - 1);
  const auto rank = static_cast<std::size_t>(first - all.begin());
  return formatted("rank {}: {}", rank, exchange(bootstrap, mine)[rank].text);
}

/// Throws, on all ranks alike, if they prepare different collectives.
void compare(const std::vector<Part>& all) {
  const machine::CallFacts first = facts_of(all.front());
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    const machine::CallFacts theirs = facts_of(all[rank]);
    if (theirs != first)
      throw Error(formatted("the ranks prepare different collectives: rank 0 {}, rank {} {}; {}",
                            print(first), rank, print(theirs), same_calls));
  }
}

/// Where the machine's lines and, after them, the buffers lie in the share. The buffer layout says how many
/// slots the machine has, one or two, but begins where the machine's layout ends. With one slot that needs no
/// more room than with two.
struct ShareLayout {
  explicit ShareLayout(const std::vector<Part>& all)
      : layout(layout_of(all.size(), 2)),
        buffer_layout(static_cast<Collective>(all.front().collective), contributions_of(all),
                      Layout::round_up(layout.bytes(), Layout::page)) {
    layout = layout_of(all.size(), buffer_layout.slots());
  }

  Layout layout;
  collective::BufferLayout buffer_layout;

 private:
  static Layout layout_of(std::size_t ranks, int slots) {
    Layout layout;
    layout.ranks = static_cast<int>(ranks);
    layout.slots = slots;
    layout.slot_bytes = 0;
    layout.has_pairwise = false;
    layout.compact = true;
    return layout;
  }
  static std::vector<collective::Contribution> contributions_of(const std::vector<Part>& all) {
    std::vector<collective::Contribution> contributions;
    contributions.reserve(all.size());
    for (const Part& part : all) contributions.push_back({part.given_bytes, part.cells_bytes});
    return contributions;
  }
};

/// Short buffers lie close to others'; of long ones each rank backs its own, in its NUMA domain.
bool back(memory::Arena& arena, memory::Share share, const collective::BufferLayout& layout, int rank) {
  constexpr std::size_t most_around = 64 * 1024;
  if (share.bytes <= most_around) return arena.reserve_around(share);
  const std::size_t lines = layout.region(0);
  if (!arena.reserve(share, 0, lines) ||
      !arena.reserve(share, layout.region(rank), layout.region_bytes(rank)) ||
      (rank == 0 && !arena.reserve(share, layout.common(), layout.common_bytes())))
    return false;
  arena.map_now(share, layout.region(rank), layout.region_bytes(rank), memory::Arena::Use::writing);
  return true;
}

/// Backs this rank's part of the share with memory, and writes there where the other ranks find its blocks.
bool open_region(memory::Arena& arena, memory::Share share, const ShareLayout& share_layout, int rank,
                 const PersistentSpec& spec) {
  const collective::BufferLayout& buffer_layout = share_layout.buffer_layout;
  if (!back(arena, share, buffer_layout, rank) || !prepare(arena, share, share_layout.layout, rank))
    return false;
  const collective::LayoutCells cells(spec, rank);
  std::memcpy(arena.at(share.offset) + buffer_layout.table(rank, 0), cells.of.data(),
              cells.of.size() * sizeof(collective::LayoutCell));
  return true;
}

/// Rank 0 allocates a share, and each rank says whether its part has memory. Returns no share, on all ranks
/// alike, when one of these has failed.
memory::Share obtain_share(const Bootstrap& bootstrap, memory::Arena& arena, const ShareLayout& share_layout,
                           const PersistentSpec& spec) {
  const std::size_t bytes = share_layout.buffer_layout.end();
  std::uint64_t offset = bootstrap.rank == 0 ? arena.allocate(bytes).offset : 0;
  offset = exchange(bootstrap, offset).front();
  if (offset == 0) return {};
  const memory::Share share = {static_cast<std::size_t>(offset), bytes};
  const auto opened = exchange(
      bootstrap, static_cast<std::int32_t>(open_region(arena, share, share_layout, bootstrap.rank, spec)));
  if (std::count(opened.begin(), opened.end(), 0) == 0) return share;
  if (bootstrap.rank == 0) arena.free(share);
  return {};
}

/// The cell of each rank for this one: where that rank's block for it lies.
std::vector<collective::LayoutCell> cells_for(int rank, int ranks, const std::byte* base,
                                              const collective::BufferLayout& buffer_layout) {
  std::vector<collective::LayoutCell> cells(static_cast<std::size_t>(ranks));
  for (int giver = 0; giver < ranks; ++giver)
    std::memcpy(&cells[static_cast<std::size_t>(giver)], base + buffer_layout.table(giver, rank),
                sizeof(collective::LayoutCell));
  return cells;
}

/// A block that a rank receives has not the length of the one that is sent.
struct Misfit {
  std::int32_t peer = -1;  ///< the sender; -1: all blocks fit
  std::uint64_t wanted = 0, sent = 0;
};

Misfit find_misfit(const PersistentSpec& spec, int rank, const std::vector<collective::LayoutCell>& cells) {
  for (int peer = 0; peer < static_cast<int>(cells.size()); ++peer) {
    const std::size_t wanted = spec.arrives_from(peer), sent = cells[static_cast<std::size_t>(peer)].bytes;
    if (peer != rank && sent != wanted) return {peer, wanted, sent};
  }
  return {};
}

/// The first misfit as text, the same on all ranks; empty: there is none.
std::string print_first(const std::vector<Misfit>& all) {
  for (std::size_t rank = 0; rank < all.size(); ++rank)
    if (all[rank].peer >= 0)
      return formatted("rank {} wants {} bytes of rank {}, which sends {}; both must name the same length",
                       rank, all[rank].wanted, all[rank].peer, all[rank].sent);
  return "";
}

}  // namespace

// In pieces that ride in flag lines: a communicator of short calls needs no slots for them.
Bootstrap NodeCommunicator::own_bootstrap(const Bootstrap& host) {
  return {rank(), size(), [this, &host](const void* mine, void* all, std::size_t bytes) {
            std::vector<std::byte> pieces(memory::inline_capacity * static_cast<std::size_t>(size()));
            for (std::size_t done = 0; done < bytes; done += memory::inline_capacity) {
              const std::size_t part = std::min(bytes - done, memory::inline_capacity);
              const bool served =
                  state_.serve_uncounted(Collective::allgather, part, [&](const plan::Plan& plan) {
                    collective::allgather(state_.machine, static_cast<const std::byte*>(mine) + done,
                                          pieces.data(), collective::EqualBlocks{part}, plan);
                  });
              if (!served) return host.allgather(mine, all, bytes);  // a rule, so for all pieces
              for (std::size_t r = 0; r < static_cast<std::size_t>(size()); ++r)
                std::memcpy(static_cast<std::byte*>(all) + r * bytes + done, pieces.data() + r * part, part);
            }
          }};
}

std::unique_ptr<Persistent> NodeCommunicator::prepare(const Bootstrap& host, const PersistentSpec& spec,
                                                      const std::string& unable, std::string& why) {
  const Bootstrap bootstrap = own_bootstrap(host);
  if (!Config::instance().flag("ESPALIER_PERSISTENT")) return nullptr;  // switched off by the user
  const auto all = exchange(bootstrap, part_of(spec, bootstrap.rank, unable));
  why = why_not(bootstrap, all, unable);
  if (!why.empty()) return nullptr;
  compare(all);
  const ShareLayout share_layout(all);
  const memory::Share share = obtain_share(bootstrap, state_.arena, share_layout, spec);
  if (!share) {
    why = "the shared-memory budget has no room left for a persistent collective (see ESPALIER_SHM)";
    return nullptr;
  }
  std::byte* const base = state_.arena.at(share.offset);
  const auto cells = cells_for(rank(), size(), base, share_layout.buffer_layout);
  // Where all blocks have one length, comparing the calls has compared them.
  const std::string misfit = traits(spec.collective).has_v_form
                                 ? print_first(exchange(bootstrap, find_misfit(spec, rank(), cells)))
                                 : "";
  if (!misfit.empty()) {
    if (rank() == 0) state_.arena.free(share);
    throw Error(misfit);
  }
  return std::make_unique<Persistent>(
      state_.arena, share, share_layout.layout, rank(), state_.machine.waiter().policy(),
      share_layout.buffer_layout.prepare(spec, rank(), base, cells), facts_of(all.front()));
}

}  // namespace espalier::runtime
