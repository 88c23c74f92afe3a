// Blocks in pieces of layouts that depend on everything, with a list of where each byte lies.
#pragma once

#include <array>
#include <functional>
#include <vector>

#include "collective/pieces/piece_blocks.hpp"
#include "tests/collective/blocks.hpp"

namespace espalier::testing {

/// A buffer of one rank. Each block is cut into a few pieces: dense ones, short runs with gaps, structs whose
/// members are out of order, and long runs.
class Scattered {
 public:
  Scattered(int ranks, int seed, const std::function<std::size_t(int)>& bytes_of) : seed_(seed) {
    first_.push_back(0);
    for (int rank = 0; rank < ranks; ++rank) {
      places_.emplace_back();
      bytes_.push_back(bytes_of(rank));
      for (std::size_t left = bytes_.back(), piece = 0; left > 0; ++piece)
        left -= add_piece(left, (static_cast<std::size_t>(seed + rank * 3) + piece) % 4);
      first_.push_back(starts_.size());
    }
    memory.assign(end_ + 16, untouched);
    for (std::size_t i = 0; i < starts_.size(); ++i)
      pieces_.push_back({memory.data() + starts_[i].begin, starts_[i].bytes, starts_[i].runs});
  }
  Scattered(const Scattered&) = delete;
  Scattered& operator=(const Scattered&) = delete;

  collective::PieceBlocks blocks() const { return {pieces_, first_, bytes_}; }
  std::size_t bytes_of(int rank) const { return bytes_[static_cast<std::size_t>(rank)]; }
  void put(Bytes& buffer, int rank, const Bytes& block) const {
    const std::vector<std::size_t>& places = places_[static_cast<std::size_t>(rank)];
    for (std::size_t i = 0; i < block.size(); ++i) buffer[places[i]] = block[i];
  }

  Bytes memory;

 private:
  struct Start {
    std::size_t begin, bytes;
    const memory::Runs* runs;
  };
  struct Type {
    memory::Runs runs;
    std::vector<std::size_t> places;
    std::size_t extent;
  };
  static Type make(const std::vector<memory::Comb>& combs, std::size_t extent) {
    Type type{{}, {}, extent};
    for (const memory::Comb& comb : combs) {
      type.runs.add(comb);
      for (std::size_t i = 0; i < comb.bytes; ++i)
        type.places.push_back(static_cast<std::size_t>(comb.offset) + i);
    }
    type.runs.set_extent(static_cast<std::ptrdiff_t>(extent));
    return type;
  }
  static const Type& type(std::size_t kind) {
    static const std::array types = {make({{0, 1}}, 1), make({{0, 3}}, 7), make({{5, 2}, {0, 4}}, 9),
                                     make({{2, 5000}}, 5003)};
    return types[kind];
  }

  /// A third of what is left, or all of a little; says how much.
  std::size_t add_piece(std::size_t left, std::size_t kind) {
    const std::size_t wanted = left < 10 ? left : left / 3;
    if (type(kind).runs.size() > wanted) kind = 0;
    const Type& of = type(kind);
    const std::size_t elements = wanted / of.runs.size();
    const std::size_t begin = end_ + 1 + static_cast<std::size_t>(seed_ % 3);
    for (std::size_t i = 0; i < elements; ++i)
      for (const std::size_t place : of.places) places_.back().push_back(begin + i * of.extent + place);
    starts_.push_back({begin, elements * of.runs.size(), kind == 0 ? nullptr : &of.runs});
    end_ = begin + elements * of.extent;
    return starts_.back().bytes;
  }

  int seed_;
  std::size_t end_ = 0;
  std::vector<std::vector<std::size_t>> places_;
  std::vector<Start> starts_;
  std::vector<memory::Piece> pieces_;
  std::vector<std::size_t> first_, bytes_;
};

/// One exchange, in which each side has pieces of its own.
template <class M, class Call>
void exchange_scattered(M& m, int round, const std::function<std::size_t(int, int)>& bytes_of,
                        const Call& call, Bytes& got, Bytes& wanted) {
  const int n = m.size();
  Scattered out(n, round * 5 + m.rank(), [&](int to) { return bytes_of(m.rank(), to); });
  Scattered in(n, round * 7 + m.rank() + 1, [&](int from) { return bytes_of(from, m.rank()); });
  wanted = in.memory;
  for (int r = 0; r < n; ++r) {
    out.put(out.memory, r, block_of(m.rank(), r, out.bytes_of(r), round));
    in.put(wanted, r, block_of(r, m.rank(), in.bytes_of(r), round));
  }
  call(out, in);
  got = in.memory;
}

}  // namespace espalier::testing
