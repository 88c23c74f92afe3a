// Where everything of a communicator lies in its arena share.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>

#include "memory/flag_line.hpp"

namespace espalier::machine {

using memory::FlagLine;
using memory::Step;

/// Share = [common][station of rank 0][station of rank 1]...[slots of rank 0][page of rank 0][slots of rank
/// 1]...[pairwise cells of rank 0]... A station is what others poll (flag lines) and is apart from the bulk
/// data, each part on pages of its own, so that each can be touched first by the rank that writes it.
struct Layout {
  static constexpr std::size_t page = 4096, line_bytes = 64;

  int ranks = 1;
  int slots = 8;  // a power of two
  std::size_t slot_bytes = 32 * 1024;
  bool has_pairwise = true;    // two ranks
  bool many_pairwise = false;  // more than two, too
  bool short_rings = true;     // two ranks
  /// The control blocks have no pages of their own and no affinity records: for shares that one rank backs
  /// for all, from what the node knows of them.
  bool compact = false;
  /// Where the slots are if they are in a share of their own: how far behind this one, modulo 2^64.
  static constexpr std::size_t no_slots_yet = 1;
  std::size_t slots_from = 0;

  /// Of what is so far behind the share.
  static std::byte* place(std::byte* share, std::size_t offset) {
    return share + static_cast<std::ptrdiff_t>(offset);
  }

  static constexpr std::size_t round_up(std::size_t value, std::size_t multiple) {
    return (value + multiple - 1) / multiple * multiple;
  }

  // common: the arrival counter, a line for what concerns the share's life, one for what has failed (both are
  // runtime/'s), the counter of pieces that have been taken, the count of ranks that ask for copies, the
  // share's registration (memory/share_directory.hpp), and one release line a slot
  std::size_t arrivals() const { return 0; }
  std::size_t life() const { return sizeof(FlagLine); }
  std::size_t failure() const { return 2 * sizeof(FlagLine); }
  std::size_t pieces() const { return 3 * sizeof(FlagLine); }
  std::size_t open_requests() const { return 4 * sizeof(FlagLine); }
  std::size_t registration() const { return 5 * sizeof(FlagLine); }
  std::size_t common_release(Step step) const { return (6 + index(step)) * sizeof(FlagLine); }
  std::size_t common_bytes() const {
    return round_up((6 + static_cast<std::size_t>(slots)) * sizeof(FlagLine), alignment());
  }

  // control block: the finish line, gather lines, release lines, what this rank asks others to copy and the
  // line on which they answer, this rank's process, its last calls and its affinity mask (these are
  // runtime/'s)
  std::size_t control_block_lines() const { return 3 + 2 * static_cast<std::size_t>(slots); }
  static constexpr std::size_t affinity_record_bytes = 1024, process_bytes = 128, calls_bytes = 384;
  std::size_t control_block_bytes() const {
    return round_up(control_block_lines() * sizeof(FlagLine) + process_bytes + calls_bytes +
                        (compact ? 0 : affinity_record_bytes),
                    alignment());
  }
  std::size_t control_block(int rank) const {
    return common_bytes() + static_cast<std::size_t>(rank) * control_block_bytes();
  }
  std::size_t finish_line(int rank) const { return control_block(rank); }
  std::size_t line(int rank, int channel, Step step) const {
    return control_block(rank) + line_in_control_block(channel, step);
  }
  std::size_t line_in_control_block(int channel, Step step) const {
    return (1 + static_cast<std::size_t>(channel) * static_cast<std::size_t>(slots) + index(step)) *
           sizeof(FlagLine);
  }
  std::size_t request_line(int rank) const {
    return control_block(rank) + (control_block_lines() - 2) * sizeof(FlagLine);
  }
  std::size_t answer_line(int rank) const { return request_line(rank) + sizeof(FlagLine); }
  std::size_t process(int rank) const {
    return control_block(rank) + control_block_lines() * sizeof(FlagLine);
  }
  std::size_t calls(int rank) const { return process(rank) + process_bytes; }
  /// The last line of its calls: when it came to the last ones, where statistics ask for that.
  std::size_t stamps(int rank) const { return calls(rank) + calls_bytes - line_bytes; }
  /// Not where it is compact.
  std::size_t affinity_record(int rank) const { return calls(rank) + calls_bytes; }

