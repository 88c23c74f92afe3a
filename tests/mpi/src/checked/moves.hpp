// One checked call of each collective that moves blocks.
#pragma once

#include "group.hpp"
#include "layouts.hpp"

#include <cstdint>

namespace checked {

// How one call is made. Layouts may differ between ranks; all else must not.
struct Move {
  const Group& group;
  std::uint64_t seed;  // gives the values, and the shape of the v forms
  const Layout* send = &plain_layout();
  const Layout* receive = &plain_layout();
  long unit = 1;  // lengths are multiples of so many ints: ints_per_item, if any rank has another layout
  bool in_place = false;
  bool large = false;  // the _c form
  int root = 0;
};

// `length` ints from one rank to another.
void one_allgather(const Move& move, long length);
void one_gather(const Move& move, long length);
void one_scatter(const Move& move, long length);
void one_alltoall(const Move& move, long length);
// Up to `longest` units, some blocks empty.
void one_allgatherv(const Move& move, long longest);
void one_gatherv(const Move& move, long longest);
void one_scatterv(const Move& move, long longest);
void one_alltoallv(const Move& move, long longest);

// All eight.
void all_moves(const Move& move, long length);
// One of the eight, for random sequences.
void one_move(int which, const Move& move, long length);
constexpr int kinds_of_moves = 8;

}  // namespace checked
