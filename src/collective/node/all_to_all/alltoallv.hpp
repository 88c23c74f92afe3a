// Alltoallv: cells as in alltoall, but of sizes that only their writer knows. So each writer also says where
// its cells lie, and how long each block is, which the block's reader compares with what it expects.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "collective/core/block_lengths.hpp"
#include "collective/core/cells.hpp"
#include "collective/core/meeting.hpp"
#include "collective/core/open_chunks.hpp"
#include "collective/core/pairwise_cells.hpp"
#include "collective/core/rounds.hpp"
#include "collective/core/zero_copy_blocks.hpp"
#include "collective/node/all_to_all/alltoall_of_two.hpp"
#include "collective/pieces/show_pieces.hpp"

namespace espalier::collective {

namespace detail {

/// How a rank's head says how long its blocks are.
enum class Lengths : std::uint8_t {
  of_cells,  ///< as long as the cells
  below_edge,  ///< cells are of whole lines: what the block lacks of its cell is in the low bits of the cell's edge
  beside_edge  ///< in words of their own
};

/// What each rank writes first in its flag line: how many rounds it needs; whether its cells lie in the line
/// or are pairwise cells (else they are in its slot); whether its head (AlltoallvHead) has addresses, and how it says
/// lengths.
struct AlltoallvMark {
  std::uint32_t rounds;
  std::uint8_t inlined, in_pairwise_cells, exposes;
  Lengths lengths;
};

/// The head that describes a rank's cells is an array of edges: where each rank's cell begins, and where the
/// last one ends. Where a cell is a part of a block, the low 32 bits of the block's length follow each edge. If the
/// rank exposes blocks, an address for each rank follows, 0 for a block that is not exposed. A cell has the same size
/// in all rounds; an exposed block has none.
using CellEdge = std::uint32_t;
using LowLength = std::uint32_t;
constexpr std::size_t least_pairwise = 4096;  // pairwise cells serve if the longest block has as much
constexpr std::size_t most_area = std::size_t{1}
                                  << 30;  // edges must not overflow, whatever slots a user wants
using Address = std::uint64_t;
constexpr std::size_t edge_bytes(Lengths lengths) {
  return sizeof(CellEdge) + (lengths == Lengths::beside_edge ? sizeof(LowLength) : 0);
}
inline std::size_t edges_bytes(int ranks, Lengths lengths) {
  return (static_cast<std::size_t>(ranks) + 1) * edge_bytes(lengths);
}
/// The addresses of exposed blocks come with lengths of their own.
constexpr Lengths lengths_with(bool exposes, bool in_parts) {
  return exposes || in_parts ? Lengths::beside_edge : Lengths::of_cells;
}
inline std::size_t alltoallv_head(int ranks, bool exposes, Lengths lengths) {
  return edges_bytes(ranks, lengths) + (exposes ? static_cast<std::size_t>(ranks) * sizeof(Address) : 0);
}
inline std::size_t longest_alltoallv_head(int ranks, bool may_expose) {
  return alltoallv_head(ranks, may_expose, Lengths::beside_edge);
}

/// Size and place of a rank's head. It is in the flag line behind the mark where it fits, else in the slot in
/// front of the cells: a reader that finds it in the line has one cache miss less.
class AlltoallvHead {
 public:
  AlltoallvHead(int ranks, bool exposes, Lengths lengths)
      : bytes_(alltoallv_head(ranks, exposes, lengths)),
        in_line_(sizeof(AlltoallvMark) + bytes_ <= memory::inline_capacity) {}

  bool is_in_line() const { return in_line_; }
  std::size_t bytes_in_slot() const { return in_line_ ? 0 : bytes_; }
  /// Mark and head.
  std::size_t bytes_in_line() const { return sizeof(AlltoallvMark) + (in_line_ ? bytes_ : 0); }
  template <class Byte>
  Byte* in(Byte* line, Byte* slot) const {
    return in_line_ ? line + sizeof(AlltoallvMark) : slot;
  }

