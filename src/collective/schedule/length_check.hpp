// A rank may get less than it wants, as hosts have it, but not more.
#pragma once

#include <cstddef>
#include <string>

#include "base/error.hpp"
#include "base/format.hpp"

namespace espalier::collective {

/// That they differ, for an error or a reason.
inline std::string print_lengths(int rank, std::size_t wanted, int peer, std::size_t sent) {
  return formatted("rank {} wants {} bytes of rank {}, which sends {}; both must name the same length", rank,
                   wanted, peer, sent);
}

[[noreturn, gnu::cold, gnu::noinline]] inline void refuse_excess(int rank, std::size_t wanted, int peer,
                                                                 std::size_t sent) {
  throw Error(print_lengths(rank, wanted, peer, sent), Error::Kind::truncation);
}

}  // namespace espalier::collective
