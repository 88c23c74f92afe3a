// What ranks make of their arguments before they prepare a collective, and where it all lies.
#include "collective/schedule/persistent_spec.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "collective/schedule/buffer_layout.hpp"
#include "machine/layout.hpp"

namespace espalier::collective {
namespace {

const reduce::Operation& sum() { return *reduce::find(reduce::Op::sum, reduce::Type::float64); }

std::byte share[4096];
std::byte* at(std::size_t offset) { return share + offset; }

PersistentSpec allreduce_of(int rank, int ranks, std::size_t bytes) {
  return reduction_spec({rank, ranks}, Collective::allreduce, 0, at(0), at(2048), bytes, sum());
}

TEST(PersistentSpec, OneBlockForAllIsGivenOnce) {
  const std::vector<Block> out(4, Block{at(0), 100});
  const PersistentSpec spec = transfer_spec({0, 4}, Collective::bcast, 0, 100, out, {});
  EXPECT_EQ(spec.gives.size(), 1u);
  EXPECT_EQ(spec.given_bytes, 100u);
  EXPECT_EQ(spec.places[0].bytes, 0u) << "nothing goes to the rank itself";
  for (std::size_t rank : {1, 2, 3}) EXPECT_EQ(spec.places[rank].bytes, 100u);
}

TEST(PersistentSpec, LongBlocksBeginOnLinesAndShortOnesLeaveNoGaps) {
  const std::vector<Block> out = {{at(0), 8}, {at(8), 8}, {at(16), 300}, {at(316), 70}};
  const PersistentSpec spec = transfer_spec({0, 4}, Collective::scatterv, 0, 0, out, {});
  EXPECT_EQ(spec.places[1].offset, 0u);
  EXPECT_EQ(spec.places[2].offset, 64u);
  EXPECT_EQ(spec.places[3].offset, 384u);
  EXPECT_EQ(spec.given_bytes, 384u + 70u);
}

TEST(PersistentSpec, ABlockForTheRankItselfIsCopiedUnlessItIsThere) {
  const std::vector<Block> out = {{at(0), 8}, {at(8), 8}}, in = {{at(100), 8}, {at(108), 8}};
  const PersistentSpec moved = transfer_spec({1, 2}, Collective::alltoall, 0, 16, out, in);
  EXPECT_EQ(moved.keep.source, at(8));
  EXPECT_EQ(moved.keep.target, at(108));
  EXPECT_EQ(moved.keep.bytes, 8u);
  EXPECT_EQ(transfer_spec({1, 2}, Collective::alltoall, 0, 16, out, out).keep.bytes, 0u);
}

/// Pieces by rank, as many for each as `first` says.
struct TestPieces {
  std::vector<Piece> pieces;
  std::vector<std::size_t> first, bytes;
  PieceBlocks blocks() const { return {pieces, first, bytes}; }
};

TEST(PersistentSpec, PiecesStayWhereTheyAreUnlessTheyAreOneDenseBlock) {
  memory::Runs runs;
  runs.add({0, 4, 2, 8});
  runs.set_extent(16);
  const TestPieces out = {
      {{at(0), 8, &runs}, {at(64), 24, nullptr}, {at(128), 8, &runs}, {at(200), 4, nullptr}},
      {0, 1, 2, 4},
      {8, 24, 12}};
  const TestPieces in = {{{at(300), 8, nullptr}}, {0, 1, 1, 1}, {8, 0, 0}};
  const PersistentSpec spec = pieces_spec({0, 3}, Collective::alltoallw, out.blocks(), in.blocks());
  ASSERT_EQ(spec.gives.size(), 2u);
  EXPECT_EQ(spec.gives[0].source, at(64));
  EXPECT_TRUE(spec.gives[0].pieces.empty());
  EXPECT_EQ(spec.gives[1].source, nullptr);
  EXPECT_EQ(spec.gives[1].pieces.size(), 2u);
  EXPECT_EQ(spec.given_bytes, 36u);
  EXPECT_EQ(spec.keep.from.size(), 1u);
  EXPECT_EQ(spec.keep.target, at(300));
  EXPECT_TRUE(spec.sources.empty());
  EXPECT_EQ(pieces_spec({0, 3}, Collective::alltoallw, out.blocks(), out.blocks()).keep.bytes, 0u)
      << "in place it is there";
}

TEST(PersistentSpec, NeighboursThatAreToldTheSameReadTheSamePlace) {
  memory::Runs runs;
  runs.add({0, 4, 2, 8});
  runs.set_extent(16);
  const Piece piece = {at(0), 8, &runs};
  const TestPieces out = {{piece, piece, piece, piece}, {0, 0, 1, 2, 4}, {0, 8, 8, 16}};
  const TestPieces in = {{}, {0, 0, 0, 0, 0}, {0, 0, 0, 0}};
  const PersistentSpec gathers =
      pieces_spec({0, 4}, Collective::neighbor_allgather, out.blocks(), in.blocks());
  EXPECT_EQ(gathers.gives.size(), 2u) << "two edges to one rank are another stream";
  EXPECT_EQ(gathers.places[1].offset, gathers.places[2].offset);
  EXPECT_EQ(gathers.places[3].bytes, 16u);
  EXPECT_EQ(pieces_spec({0, 4}, Collective::neighbor_alltoall, out.blocks(), in.blocks()).gives.size(), 3u);
}

TEST(PersistentSpec, NobodyWaitsForEmptyBlocks) {
  const std::vector<Block> in = {{nullptr, 0}, {at(0), 8}, {nullptr, 0}};
  const PersistentSpec spec = transfer_spec({0, 3}, Collective::alltoallv, 0, 0, {}, in);
  EXPECT_EQ(spec.sources, std::vector<int>{1});
  EXPECT_TRUE(spec.gives.empty());
}

TEST(PersistentSpec, ReadersBeginBehindThemselves) {
  const PersistentSpec spec = barrier_spec({2, 4});
  EXPECT_EQ(spec.sources, (std::vector<int>{3, 0, 1}));
}

TEST(PersistentSpec, LongReducesOfManyRanksMoveAsAnAllreduceOfWhichTheRootTakesTheResult) {
  const auto spec = [](int rank, int ranks, std::size_t bytes) {
    return reduction_spec({rank, ranks}, Collective::reduce, 1, at(0), at(2048), bytes, sum());
  };
  for (int rank = 0; rank < 5; ++rank) {
    const PersistentSpec one = spec(rank, 5, 32768);
    EXPECT_EQ(moves_as(one), Collective::allreduce);
    EXPECT_EQ(one.fold.ranks, 5);
    EXPECT_EQ(one.sources.size(), 4u);
    EXPECT_EQ(one.given_bytes, 32768u);
    EXPECT_EQ(one.fold.target, rank == 1 ? at(2048) : nullptr);
  }
  for (const PersistentSpec& one : {spec(0, 5, 32760), spec(0, 4, 32768)}) {
    EXPECT_EQ(moves_as(one), Collective::reduce);
    EXPECT_EQ(one.fold.ranks, 0) << "only the root folds";
  }
}

TEST(PersistentSpec, WithoutSharedMemoryTheRootFoldsAlone) {
  constexpr int root = 1, ranks = 5;
  static std::vector<std::byte> vector(64 * 1024), result(vector.size());
  for (int rank = 0; rank < ranks; ++rank) {
    const PersistentSpec spec =
        folded_by_root(reduction_spec({rank, ranks}, Collective::reduce, root, vector.data(), result.data(),
                                      vector.size(), sum()),
                       rank);
    EXPECT_EQ(spec.sources.size(), rank == root ? ranks - 1 : 0u);
    EXPECT_EQ(spec.fold.ranks, rank == root ? ranks : 0);
    for (int reader = 0; reader < ranks; ++reader)
      EXPECT_EQ(spec.places[static_cast<std::size_t>(reader)].bytes,
                reader == root && rank != root ? vector.size() : 0u)
          << rank << " for " << reader;
  }
}

TEST(PersistentSpec, WhatNobodyElseReadsIsNotGiven) {
  const auto spec = [](int rank, Collective collective) {
    return reduction_spec({rank, 3}, collective, 1, at(0), at(2048), 80, sum());
  };
  EXPECT_TRUE(spec(1, Collective::reduce).gives.empty()) << "the root folds its own where it lies";
  EXPECT_TRUE(spec(2, Collective::scan).gives.empty());
  EXPECT_TRUE(spec(2, Collective::exscan).gives.empty());
  EXPECT_EQ(spec(0, Collective::reduce).given_bytes, 80u);
  EXPECT_EQ(spec(0, Collective::exscan).fold.ranks, 0);
  EXPECT_EQ(spec(1, Collective::scan).fold.ranks, 2);
}

TEST(PersistentSpec, InPlaceAReduceScatterReadsItsOwnWhereItIsGiven) {
  const std::vector<std::size_t> shares = {240, 80};
  const auto spec = [&](int rank, std::byte* receive) {
    return reduce_scatter_spec({rank, 2}, Collective::reduce_scatter, at(0), receive, shares, sum());
  };
  EXPECT_EQ(spec(0, at(0)).fold.own, at(0)) << "source and target are the same";
  EXPECT_EQ(spec(1, at(0)).fold.own, nullptr) << "they overlap";
  EXPECT_EQ(spec(1, at(0)).places[1].bytes, 80u);
  EXPECT_EQ(spec(1, at(2048)).fold.own, at(240));
  EXPECT_EQ(spec(1, at(2048)).places[1].bytes, 0u);
}

// Nothing has to say where the block lies: the other rank reads all that is given.
TEST(PersistentSpec, TwoRanksThatGetAsMuchGiveEachOtherABlock) {
  const std::vector<std::size_t> shares = {240, 240};
  for (const int rank : {0, 1})
    for (std::byte* const receive : {at(0), at(2048)}) {
      const PersistentSpec spec =
          reduce_scatter_spec({rank, 2}, Collective::reduce_scatter, at(0), receive, shares, sum());
      EXPECT_EQ(spec.given_bytes, 240u);
      EXPECT_EQ(spec.gives.front().source, at(rank == 0 ? 240 : 0));
      EXPECT_EQ(spec.fold.own, at(rank == 0 ? 0 : 240)) << "also in place: it does not overlap the result";
      EXPECT_EQ(spec.fold.offset, 0u);
      EXPECT_EQ(spec.folded_from, rank == 0 ? 0u : 240u);
      EXPECT_FALSE(spec.cut);
      EXPECT_TRUE(spec.apart);
    }
}

TEST(PersistentSpec, KnowsWhatArrives) {
  const std::vector<std::size_t> shares = {240, 0, 80};
  const auto spec = [&](int rank) {
    return reduce_scatter_spec({rank, 3}, Collective::reduce_scatter, at(0), at(2048), shares, sum());
  };
  EXPECT_EQ(spec(0).arrives_from(2), 240u);
  EXPECT_EQ(spec(1).arrives_from(2), 0u);
  EXPECT_EQ(allreduce_of(0, 2, 80).arrives_from(1), 80u);
  const std::vector<Block> in = {{nullptr, 0}, {at(0), 8}};
  EXPECT_EQ(transfer_spec({0, 2}, Collective::bcast, 1, 8, {}, in).arrives_from(1), 8u);
}

/// Ranks of which each has so many bytes for each other.
class Moves {
 public:
  Moves(Collective collective, std::vector<std::vector<std::size_t>> bytes) : bytes_(std::move(bytes)) {
    std::vector<Contribution> all;
    for (int rank = 0; rank < ranks(); ++rank) {
      std::vector<Block> out, in;
      for (int peer = 0; peer < ranks(); ++peer) {
        out.push_back({at(static_cast<std::size_t>(peer)), of(rank, peer)});
        in.push_back({at(static_cast<std::size_t>(peer)), of(peer, rank)});
      }
      specs_.push_back(transfer_spec({rank, ranks()}, collective, 0, 0, out, in));
      cells_.emplace_back(specs_.back(), rank);
      all.push_back({specs_.back().given_bytes, cells_.back().bytes});
    }
    buffer_layout_ = std::make_unique<BufferLayout>(collective, all, 8192);
  }
  int ranks() const { return static_cast<int>(bytes_.size()); }
  std::size_t of(int from, int to) const {
    return bytes_[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)];
  }
  const BufferLayout& buffer_layout() const { return *buffer_layout_; }
  Schedule schedule(int rank) const {
    std::vector<LayoutCell> cells;
    for (const LayoutCells& each : cells_) cells.push_back(each.of[static_cast<std::size_t>(rank)]);
    const auto own = static_cast<std::size_t>(rank);
    PersistentSpec spec = specs_[own];
    return buffer_layout_->prepare(spec, cells_[own], rank, nullptr, cells);
  }
  /// Where rank `from` writes what it has for rank `to`.
  std::byte* written(int from, int to, std::size_t parity) const {
    const Schedule p = schedule(from);
    for (const Schedule::Give& each : p.gives)
      if (each.reader == to) return p.out[static_cast<std::size_t>(to)][parity] + each.offset;
    return nullptr;
  }
  /// Where rank `to` reads it.
  std::byte* read(int from, int to, std::size_t parity) const {
    const Schedule p = schedule(to);
    for (const Schedule::Take& each : p.takes)
      if (each.peer == from) return p.in[static_cast<std::size_t>(from)][parity] + each.offset;
    return nullptr;
  }

