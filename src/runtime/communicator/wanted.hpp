// What a nonblocking collective over nodes is to do.
#pragma once

#include <cstddef>
#include <vector>

#include "machine/fingerprint.hpp"
#include "reduce/operation.hpp"

namespace espalier::runtime::across {

/// What a program has called, in packed form. Buffers are the program's, until the call is complete.
struct Wanted {
  machine::CallFacts facts;                      ///< of a barrier, bcast, reduce, allreduce or allgather
  const reduce::Operation* operation = nullptr;  ///< of a reduction, on all ranks
  const std::byte* send = nullptr;               ///< this rank's, if it gives something
  std::byte* receive = nullptr;                  ///< a reduction's or a bcast's, on ranks that get something
  std::vector<std::byte*> places{};              ///< an allgather's, by rank
};

}  // namespace espalier::runtime::across