  // slots, and behind them a page into which others copy for this rank (copy_requests.hpp)
  std::size_t ring_bytes() const { return round_up(static_cast<std::size_t>(slots) * slot_bytes, page); }
  std::size_t ring_and_page_bytes() const { return slot_bytes > 0 ? ring_bytes() + page : 0; }
  std::size_t slots_begin() const { return slots_from != 0 ? slots_from : control_block(ranks); }
  std::size_t ring(int rank) const {
    return slots_begin() + static_cast<std::size_t>(rank) * ring_and_page_bytes();
  }
  std::size_t copied(int rank) const { return ring(rank) + ring_bytes(); }
  /// Chunks of half a slot or less take its 2^`split` parts in turns, another each way around the ring: so
  /// theirs too come back only when they have left the readers' caches (docs/performance.md).
  std::size_t slot(int rank, Step step, int split = 0) const {
    return ring(rank) + slot_in_ring(step, split);
  }
  std::size_t slot_in_ring(Step step, int split) const {
    const std::size_t part = turn(step) & ((std::size_t{1} << split) - 1);
    return index(step) * slot_bytes + part * (slot_bytes >> split & ~(line_bytes - 1));
  }
  /// The first slots of a ring, among which a writer may stay (memory/copy/ring_choice.hpp): how many; 0
  /// where none does, as with more readers than one, and with rings that are short themselves.
  int short_slots() const { return short_rings && ranks == 2 && slots >= 16 ? slots / 8 : 0; }
  std::size_t index_among_first(Step step) const {
    return static_cast<std::size_t>(step) & (static_cast<std::size_t>(short_slots()) - 1);
  }
  /// For chunks of at most so many bytes. Up to 4 KiB the lines are taken back ahead of the next call
  /// (prefetch_own_next()), and are best where they are.
  int split_for(std::size_t bytes) const {
    constexpr std::size_t least = 4096;
    if (bytes <= least) return 0;
    return std::max(
        0, static_cast<int>(std::bit_width(slot_bytes)) - 1 - static_cast<int>(std::bit_width(bytes - 1)));
  }

  // pairwise cells (machine/concept.hpp): each rank has some for each other rank

  /// How many rounds lie there at a time. More than two ranks meet between their rounds.
  int pairwise_rounds() const {
    return !has_pairwise || ranks < 2 ? 0 : ranks == 2 ? 2 : many_pairwise ? 1 : 0;
  }
  /// Of a cell; 0: there are none.
  std::size_t pairwise_bytes() const {
    if (pairwise_rounds() == 0) return 0;
    if (ranks == 2) return round_up(2 * slot_bytes, page);
    return cell_among_many();
  }
  /// Half a ring for all others together; where that makes short cells, they are as long as a slot, while
  /// those of all ranks together stay within 8 MiB.
  std::size_t cell_among_many() const {
    constexpr std::size_t all_together = std::size_t{8} << 20;
    const auto others = static_cast<std::size_t>(ranks - 1);
    const std::size_t share = ring_bytes() / 2 / others;
    const std::size_t most = all_together / static_cast<std::size_t>(ranks) / others;
    const std::size_t cell = std::max(share, std::min(slot_bytes, most));
    return cell & ~((cell < page ? line_bytes : page) - 1);
  }
  std::size_t pairwise_area_bytes() const {
    return round_up(
        static_cast<std::size_t>(ranks - 1) * static_cast<std::size_t>(pairwise_rounds()) * pairwise_bytes(),
        page);
  }
  std::size_t pairwise_area(int rank) const {
    return ring(ranks) + static_cast<std::size_t>(rank) * pairwise_area_bytes();
  }
  std::size_t pairwise_cell(int rank, int other, int which) const {
    return pairwise_area(rank) + index_in_area(rank, other, pairwise_rounds(), which) * pairwise_bytes();
  }
  static std::size_t index_in_area(int rank, int other, int rounds, int which) {
    const auto before = static_cast<std::size_t>(other < rank ? other : other - 1);
    return before * static_cast<std::size_t>(rounds) + static_cast<std::size_t>(which);
  }

  std::size_t index(Step step) const {
    return static_cast<std::size_t>(step) & (static_cast<std::size_t>(slots) - 1);
  }
  std::size_t turn(Step step) const {
    return static_cast<std::size_t>(step) >> std::countr_zero(static_cast<std::size_t>(slots));
  }
  /// Of the flag lines and all else that is not slots; of the slots, which may be in a share of their own.
  std::size_t lines_bytes() const { return control_block(ranks); }
  std::size_t slots_bytes() const {
    return static_cast<std::size_t>(ranks) * (ring_and_page_bytes() + pairwise_area_bytes());
  }
  std::size_t bytes() const { return lines_bytes() + slots_bytes(); }

 private:
  std::size_t alignment() const { return compact ? sizeof(FlagLine) : page; }
};

}  // namespace espalier::machine
