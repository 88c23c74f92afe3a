#include "machine/layout.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace espalier::machine {
namespace {

struct Piece {
  std::size_t begin, bytes;
  std::string what;
};

std::vector<Piece> pieces_of(const Layout& layout) {
  std::vector<Piece> pieces = {{layout.arrivals(), sizeof(FlagLine), "arrivals"},
                               {layout.life(), sizeof(FlagLine), "life"},
                               {layout.failure(), sizeof(FlagLine), "failure"},
                               {layout.open_requests(), sizeof(FlagLine), "open requests"}};
  for (int s = 0; s < layout.slots; ++s) {
    const auto step = static_cast<Step>(s);
    pieces.push_back({layout.common_release(step), sizeof(FlagLine), "common release"});
    for (int rank = 0; rank < layout.ranks; ++rank) {
      for (int channel = 0; channel < 2; ++channel)
        pieces.push_back(
            {layout.line(rank, channel, step), sizeof(FlagLine), "line of rank " + std::to_string(rank)});
      pieces.push_back({layout.slot(rank, step), layout.slot_bytes, "slot of rank " + std::to_string(rank)});
    }
  }
  for (int rank = 0; rank < layout.ranks; ++rank)
    for (int other = 0; other < layout.ranks && layout.pairwise_bytes() > 0; ++other)
      for (int which = 0; other != rank && which < layout.pairwise_rounds(); ++which)
        pieces.push_back({layout.pairwise_cell(rank, other, which), layout.pairwise_bytes(),
                          "pairwise cell of rank " + std::to_string(rank)});
  for (int rank = 0; rank < layout.ranks; ++rank) {
    pieces.push_back({layout.finish_line(rank), sizeof(FlagLine), "finish line"});
    pieces.push_back({layout.request_line(rank), sizeof(FlagLine), "request line"});
    pieces.push_back({layout.answer_line(rank), sizeof(FlagLine), "answer line"});
    pieces.push_back({layout.copied(rank), Layout::page, "what is copied for a rank"});
    pieces.push_back({layout.affinity_record(rank), Layout::affinity_record_bytes, "note"});
  }
  return pieces;
}

std::vector<Layout> layouts() {
  std::vector<Layout> all;
  for (const int ranks : {1, 2, 3, 7, 64, 200})
    for (const int slots : {1, 2, 8, 64})
      for (const std::size_t slot_bytes : {4096, 32768, 1 << 20}) {
        all.push_back({ranks, slots, slot_bytes});
        if (ranks > 2) all.push_back({ranks, slots, slot_bytes, true, true});
      }
  return all;
}

TEST(Layout, NothingOverlapsAndAllLiesInside) {
  for (const Layout& layout : layouts()) {
    auto pieces = pieces_of(layout);
    std::sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) { return a.begin < b.begin; });
    for (std::size_t i = 0; i + 1 < pieces.size(); ++i)
      ASSERT_LE(pieces[i].begin + pieces[i].bytes, pieces[i + 1].begin)
          << pieces[i].what << " and " << pieces[i + 1].what << ", " << layout.ranks << " ranks, "
          << layout.slots << " slots";
    ASSERT_LE(pieces.back().begin + pieces.back().bytes, layout.bytes());
  }
}

TEST(Layout, LinesAreAlignedAndPartsOfRanksLieOnTheirOwnPages) {
  for (const Layout& layout : layouts()) {
    for (const Piece& piece : pieces_of(layout))
      if (piece.what != "note") {
        ASSERT_EQ(piece.begin % (piece.what.starts_with("pairwise") ? 64 : 128), 0u) << piece.what;
      }
    ASSERT_EQ(layout.common_bytes() % Layout::page, 0u);
    ASSERT_EQ(layout.control_block_bytes() % Layout::page, 0u);
    ASSERT_EQ(layout.ring_bytes() % Layout::page, 0u);
    ASSERT_EQ(layout.control_block(0) % Layout::page, 0u);
    ASSERT_EQ(layout.ring(0) % Layout::page, 0u);
  }
}

TEST(Layout, TwoRanksTradeUnlessTheyAreNotTo) {
  EXPECT_EQ((Layout{2, 8, 32768}.pairwise_bytes()), 65536u);
  EXPECT_EQ((Layout{2, 8, 32768}.pairwise_rounds()), 2);
  EXPECT_EQ((Layout{2, 8, 32768, false}.pairwise_bytes()), 0u);
  EXPECT_EQ((Layout{1, 8, 32768}.pairwise_bytes()), 0u);
}

