// What ranks make of their arguments before they prepare a collective, and where it all lies.
#include "collective/recipe.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "collective/plot.hpp"

namespace espalier::collective {
namespace {

const reduce::Operation& sum() { return *reduce::find(reduce::Op::sum, reduce::Type::float64); }

std::byte memory[4096];
std::byte* at(std::size_t offset) { return memory + offset; }

Recipe allreduce_of(int rank, int ranks, std::size_t bytes) {
  return reduction_recipe({rank, ranks}, Collective::allreduce, 0, at(0), at(2048), bytes, sum());
}

TEST(Recipe, OneBlockForAllIsGivenOnce) {
  const std::vector<Block> out(4, Block{at(0), 100});
  const Recipe recipe = transfer_recipe({0, 4}, Collective::bcast, 0, 100, out, {});
  EXPECT_EQ(recipe.gives.size(), 1u);
  EXPECT_EQ(recipe.given_bytes, 100u);
  EXPECT_EQ(recipe.places[0].bytes, 0u) << "nothing goes to the rank itself";
  for (std::size_t rank : {1, 2, 3}) EXPECT_EQ(recipe.places[rank].bytes, 100u);
}

TEST(Recipe, LongBlocksBeginOnLinesAndShortOnesLeaveNoGaps) {
  const std::vector<Block> out = {{at(0), 8}, {at(8), 8}, {at(16), 300}, {at(316), 70}};
  const Recipe recipe = transfer_recipe({0, 4}, Collective::scatterv, 0, 0, out, {});
  EXPECT_EQ(recipe.places[1].offset, 0u);
  EXPECT_EQ(recipe.places[2].offset, 64u);
  EXPECT_EQ(recipe.places[3].offset, 384u);
  EXPECT_EQ(recipe.given_bytes, 384u + 70u);
}

TEST(Recipe, ABlockForTheRankItselfIsCopiedUnlessItIsThere) {
  const std::vector<Block> out = {{at(0), 8}, {at(8), 8}}, in = {{at(100), 8}, {at(108), 8}};
  const Recipe moved = transfer_recipe({1, 2}, Collective::alltoall, 0, 16, out, in);
  EXPECT_EQ(moved.keep.source, at(8));
  EXPECT_EQ(moved.keep.target, at(108));
  EXPECT_EQ(moved.keep.bytes, 8u);
  EXPECT_EQ(transfer_recipe({1, 2}, Collective::alltoall, 0, 16, out, out).keep.bytes, 0u);
}

TEST(Recipe, NobodyWaitsForEmptyBlocks) {
  const std::vector<Block> in = {{nullptr, 0}, {at(0), 8}, {nullptr, 0}};
  const Recipe recipe = transfer_recipe({0, 3}, Collective::alltoallv, 0, 0, {}, in);
  EXPECT_EQ(recipe.sources, std::vector<int>{1});
  EXPECT_TRUE(recipe.gives.empty());
}

TEST(Recipe, ReadersBeginBehindThemselves) {
  const Recipe recipe = barrier_recipe({2, 4});
  EXPECT_EQ(recipe.sources, (std::vector<int>{3, 0, 1}));
}

TEST(Recipe, WhatNobodyElseReadsIsNotGiven) {
  const auto recipe = [](int rank, Collective collective) {
    return reduction_recipe({rank, 3}, collective, 1, at(0), at(2048), 80, sum());
  };
  EXPECT_TRUE(recipe(1, Collective::reduce).gives.empty()) << "the root folds its own where it lies";
  EXPECT_TRUE(recipe(2, Collective::scan).gives.empty());
  EXPECT_TRUE(recipe(2, Collective::exscan).gives.empty());
  EXPECT_EQ(recipe(0, Collective::reduce).given_bytes, 80u);
  EXPECT_EQ(recipe(0, Collective::exscan).fold.ranks, 0);
  EXPECT_EQ(recipe(1, Collective::scan).fold.ranks, 2);
}

TEST(Recipe, InPlaceAReduceScatterReadsItsOwnWhereItIsGiven) {
  const std::vector<std::size_t> shares = {24, 8};
  const auto recipe = [&](int rank, std::byte* receive) {
    return reduce_scatter_recipe({rank, 2}, Collective::reduce_scatter, at(0), receive, shares, sum());
  };
  EXPECT_TRUE(recipe(0, at(0)).keeps_own()) << "source and target are the same";
  EXPECT_FALSE(recipe(1, at(0)).keeps_own()) << "they overlap";
  EXPECT_TRUE(recipe(1, at(2048)).keeps_own());
}

/// The bytes of each place, of all that ranks give in two turns.
std::vector<std::pair<std::byte*, std::byte*>> places_of(const Plot& plot, int ranks, std::size_t bytes) {
  std::vector<std::pair<std::byte*, std::byte*>> places;
  const std::vector<Recipe::Place> wherever(static_cast<std::size_t>(ranks));
  const Prepared prepared = plot.prepare(allreduce_of(0, ranks, bytes), 0, nullptr, wherever);
  for (const auto& each : prepared.places)
    for (std::byte* place : each) places.push_back({place, place + bytes});
  return places;
}

TEST(Plot, PlacesLieApartAndInTheirRegions) {
  constexpr std::size_t bytes = 1000;
  const std::vector<Contribution> all(3, Contribution{bytes, true});
  const Plot plot(Collective::allreduce, all, 8192);
  auto places = places_of(plot, 3, bytes);
  std::sort(places.begin(), places.end());
  EXPECT_GE(places.front().first, reinterpret_cast<std::byte*>(8192));
  for (std::size_t i = 1; i < places.size(); ++i) EXPECT_LE(places[i - 1].second, places[i].first);
  EXPECT_LE(places.back().second, reinterpret_cast<std::byte*>(plot.end()));
  EXPECT_EQ(plot.region(1) % machine::Layout::page, 0u);
}

TEST(Plot, TwoRanksTradePlaces) {
  const std::vector<Contribution> all(2, Contribution{1000, true});
  const auto places = places_of(Plot(Collective::allreduce, all, 0), 2, 1000);
  EXPECT_EQ(places[0], places[3]);
  EXPECT_EQ(places[1], places[2]);
}

TEST(Plot, ButNotWhereOneReadsItsOwnThere) {
  const std::vector<Contribution> all = {{1000, true}, {1000, false}};
  const auto places = places_of(Plot(Collective::reduce_scatter, all, 0), 2, 1000);
  EXPECT_NE(places[0], places[3]);
  EXPECT_NE(places[1], places[2]);
}

TEST(Plot, WhatGoesOneWayGoesInChunks) {
  const std::vector<Contribution> all = {{100'000, true}, {0, true}};
  const Plot one_way(Collective::bcast, all, 0);
  EXPECT_EQ(one_way.chunks().log2_count, 2);
  EXPECT_EQ(one_way.slots(), 1);
  EXPECT_EQ(Plot(Collective::allreduce, all, 0).chunks().log2_count, 0);
  EXPECT_EQ(Plot(Collective::scatter, all, 0).chunks().log2_count, 0) << "to one other rank";
  EXPECT_EQ(Plot(Collective::scatter, std::vector<Contribution>(3, {100'000, true}), 0).slots(), 1);
}

TEST(Plot, MoreThanTwoFoldLongVectorsInCommonInWholeElements) {
  const std::vector<Contribution> three(3, Contribution{100'000, true});
  const Plot plot(Collective::allreduce, three, 0);
  EXPECT_GE(plot.common_bytes(), 100'000u);
  const std::vector<Recipe::Place> wherever(3);
  const Prepared prepared = plot.prepare(allreduce_of(0, 3, 100'000), 0, nullptr, wherever);
  EXPECT_EQ(prepared.shared.piece_bytes % sum().extent, 0u);
  EXPECT_GE(prepared.shared.piece_bytes * static_cast<std::size_t>(prepared.shared.pieces), 100'000u);
  EXPECT_EQ(Plot(Collective::allreduce, std::vector<Contribution>(3, {512, true}), 0).common_bytes(), 0u);
}

}  // namespace
}  // namespace espalier::collective