 private:
  std::size_t bytes_;
  bool in_line_;
};

/// A rank's cell and the block that it is a part of.
struct DescribedCell {
  std::size_t begin, cell, block;
};
inline DescribedCell described_cell(const std::byte* head, int rank, Lengths lengths, std::size_t expected) {
  const auto edge = [&](int of) {
    CellEdge value;
    std::memcpy(&value, head + static_cast<std::size_t>(of) * edge_bytes(lengths), sizeof value);
    return std::size_t{value};
  };
  const std::size_t begin = edge(rank), end = edge(rank + 1);
  if (lengths == Lengths::of_cells) return {begin, end - begin, end - begin};
  if (lengths == Lengths::below_edge) {
    const std::size_t lacks = begin % line_bytes, cell = end / line_bytes * line_bytes - (begin - lacks);
    return {begin - lacks, cell, cell - lacks};
  }
  LowLength low;
  std::memcpy(&low, head + static_cast<std::size_t>(rank) * edge_bytes(lengths) + sizeof(CellEdge),
              sizeof low);
  // The length nearest to the expected one.
  const auto more = static_cast<std::int32_t>(low - static_cast<LowLength>(expected));
  return {begin, end - begin, expected + static_cast<std::size_t>(static_cast<std::int64_t>(more))};
}

/// The blocks that go through cells: exposed ones are empty.
template <class B>
struct CellBlocks {
  const B& all;
  const std::vector<Address>& exposed;  ///< by rank; empty where nothing is exposed

  bool is_exposed(int rank) const { return !exposed.empty() && exposed[static_cast<std::size_t>(rank)] != 0; }
  std::size_t bytes_of(int rank) const { return is_exposed(rank) ? 0 : all.bytes_of(rank); }
};
using collective::block_of;
template <class B>
auto block_of(const void* base, const CellBlocks<B>& blocks, int rank) {
  return block_of(base, blocks.all, rank);
}

template <Machine M, class B>
void write_head(M& m, std::byte* head, const CellBlocks<B>& out, const Cells& cells, Lengths lengths) {
  auto edge = static_cast<CellEdge>(cells.head());
  for (int rank = 0; rank <= m.size(); ++rank) {
    const std::size_t block = rank < m.size() && rank != m.rank() ? out.bytes_of(rank) : 0,
                      cell = cells.cell(block);
    std::byte* place = head + static_cast<std::size_t>(rank) * edge_bytes(lengths);
    const CellEdge word = lengths == Lengths::below_edge ? edge + static_cast<CellEdge>(cell - block) : edge;
    std::memcpy(place, &word, sizeof word);
    if (lengths == Lengths::beside_edge) {
      const auto low = static_cast<LowLength>(rank < m.size() ? out.all.bytes_of(rank) : 0);
      std::memcpy(place + sizeof word, &low, sizeof low);
    }
    edge += static_cast<CellEdge>(cell);
  }
  if (!out.exposed.empty())
    std::memcpy(head + edges_bytes(m.size(), lengths), out.exposed.data(),
                out.exposed.size() * sizeof(Address));
}

inline Address exposed_address(const std::byte* head, int ranks, int rank, Lengths lengths) {
  Address address;
  std::memcpy(&address, head + edges_bytes(ranks, lengths) + static_cast<std::size_t>(rank) * sizeof address,
              sizeof address);
  return address;
}

inline AlltoallvMark mark_of(const std::byte* line) {
  AlltoallvMark mark;
  std::memcpy(&mark, line, sizeof mark);
  return mark;
}

}  // namespace detail

/// False where the slots are too small: so many ranks, such small slots.
template <Machine M>
bool alltoallv_fits(const M& m) {
  return Cells::fit(m, static_cast<std::size_t>(m.size() - 1), 1,
                    detail::longest_alltoallv_head(m.size(), true));
}

/// One rank's side of a call. `B`: Blocks, or PieceBlocks, which lie nowhere from `send` and `receive`.
template <Machine M, class B>
class Alltoallv {
 public:
  Alltoallv(M& m, const void* send, const B& out, void* receive, const B& in, const Plan& plan)
      : m_(m),
        send_(send),
        exposed_(find_exposed(m, send, out, plan)),
        out_{out, exposed_},
        receive_(receive),
        in_(in),
        meeting_(m, plan),
        lengths_(detail::lengths_with(by_zero_copy(), false)),
        head_(m.size(), by_zero_copy(), lengths_),
        chunks_(m, round_bytes(m, plan, worth_pairwise()), least_chunk(m, plan)),
        cells_(cut_cells()),
        pairwise_cells_(m, meeting_, longest_out()),
        inlined_(head_.is_in_line() && rides_inline(head_.bytes_in_line() + cells_.bytes(), plan)),
        in_pairwise_cells_(!inlined_ && longest_out() >= detail::least_pairwise &&
                           pairwise_cells_.serve(longest_out(), cells_.rounds())),
        rounds_(rounds()) {
    use_pairwise_slots(plan);
    chunks_.count(rounds_ * chunks_.chunk_bytes());  // throws when there are not so many steps
  }

