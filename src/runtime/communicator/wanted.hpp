// What a nonblocking collective over nodes is to do.
#pragma once

#include <cstddef>
#include <vector>

#include "collective/schedule/persistent_spec.hpp"
#include "machine/fingerprint.hpp"
#include "reduce/operation.hpp"

namespace espalier::runtime::across {

/// What a program has called, in packed form. Buffers are the program's, until the call is complete.
struct Wanted {
  machine::CallFacts facts;
  /// Of a call in which each rank sends each reader what that one wants, and folds for itself what comes: any
  /// collective, also with an operator of the user. Else, of a barrier, bcast, reduce, allreduce or allgather, what
  /// follows; a node then sends for all of its ranks.
  const collective::PersistentSpec* spec = nullptr;
  const reduce::Operation* operation = nullptr;  ///< of a reduction, on all ranks
  const std::byte* send = nullptr;               ///< this rank's, if it gives something
  std::byte* receive = nullptr;                  ///< a reduction's or a bcast's, on ranks that get something
  std::vector<std::byte*> places{};              ///< an allgather's, by rank
};

}  // namespace espalier::runtime::across
