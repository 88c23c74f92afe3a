// How a call is spoken of where ranks differ about it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "machine/fingerprint.hpp"

namespace espalier::runtime {

/// "bcast of 64 bytes with root 0"; without what that collective does not have, or ranks need not agree on.
std::string print(const machine::CallFacts& call);
/// The same, and "by sum of float64" where the two are of one collective and differ in that.
std::string print_beside(const machine::CallFacts& call, const machine::CallFacts& other);

/// A call that two ranks have made differently, and how many calls ago the first of them made it.
struct CallDifference {
  std::uint64_t ago;
  machine::CallFacts mine, theirs;
};
/// "in this call rank 0 wanted ..., rank 1 ..."; `me`, `other`: their numbers.
std::string print(const CallDifference& difference, int me, int other);

inline constexpr std::string_view same_calls =
    "all ranks of a communicator must call the same functions in the same order, with equal lengths and the "
    "same root, operator and kind of elements";

}  // namespace espalier::runtime