  void run() {
    // A rank shows a round before it reads the one before, as in in_rounds().
    const std::size_t ahead = meeting_.is_central() ? 0 : rounds_ahead(m_, chunks_.span());
    std::size_t all_rounds = 1, shown = 0;
    for (std::size_t i = 0; i < all_rounds || more_to_come_; ++i) {
      Round now = round_at(i);
      // On all ranks, whether they use them or not: both of a pair must count the same rounds.
      if (meeting_.is_central() && m_.pairwise_bytes() > 0) now.steps = m_.with_pairwise_cells(now.steps);
      for (; shown < std::min(i + 1 + ahead, rounds_); ++shown) show(shown == i ? now : round_at(shown));
      if (meeting_.is_central())
        all_rounds = meet(now, all_rounds);
      else
        all_rounds = std::max<std::size_t>(rounds_, 1);
      more_to_come_ = false;
      read(now);
      m_.finish(now.step());
    }
    m_.finish(chunks_.last());
    // An exposed block is this rank's own again when it has been read.
    for (const int peer : m_.other_ranks())
      if (out_.is_exposed(peer)) m_.await_finish(peer, round_at(0).step());
    if (!meeting_.is_central() && rounds_ == 1)
      expect_another(m_, chunks_.steps(0), inlined_ ? 0 : cells_.head() + cells_.bytes(),
                     chunks_.chunk_bytes());
  }

 private:
  /// By rank: the address of its block, if that is long and the rank may read it there, else 0. Empty: there
  /// is no such block.
  static std::vector<detail::Address> find_exposed(M& m, const void* send, const B& out, const Plan& plan) {
    std::vector<detail::Address> exposed;
    for (const int peer : m.other_ranks()) {
      const std::size_t bytes = out.bytes_of(peer);
      if (!is_exposed(bytes, plan)) continue;
      const std::byte* block = dense_address(block_of(send, out, peer));
      if (!block || !m.can_expose(block, bytes, by_kernel(plan))) continue;
      exposed.resize(static_cast<std::size_t>(m.size()));
      exposed[static_cast<std::size_t>(peer)] = reinterpret_cast<detail::Address>(block);
    }
    return exposed;
  }
  bool by_zero_copy() const { return !exposed_.empty(); }
  /// Also says how the head tells lengths, which a head of blocks that take several rounds has more room for.
  Cells cut_cells() {
    const std::size_t total = total_out();
    const auto cut = [&] {
      return Cells(m_, std::min(chunks_.chunk_bytes(), detail::most_area), others(), total, 1,
                   head_.bytes_in_slot());
    };
    Cells cells = cut();
    if (lengths_ == detail::Lengths::of_cells && cells.rounds() == 1) {
      if (!cells.are_packed()) lengths_ = detail::Lengths::below_edge;
      return cells;
    }
    if (lengths_ == detail::Lengths::beside_edge) return cells;
    lengths_ = detail::Lengths::beside_edge;
    head_ = detail::AlltoallvHead(m_.size(), by_zero_copy(), lengths_);
    return cut();
  }
  /// For two ranks only: both know the lengths of both directions.
  bool worth_pairwise() const {
    const int other = 1 - m_.rank();
    return m_.size() == 2 && collective::worth_pairwise(m_, out_.all.bytes_of(other), in_.bytes_of(other));
  }
  /// Two ranks write chunks into pairwise slots where these fit, as in in_rounds().
  void use_pairwise_slots(const Plan& plan) {
    if (!worth_pairwise() || meeting_.is_central() || chunks_.chunk_bytes() > m_.pairwise_bytes()) return;
    const int other = 1 - m_.rank();
    const std::size_t longer = std::max(out_.all.bytes_of(other), in_.bytes_of(other));
    if (!rides_inline(longer, plan)) chunks_.use_pairwise_slots(m_, longer / chunks_.chunk_bytes() + 1);
  }
  std::size_t others() const { return static_cast<std::size_t>(m_.size() - 1); }
  /// Room for the longest head: so it is the same for all ranks, whether they expose blocks or not.
  static std::size_t least_chunk(const M& m, const Plan& plan) {
    const bool may_use_zero_copy = by_kernel(plan) || plan.zero_copy != Plan::never;
    return Cells::enough_for(
        static_cast<std::size_t>(m.size() - 1),
        detail::AlltoallvHead(m.size(), may_use_zero_copy, detail::Lengths::beside_edge).bytes_in_slot());
  }
  std::size_t total_out() const {
    std::size_t total = 0;
    for (const int peer : m_.other_ranks()) total += out_.bytes_of(peer);
    return total;
  }
  std::size_t longest_out() const {
    std::size_t longest = 0;
    for (const int peer : m_.other_ranks()) longest = std::max(longest, out_.bytes_of(peer));
    return longest;
  }
  std::size_t rounds() const {
    if (total_out() == 0) return by_zero_copy() ? 1 : 0;
    return in_pairwise_cells_ ? pairwise_cells_.rounds() : cells_.rounds();
  }
  Round round_at(std::size_t index) const { return {.index = index, .steps = chunks_.steps(index)}; }
  std::byte* line(Step step) { return m_.inline_buffer(Channel::gather, step); }

