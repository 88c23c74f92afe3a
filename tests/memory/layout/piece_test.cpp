// Flattened datatypes, and the walk through any part of them, against a list of all bytes.
#include "memory/layout/piece.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "memory/layout/copy_runs.hpp"

namespace espalier::memory {
namespace {

/// Where each byte of the packed form lies, for `elements` of a datatype.
std::vector<std::ptrdiff_t> all_bytes(const std::vector<Comb>& combs, std::ptrdiff_t extent, int elements) {
  std::vector<std::ptrdiff_t> places;
  for (int element = 0; element < elements; ++element)
    for (const Comb& comb : combs)
      for (std::size_t run = 0; run < comb.count; ++run)
        for (std::size_t byte = 0; byte < comb.bytes; ++byte)
          places.push_back(element * extent + comb.offset + static_cast<std::ptrdiff_t>(run) * comb.stride +
                           static_cast<std::ptrdiff_t>(byte));
  return places;
}

Runs runs_of(const std::vector<Comb>& combs, std::ptrdiff_t extent) {
  Runs runs;
  for (const Comb& comb : combs) runs.add(comb);
  runs.set_extent(extent);
  return runs;
}

/// The same by a walk through a part.
std::vector<std::ptrdiff_t> walked(const Piece& piece, std::size_t offset, std::size_t bytes) {
  std::vector<std::ptrdiff_t> places;
  walk(piece, offset, bytes,
       [&](const std::byte* at, std::size_t length, std::size_t count, std::ptrdiff_t stride) {
         EXPECT_GT(length * count, 0u);
         for (std::size_t run = 0; run < count; ++run)
           for (std::size_t byte = 0; byte < length; ++byte)
             places.push_back(at - piece.data + static_cast<std::ptrdiff_t>(run) * stride +
                              static_cast<std::ptrdiff_t>(byte));
       });
  return places;
}

void check_every_part(const std::vector<Comb>& combs, std::ptrdiff_t extent, int elements) {
  static std::byte memory[4096];
  const Runs runs = runs_of(combs, extent);
  const std::vector<std::ptrdiff_t> all = all_bytes(combs, extent, elements);
  ASSERT_EQ(runs.size() * static_cast<std::size_t>(elements), all.size());
  const Piece piece{memory + 2048, all.size(), &runs};
  for (std::size_t begin = 0; begin <= all.size(); ++begin)
    for (std::size_t end = begin; end <= all.size(); ++end) {
      const std::vector<std::ptrdiff_t> wanted(all.begin() + static_cast<std::ptrdiff_t>(begin),
                                               all.begin() + static_cast<std::ptrdiff_t>(end));
      ASSERT_EQ(walked(piece, begin, end - begin), wanted) << begin << " to " << end;
    }
}

TEST(Piece, EveryPartOfEveryLayout) {
  const struct {
    std::vector<Comb> combs;
    std::ptrdiff_t extent;
  } types[] = {{{{0, 8}}, 8},                                   // dense
               {{{4, 8}}, 20},                                  // one run, elements apart
               {{{0, 4, 3, 12}}, 36},                           // a vector whose elements go on
               {{{0, 4, 3, 12}}, 28},                           // a vector with its own extent
               {{{0, 3, 2, 8}, {40, 5}, {20, 1, 4, 2}}, 50},    // a struct, out of order
               {{{16, 4}, {0, 4}, {8, 4}}, -24},                // backwards
               {{{0, 4}, {4, 4}, {8, 2, 2, 2}, {14, 2}}, 16}};  // runs that touch
  for (const auto& type : types)
    for (const int elements : {1, 2, 4}) check_every_part(type.combs, type.extent, elements);
}

TEST(Piece, RandomLayouts) {
  std::mt19937 random(7);
  const auto roll = [&](unsigned sides) { return random() % sides; };
  for (int i = 0; i < 60; ++i) {
    std::vector<Comb> combs;
    for (unsigned n = 1 + roll(4); n > 0; --n)
      combs.push_back({static_cast<std::ptrdiff_t>(roll(60)), 1 + roll(5), 1 + roll(4),
                       static_cast<std::ptrdiff_t>(roll(12)) - 4});
    check_every_part(combs, static_cast<std::ptrdiff_t>(roll(80)) - 20, 1 + static_cast<int>(roll(3)));
  }
}

TEST(Runs, WhatTouchesIsOne) {
  EXPECT_TRUE(runs_of({{0, 4}, {4, 4}, {8, 8}}, 16).is_one_run());
  EXPECT_TRUE(runs_of({{0, 4, 5, 4}}, 20).is_one_run());
  EXPECT_EQ(runs_of({{0, 4}, {8, 4}, {16, 4}}, 24).combs().size(), 1u);
  EXPECT_EQ(runs_of({{0, 4, 2, 8}, {16, 4, 2, 8}}, 32).combs().size(), 1u);
  EXPECT_EQ(runs_of({{0, 4}, {8, 4}, {12, 4}}, 16).combs().size(), 2u);
  EXPECT_EQ(runs_of({{0, 0}, {8, 4, 0, 1}}, 8).size(), 0u);
}

TEST(Runs, RepeatedOnesAreNested) {
  const Runs row = runs_of({{0, 8, 3, 16}}, 48);  // of a matrix with rows of 100
  Runs rows;
  ASSERT_TRUE(rows.add(row, 4, 100, 7));
  EXPECT_EQ(rows.size(), 4 * 24u);
  EXPECT_EQ(all_bytes(rows.combs(), 0, 1).at(24), 107);
  Runs column;
  ASSERT_TRUE(column.add(runs_of({{0, 8}}, 8), 1000, 800, 0));
  EXPECT_EQ(column.combs().size(), 1u);
}

TEST(Runs, TooManyCombsAreRefused) {
  Runs all;
  EXPECT_FALSE(all.add(runs_of({{0, 1}, {5, 2}}, 8), Runs::most_combs, 8, 0));
}

TEST(CopyRuns, OfEveryLength) {
  for (std::size_t bytes = 1; bytes <= 140; ++bytes) {
    std::vector<std::byte> source(160 * 7), target(200 * 7, std::byte{0xee});
    for (std::size_t i = 0; i < source.size(); ++i) source[i] = static_cast<std::byte>(i * 37 + 1);
    copy_runs(target.data(), 200, source.data(), 160, bytes, 7);
    for (std::size_t i = 0; i < target.size(); ++i) {
      const std::size_t run = i / 200, at = i % 200;
      EXPECT_EQ(target[i], at < bytes ? source[run * 160 + at] : std::byte{0xee}) << bytes << " bytes, " << i;
    }
  }
}

}  // namespace
}  // namespace espalier::memory
