// How a call is spoken of where ranks differ about it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "machine/fingerprint.hpp"
#include "runtime/failure/call_records.hpp"

namespace espalier::runtime {

/// "bcast of 64 bytes with root 0"; without what that collective does not have, or ranks need not agree on.
std::string print(const machine::CallFacts& call);
/// The same, and "by sum of float64" where the two are of one collective and differ in that.
std::string print_beside(const machine::CallFacts& call, const machine::CallFacts& other);
/// And "as" what its label says where they differ in that. `labels`: their texts, from that of label 1 on.
std::string print_beside(const RecordedCall& call, const RecordedCall& other,
                         const std::vector<std::string>& labels);

/// The same where `first` has been spoken of before: no more than the label where they differ in that.
std::string print_second(const RecordedCall& call, const RecordedCall& first,
                         const std::vector<std::string>& labels);

/// A call that two ranks have made differently, and how many calls ago the first of them made it.
struct CallDifference {
  std::uint64_t ago;
  RecordedCall mine, theirs;
};
/// "in this call", "in the call before".
std::string print_when(std::uint64_t ago);
/// "in this call rank 0 wanted ..., rank 1 ..."; `me`, `other`: their numbers.
std::string print(const CallDifference& difference, int me, int other,
                  const std::vector<std::string>& labels = {});
/// What a rank sends in a call, and another expects of it.
std::string print_lengths(const machine::CallFacts& call, int from, std::size_t sent, int to,
                          std::size_t expected);

inline constexpr std::string_view same_calls =
    "all ranks of a communicator must call the same functions in the same order, with equal lengths and the "
    "same root, operator and kind of elements";

inline constexpr std::string_view equal_counts =
    "what a rank sends to another must be as long as what that one receives from it: compare the counts and "
    "datatypes";

}  // namespace espalier::runtime