  void show(const Round& round) {
    m_.reserve(round.steps);
    const detail::AlltoallvMark mark{static_cast<std::uint32_t>(rounds_), inlined_, in_pairwise_cells_,
                                     by_zero_copy(), lengths_};
    std::byte *own_line = line(round.step()), *slot = m_.slot(m_.rank(), round.steps);
    std::memcpy(own_line, &mark, sizeof mark);
    detail::write_head(m_, head_.in(own_line, slot), out_, cells_, lengths_);
    if (in_pairwise_cells_)
      write_pairwise_cells(m_, send_, out_, in_, pairwise_cells_, round);
    else
      write_own_cells(round, inlined_ ? own_line + head_.bytes_in_line() : slot);
    if (!meeting_.is_central()) meeting_.announce(round.step());
    m_.set_readers(round.steps, m_.other_ranks());
  }

  void write_own_cells(const Round& round, std::byte* data) {
    const std::size_t written =
        cells_.head() + write_cells(m_, data + cells_.head(), send_, out_, cells_, round);
    if (!inlined_) m_.flush_for_readers(data, written);
  }

  /// All ranks take as many rounds as the rank that needs most. In round 0 the last to arrive finds that
  /// number and hands it to all.
  std::size_t meet(const Round& round, std::size_t all_rounds) {
    if (round.index > 0) {
      meeting_.announce(round.step());
    } else {
      if (rounds_ == 0) {
        m_.reserve(round.steps);
        const detail::AlltoallvMark nothing{};
        std::memcpy(line(round.step()), &nothing, sizeof nothing);
        m_.set_readers(round.steps, m_.other_ranks());
      }
      all_rounds = meeting_.agree(round.step(), [&] {
        std::uint32_t most = 1;
        for (int rank = 0; rank < m_.size(); ++rank)
          most = std::max(most, detail::mark_of(m_.inline_data(Channel::gather, rank, round.step())).rounds);
        return most;
      });
    }
    m_.all_finished(round.steps.first - 1);
    return all_rounds;
  }

  void read(const Round& round) {
    if (const std::size_t own = own_bytes(); round.index == 0 && own > 0)
      copy_own(m_, block_of(receive_, in_, m_.rank()), block_of(send_, out_, m_.rank()), Part{0, own});
    for (int k = 1; k < m_.size(); ++k) {
      const int peer = rank_behind(m_, k);
      if (awaits(peer, round.index)) read_from(peer, round);
    }
  }

  std::size_t own_bytes() const { return std::min(in_.bytes_of(m_.rank()), out_.all.bytes_of(m_.rank())); }
  std::size_t bytes_from(int peer) const { return received_.of(peer, in_.bytes_of(peer)); }

  /// Whether `peer` has more for this rank in round i: the size of its cell is known since round 0.
  bool awaits(int peer, std::size_t i) const {
    if (i == 0) return in_.bytes_of(peer) > 0;
    return !long_cells_.empty() && long_cells_[static_cast<std::size_t>(peer)] * i < bytes_from(peer) &&
           long_cells_[static_cast<std::size_t>(peer)] > 0;
  }

  void read_from(int peer, const Round& round) {
    const std::size_t i = round.index;
    if (!meeting_.await_exactly(peer, round.step())) return note_shorter(peer, 0);
    const std::byte* payload = m_.inline_data(Channel::gather, peer, round.step());
    const std::byte* slot = m_.slot(peer, round.steps);
    const detail::AlltoallvMark mark = detail::mark_of(payload);
    if (mark.rounds == 0) return note_shorter(peer, 0);
    const detail::AlltoallvHead theirs(m_.size(), mark.exposes, mark.lengths);
    const std::byte* head = theirs.in(payload, slot);
    const std::byte* data = mark.inlined ? payload + theirs.bytes_in_line() : slot;
    const auto [begin, cell, block] =
        detail::described_cell(head, m_.rank(), mark.lengths, in_.bytes_of(peer));
    if (i == 0 && block != in_.bytes_of(peer)) [[unlikely]] {
      note_shorter(peer, block);
      if (block == 0) return;
    }
    if (i == 0 && mark.exposes)
      if (const detail::Address address = detail::exposed_address(head, m_.size(), m_.rank(), mark.lengths);
          address != 0)
        return pull_block(m_, peer, block_of(receive_, in_, peer), address, block);
    if (mark.in_pairwise_cells)
      return take(peer, i, m_.pairwise_cell(peer, m_.rank(), round.steps), block,
                  pairwise_cells_.step(block));
    take(peer, i, data + begin, block, cell);
  }

