// What the ranks tell each other of a persistent collective that they prepare.
#pragma once

#include <cstdint>
#include <string>

#include "base/by_rank.hpp"
#include "collective/schedule/buffer_layout.hpp"
#include "machine/fingerprint.hpp"

namespace espalier::runtime {

/// Whether a rank cannot do what all are to do.
enum class Unable : std::int8_t {
  no,
  says_why,  ///< in the next exchange
  has_left   ///< for the host, which says what is wrong with its arguments
};

/// What one rank tells. Plain bytes, few enough to ride in a flag line.
struct Part {
  std::uint64_t bytes, given_bytes, cells_bytes;
  std::uint64_t offered;  ///< where the share is that rank 0 offers; 0: none
  std::uint32_t offered_bytes;
  std::int8_t collective;
  Unable unable;
  reduce::OperationCode operation;
  std::int32_t root;
  /// Where the block for the other one of two ranks lies, and how many bytes that one is to give.
  collective::LayoutCell cell;
  std::uint64_t arrives;
};
using Parts = ByRank<Part>;
using Cells = ByRank<collective::LayoutCell>;

/// A block that a rank receives has not the length of the one that is sent.
struct Misfit {
  std::int32_t peer = -1;  ///< the sender; -1: all blocks fit
  std::uint64_t wanted = 0, sent = 0;
  bool is_excess() const { return sent > wanted; }
};

/// `rank`'s, of so many.
Part part_of_rank(const collective::PersistentSpec& spec, const collective::LayoutCells& cells, int rank,
                  int ranks, Unable unable);
machine::CallFacts facts_of(const Part& part);

/// Throws, on all ranks alike, if they prepare different collectives.
void compare(const Parts& all);

Misfit find_misfit(const collective::PersistentSpec& spec, int rank, const Cells& cells);
/// Of two ranks, from their parts.
Misfit find_misfit_of_two(const Parts& all, int rank);
/// A misfit as text, the same on all ranks; empty: there is none. Throws, on all ranks alike, if a rank gets more than it
/// wants.
std::string print_misfit(const ByRank<Misfit>& all);

/// Whether readers must be told where their blocks lie. Else all of them lie at the beginning of what a rank
/// gives, in its flag line.
bool needs_cells(const collective::PersistentSpec& spec, const collective::BufferLayout& layout);
/// Lengths that others say, before anything is computed from them.
bool are_possible(const Parts& all, std::size_t budget);
/// Places that others say, before anything is read or written there: throws Error.
void check(const Cells& cells, const Parts& all, int rank);

}  // namespace espalier::runtime