TEST(Layout, LongRingsOfTwoRanksHaveAShortOneInThem) {
  const Layout layout{2, 32, 32768};
  EXPECT_EQ(layout.short_slots(), 4);
  std::set<std::size_t> among_first;
  for (Step step = 0; step < 100; ++step) among_first.insert(layout.index_among_first(step));
  EXPECT_EQ(among_first, (std::set<std::size_t>{0, 1, 2, 3}));
  EXPECT_EQ((Layout{3, 32, 32768}.short_slots()), 0);
  EXPECT_EQ((Layout{2, 8, 32768}.short_slots()), 0);
  Layout without = layout;
  without.short_rings = false;
  EXPECT_EQ(without.short_slots(), 0);
}

TEST(Layout, MoreRanksTradeWhereTheyAreTo) {
  EXPECT_EQ((Layout{3, 8, 32768}.pairwise_bytes()), 0u);
  EXPECT_EQ((Layout{3, 8, 32768}.pairwise_area_bytes()), 0u);
  const Layout three{3, 8, 32768, true, true};
  EXPECT_EQ(three.pairwise_bytes(), 65536u);
  EXPECT_EQ(three.pairwise_area_bytes(), 131072u);
  EXPECT_EQ(three.pairwise_rounds(), 1);
  EXPECT_EQ((Layout{4, 32, 32768, true, true}.pairwise_bytes()), 172032u);  // whole pages
  EXPECT_EQ((Layout{200, 8, 32768, true, true}.pairwise_bytes()), 640u);    // whole lines
  EXPECT_EQ((Layout{600, 1, 4096, true, true}.pairwise_bytes()), 0u);       // not even one
  EXPECT_EQ((Layout{3, 8, 32768, false, true}.pairwise_bytes()), 0u);
}

TEST(Layout, CellsOfManyRanksAreAsLongAsASlotWithinABudgetOfAll) {
  EXPECT_EQ((Layout{16, 8, 32768, true, true}.pairwise_bytes()), 32768u);  // half a ring would give 8 KiB
  const Layout most{40, 8, 32768, true, true};
  EXPECT_EQ(most.pairwise_bytes(), 4096u);  // 5.2 KiB fit in 8 MiB, in whole pages
  EXPECT_LE(most.pairwise_area_bytes() * 40, std::size_t{8} << 20);
}

TEST(Layout, SlotsOfASpanLieSideBySide) {
  for (const Layout& layout : layouts())
    for (int span = 1; span <= layout.slots; span *= 2)
      for (Step first = 0; first < 3 * static_cast<Step>(layout.slots); first += static_cast<Step>(span))
        for (int i = 0; i < span; ++i)
          ASSERT_EQ(layout.slot(1, first + static_cast<Step>(i)),
                    layout.slot(1, first) + static_cast<std::size_t>(i) * layout.slot_bytes);
}

// A part is never shorter than the chunks it is for, and lies within the slot, on whole lines.
TEST(Layout, ShortChunksTakePartsOfASlotInTurns) {
  for (const Layout& layout : layouts())
    for (const std::size_t bytes :
         {std::size_t{1}, std::size_t{4096}, std::size_t{4097}, layout.slot_bytes / 2,
          layout.slot_bytes / 2 + 1, layout.slot_bytes, 2 * layout.slot_bytes}) {
      const int split = layout.split_for(bytes);
      ASSERT_TRUE(bytes <= layout.slot_bytes >> split || split == 0) << bytes;
      std::set<std::size_t> places;
      for (Step turn = 0; turn < (Step{2} << split); ++turn) {
        const std::size_t place =
            layout.slot(1, 5 + turn * static_cast<Step>(layout.slots), split) - layout.slot(1, 5);
        ASSERT_EQ(place % 64, 0u);
        for (const std::size_t other : places)
          ASSERT_TRUE(place == other || place >= other + bytes || other >= place + bytes)
              << place << ' ' << other;
        if (split > 0) {
          ASSERT_LE(place + bytes, layout.slot_bytes);
        }
        places.insert(place);
      }
      ASSERT_EQ(places.size(), std::size_t{1} << split);
    }
}

TEST(Layout, OnlyChunksOfHalfASlotLeaveRoomForOthers) {
  const Layout layout{2, 8, 32 * 1024};
  EXPECT_EQ(layout.split_for(std::size_t{-1UL}), 0);
  EXPECT_EQ(layout.split_for(16 * 1024 + 1), 0);
  EXPECT_EQ(layout.split_for(16 * 1024), 1);
  EXPECT_EQ(layout.split_for(8 * 1024), 2);
  EXPECT_EQ(layout.split_for(4097), 2);
  EXPECT_EQ(layout.split_for(4096), 0);
}

TEST(Layout, SlotsComeRoundAgain) {
  const Layout layout{4, 8, 4096};
  EXPECT_EQ(layout.slot(2, 3), layout.slot(2, 11));
  EXPECT_EQ(layout.line(2, 1, 3), layout.line(2, 1, 803));
  EXPECT_NE(layout.line(2, 1, 3), layout.line(2, 0, 3));
}

}  // namespace
}  // namespace espalier::machine
