// A rank may get less than it wants, as hosts have it, but not more.
#pragma once

#include <cstddef>
#include <string>

#include "base/error.hpp"
#include "base/format.hpp"

namespace espalier::collective {

/// That they differ, for an error or a reason. `is_all`: no more is sent than that.
inline std::string print_lengths(int rank, std::size_t wanted, int peer, std::size_t sent,
                                 bool is_all = true) {
  return formatted("rank {} wants {} bytes of rank {}, which sends {}{}; both must name the same length",
                   rank, wanted, peer, sent, is_all ? "" : " or more");
}

[[noreturn, gnu::cold, gnu::noinline]] inline void refuse_excess(int rank, std::size_t wanted, int peer,
                                                                 std::size_t sent, bool is_all = true) {
  throw Error(print_lengths(rank, wanted, peer, sent, is_all), Error::Kind::truncation);
}

}  // namespace espalier::collective
