// The memory that the ranks share for a persistent collective.
#pragma once

#include "collective/schedule/buffer_layout.hpp"
#include "machine/layout.hpp"
#include "memory/arena.hpp"
#include "runtime/node/persistent/parts.hpp"
#include "runtime/node/shared_state.hpp"

namespace espalier::runtime {

/// What each rank gives.
using Contributions = ByRank<collective::Contribution>;
void read_contributions(const Parts& all, Contributions& contributions);

/// Where the machine's lines and, after them, the buffers lie in the share. The buffer layout says how many
/// slots the machine has, one or two, but begins where the machine's layout ends. With one slot that needs no
/// more room than with two.
struct ShareLayout {
  ShareLayout(Collective collective, const Contributions& all);

  machine::Layout layout;
  collective::BufferLayout buffer_layout;
};

/// Rank 0, before it knows what the other ranks give: a share with memory and the lines of all ranks, of
/// `state`'s communicator, that is large enough if the others give what this rank would expect. No share:
/// there is no memory, or buffers are long, and each rank backs its own.
memory::Share offer_share(const SharedState& state, const collective::PersistentSpec& spec,
                          std::size_t cells_bytes);
/// The same, of so many bytes, with lines for two slots.
memory::Share offer_lines(const SharedState& state, std::size_t bytes);
machine::Layout persistent_lines(int ranks);
/// Whether an offered share of so many bytes has room for what all ranks give.
bool has_room(std::size_t offered_bytes, const ShareLayout& share_layout);

/// Backs this rank's part of a share that was not offered, and its lines. False: there is no memory.
bool open_region(memory::Arena& arena, memory::Share share, const ShareLayout& share_layout, int rank);

/// Writes where the other ranks find this rank's blocks; reads where this rank finds theirs.
void write_cells(std::byte* base, const collective::BufferLayout& layout, int rank,
                 const collective::LayoutCells& cells);
void read_cells(const std::byte* base, const collective::BufferLayout& layout, int rank, Cells& cells);

}  // namespace espalier::runtime