  /// A peer sends so many bytes, not those that are expected. Of two ranks both go by what moves either way, so they
  /// are out of step.
  [[gnu::cold, gnu::noinline]] void note_shorter(int peer, std::size_t bytes) {
    if (m_.size() == 2) m_.refuse_length(peer, bytes, in_.bytes_of(peer));
    m_.compare_lengths(peer, bytes, in_.bytes_of(peer));
    received_.note(peer, bytes);
  }

  /// Copies out what `data`, a cell of `cell` bytes, holds of a block in round i.
  void take(int peer, std::size_t i, const std::byte* data, std::size_t block, std::size_t cell) {
    const Part part = part_of(block, i, cell);
    take_part(m_, block_of(receive_, in_, peer), part, data);
    if (part.offset + part.bytes == block) return;
    more_to_come_ = true;
    if (long_cells_.empty()) long_cells_.resize(static_cast<std::size_t>(m_.size()));
    long_cells_[static_cast<std::size_t>(peer)] = cell;
  }

  M& m_;
  const void* send_;
  std::vector<detail::Address> exposed_;
  detail::CellBlocks<B> out_;
  void* receive_;
  const B& in_;
  Meeting<M> meeting_;
  detail::Lengths lengths_;
  detail::AlltoallvHead head_;
  OpenChunks chunks_;
  Cells cells_;
  PairwiseCells pairwise_cells_;
  bool inlined_;
  bool in_pairwise_cells_;
  std::size_t rounds_;
  bool more_to_come_ = false;
  ReceivedLengths received_;
  std::vector<std::size_t> long_cells_;  // by peer, of those whose block takes several rounds
};

namespace detail {

template <Machine M, class B>
void alltoall_of_any(M& m, const void* send, const B& out, void* receive, const B& in, const Plan& plan) {
  if (are_two(m, plan)) {
    const int other = 1 - m.rank();
    if (!is_exposed(std::max(out.bytes_of(other), in.bytes_of(other)), plan))
      return alltoallv_of_two(m, send, out, receive, in, plan);
  }
  Alltoallv<M, B>(m, send, out, receive, in, plan).run();
}

}  // namespace detail

/// What this rank sends to a peer (`out`) is as long as what the peer receives from it (its `in`), as MPI
/// demands. The peer compares: it throws where it gets more, and of less takes what comes.
template <Machine M>
void alltoallv(M& m, const void* send, const Blocks& out, void* receive, const Blocks& in, const Plan& plan) {
  detail::alltoall_of_any(m, send, out, receive, in, plan);
}
/// The same of blocks in pieces: alltoallw, and what neighbours exchange.
template <Machine M>
void alltoallv(M& m, const PieceBlocks& out, const PieceBlocks& in, const Plan& plan) {
  detail::alltoall_of_any(m, nullptr, out, nullptr, in, plan);
}

/// `buffer` holds what is sent and takes what is received. What is sent is copied to private memory first:
/// the cells of two ranks may differ in size, and then one block comes in faster than the other goes out.
template <Machine M>
void alltoallv_in_place(M& m, void* buffer, const Blocks& blocks, const Plan& plan) {
  std::vector<std::size_t> offsets;
  std::size_t end = 0;
  for (const std::size_t bytes : blocks.bytes) {
    offsets.push_back(end);
    end += bytes;
  }
  const std::unique_ptr<std::byte[]> kept(new std::byte[end]);
  for (int rank = 0; rank < m.size(); ++rank)
    if (blocks.bytes_of(rank) > 0)
      m.copy(kept.get() + offsets[static_cast<std::size_t>(rank)], at(buffer, blocks.offset_of(rank)),
             blocks.bytes_of(rank));
  alltoallv(m, kept.get(), {blocks.bytes, offsets}, buffer, blocks, plan);
}

}  // namespace espalier::collective
