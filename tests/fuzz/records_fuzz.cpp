// Feeds bytes to what reads records that other ranks have left in shared memory, or sent: calls, words of
// failure, outcomes of a hand-over (src/runtime).
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "runtime/failure/call_records.hpp"
#include "runtime/failure/call_text.hpp"
#include "runtime/failure/node_failure.hpp"
#include "runtime/process/handover_rounds.hpp"

using namespace espalier::runtime;

namespace {

/// A T as another process has left it.
template <class T>
std::unique_ptr<T> left_as(const std::uint8_t* data, std::size_t size) {
  auto value = std::make_unique<T>();
  std::memcpy(static_cast<void*>(value.get()), data, std::min(size, sizeof(T)));
  return value;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto records = left_as<CallRecords>(data, size);
  for (std::uint64_t number = 0; number < 2 * CallRecords::kept; ++number) {
    records->has_come_to(number);
    if (const auto call = records->find(number)) print(*call);
  }
  const auto line = left_as<espalier::memory::FlagLine>(data, size);
  const NodeFailure failure(*line);
  for (const std::uint64_t call : {std::uint64_t{1}, ~std::uint64_t{0}})
    if (failure.told(call).size() > NodeFailure::longest) std::abort();
  std::vector<Outcome> outcomes(size / sizeof(Outcome) + 1);
  std::memcpy(outcomes.data(), data, std::min(size, outcomes.size() * sizeof(Outcome)));
  std::vector<int> ranks;
  for (std::size_t rank = 0; rank < outcomes.size(); ++rank) ranks.push_back(static_cast<int>(rank));
  if (first_failure(outcomes, ranks).size() > sizeof(Outcome) + 100) std::abort();
  return 0;
}
