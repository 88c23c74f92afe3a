#pragma once

#include "runtime/process/bootstrap.hpp"
#include "tests/runtime/processes.hpp"

namespace espalier::testing {

inline runtime::Bootstrap bootstrap_of(Board& board, int rank) {
  return {rank, board.size(), [&board, rank](const void* mine, void* all, std::size_t bytes) {
            board.allgather(rank, mine, all, bytes);
          }};
}

}  // namespace espalier::testing