 private:
  std::vector<std::vector<std::size_t>> bytes_;
  std::vector<PersistentSpec> specs_;
  std::vector<LayoutCells> cells_;
  std::unique_ptr<BufferLayout> buffer_layout_;
};

const std::vector<std::vector<std::size_t>> of_three = {{0, 1000, 30}, {700, 0, 0}, {300, 5000, 0}};

TEST(BufferLayout, WhatIsWrittenIsReadThere) {
  const Moves moves(Collective::alltoallv, of_three);
  for (int from = 0; from < 3; ++from)
    for (int to = 0; to < 3; ++to)
      for (std::size_t parity : {0, 1})
        if (from != to) {
          EXPECT_EQ(moves.written(from, to, parity), moves.read(from, to, parity));
        }
}

TEST(BufferLayout, CellsLieApartAndInTheirRegions) {
  const Moves moves(Collective::alltoallv, of_three);
  std::vector<std::pair<std::byte*, std::byte*>> places;
  for (const std::size_t parity : {0, 1}) {
    places.clear();
    for (int from = 0; from < 3; ++from)
      for (int to = 0; to < 3; ++to)
        if (std::byte* place = from == to ? nullptr : moves.written(from, to, parity))
          places.push_back({place, place + moves.of(from, to)});
    std::sort(places.begin(), places.end());
    EXPECT_EQ(places.size(), 5u);
    EXPECT_GE(places.front().first, reinterpret_cast<std::byte*>(8192));
    for (std::size_t i = 1; i < places.size(); ++i) EXPECT_LE(places[i - 1].second, places[i].first);
    EXPECT_LE(places.back().second, reinterpret_cast<std::byte*>(moves.buffer_layout().end()));
  }
  EXPECT_EQ(moves.buffer_layout().region(1) % machine::Layout::page, 0u);
}

TEST(BufferLayout, PairsThatGiveEachOtherSomethingTradeTheirCells) {
  const Moves moves(Collective::alltoallv, of_three);
  EXPECT_EQ(moves.written(0, 1, 0), moves.written(1, 0, 1));
  EXPECT_EQ(moves.written(0, 1, 1), moves.written(1, 0, 0));
  EXPECT_EQ(moves.schedule(0).comes_back[1], 700u);
  // One way: two places, for no other rank.
  EXPECT_NE(moves.written(2, 1, 0), moves.written(2, 1, 1));
  EXPECT_EQ(moves.schedule(2).comes_back[1], 0u);
}

TEST(BufferLayout, ABlockForAllIsThereTwice) {
  const std::vector<Contribution> all(3, Contribution{1000, LayoutCells(allreduce_of(0, 3, 1000), 0).bytes});
  const BufferLayout buffer_layout(Collective::allreduce, all, 0);
  PersistentSpec spec = allreduce_of(0, 3, 1000);
  const LayoutCells cells(spec, 0);
  const Schedule schedule = buffer_layout.prepare(spec, cells, 0, nullptr, cells.of);
  EXPECT_EQ(schedule.out[1], schedule.out[2]);
  EXPECT_NE(schedule.out[1][0], schedule.out[1][1]);
}

TEST(BufferLayout, WhatGoesOneWayGoesInChunks) {
  const std::vector<Contribution> all = {{100'000, 200'000}, {0, 0}};
  const BufferLayout one_way(Collective::bcast, all, 0);
  EXPECT_EQ(one_way.chunks().log2_count, 2);
  EXPECT_EQ(one_way.slots(), 1);
  EXPECT_EQ(BufferLayout(Collective::allreduce, all, 0).chunks().log2_count, 0);
  EXPECT_EQ(BufferLayout(Collective::scatter, all, 0).slots(), 1);
}

TEST(BufferLayout, MoreThanTwoFoldLongVectorsInCommonInWholeElements) {
  const std::vector<Contribution> three(3, Contribution{100'000, 200'000});
  const BufferLayout buffer_layout(Collective::allreduce, three, 0);
  EXPECT_GE(buffer_layout.common_bytes(), 100'000u);
  const std::vector<LayoutCell> wherever(3);
  PersistentSpec spec = allreduce_of(0, 3, 100'000);
  const Schedule schedule = buffer_layout.prepare(spec, LayoutCells(spec, 0), 0, nullptr, wherever);
  EXPECT_EQ(schedule.shared.piece_bytes % sum().extent, 0u);
  EXPECT_GE(schedule.shared.piece_bytes * static_cast<std::size_t>(schedule.shared.pieces), 100'000u);
  EXPECT_EQ(BufferLayout(Collective::allreduce, std::vector<Contribution>(3, {512, 1024}), 0).common_bytes(),
            0u);
}

}  // namespace
}  // namespace espalier::collective
