// A rank's place at a test's board, as the callback of espalier_comm_create() gets it.
#pragma once

#include <cstddef>

#include "tests/runtime/processes.hpp"

namespace espalier::testing {

struct Seat {
  Board* board;
  int rank;
};

inline int gather_on_board(const void* mine, void* all, std::size_t bytes, void* context) {
  auto* seat = static_cast<Seat*>(context);
  seat->board->allgather(seat->rank, mine, all, bytes);
  return 0;
}

}  // namespace espalier::testing
