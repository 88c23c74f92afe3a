// Counts the calls of one communicator, when statistics are on.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

#include "base/collective.hpp"
#include "machine/wait.hpp"
#include "plan/plan.hpp"
#include "runtime/statistics.hpp"

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
      nullptr;              ///< why the aggregation nodes did not serve it, if they might have
  bool persistent = false;  ///< prepared once; then the algorithm says nothing
};

/// Lives as long as the call; costs a test of a constant, inlined, when statistics are off.
class Recorder {
 public:
  Recorder(const Call& call, const machine::Waiter& waiter) {
    if (enabled()) [[unlikely]]
      start(call, waiter);
  }
  ~Recorder() {
    if (running_) [[unlikely]]
      stop();
  }
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

 private:
  struct Running {
    Call call;
    const machine::Waiter& waiter;
    machine::WaitCounts before;
    std::chrono::steady_clock::time_point start;
  };
  void start(const Call& call, const machine::Waiter& waiter);
  void stop();

  std::optional<Running> running_;
};

}  // namespace espalier::runtime::statistics
