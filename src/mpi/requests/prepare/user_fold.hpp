// Persistent and nonblocking reductions with an operator of the user.
#pragma once

#include <span>

#include "mpi/requests/prepare/rank_info.hpp"

namespace espalier::mpi::persistent {

/// What becomes of a reduction's vectors.
struct FoldShape {
  MPI_Count elements;  ///< of each rank's vector
  bool is_target;      ///< a result comes to this rank
  std::span<const std::size_t>
      counts{};  ///< elements of each rank's part of the result; empty: all have the whole
};

/// Whether the operator is the user's.
bool is_by_user(const Call& call);
/// Each rank gets the vectors that it folds, or its part of them, and folds them when all are there: on the thread that
/// completes the request, from left to right in rank order.
void make_user_fold(const Call& call, Entry& entry, const FoldShape& shape, Draft& draft);

}  // namespace espalier::mpi::persistent
