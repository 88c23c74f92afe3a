// Counts the calls of one communicator, when statistics are on.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "base/collective.hpp"
#include "machine/wait.hpp"
#include "plan/plan.hpp"

namespace espalier::runtime::statistics {

/// What carried a call's data.
enum class Carrier : unsigned char { shared_memory, messages, aggregation_nodes };

/// What of a call goes into the statistics.
struct Call {
  Collective collective;
  std::size_t bytes;
  int communicator_size;
  plan::Algorithm algorithm;
  Carrier carrier = Carrier::shared_memory;
  const std::string* passed_over =
      nullptr;  ///< why the aggregation nodes did not serve it, if they might have
};

/// Lives as long as the call; costs a test of a constant when statistics are off.
class Recorder {
 public:
  Recorder(const Call& call, const machine::Waiter& waiter);
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

 private:
  Call call_;
  const machine::Waiter& waiter_;
  machine::WaitCounts before_;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace espalier::runtime::statistics
