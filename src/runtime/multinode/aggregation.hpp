// A communicator's use of the aggregation nodes in the network: when its group is made, what becomes of
// failures.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "network/sharp_client.hpp"
#include "network/task.hpp"

namespace espalier::runtime {

/// The network stage through a SHARP group of the nodes' leaders, made after ESPALIER_SHARP_CALLS calls that
/// want it. All ranks of the communicator keep one and give it the same calls; only leaders have a group.
/// Every outcome is agreed by all ranks: where one leader fails, all take the algorithms in software.
class Offload {
 public:
  /// `leaders`: of all nodes, on a lane of their own; it means something where `leads`. `processes`: theirs
  /// in the job.
  Offload(network::SharpJob& job, network::Peers leaders, bool leads, std::vector<std::uint32_t> processes);
  ~Offload();

  /// Hands bytes of this node's leader to its other ranks.
  using Share = std::function<void(void* data, std::size_t bytes)>;
  /// Whether a call that the plan wants here is done here; the same on all ranks. Counts it, and from time to
  /// time makes the group or tells the others what the leader knows: then all ranks must be in this call, as
  /// they are. `operation`: null for a barrier.
  bool admits(const reduce::Operation* operation, const Share& share);
  /// Why the last call was not admitted.
  const std::string& objection() const { return objection_; }

  // collective::multinode::Aggregation
  std::size_t payload() const { return payload_; }
  std::byte* source(int lane) const;
  network::Task allreduce(int lane, std::size_t bytes, const reduce::Operation& operation, std::byte* result);
  network::Task barrier();
  void forget();
  void recover(const network::SharpError& error, std::size_t released);

 private:
  enum class State { waiting, open, closed };
  /// What leaders tell each other and their nodes. Plain bytes.
  struct Verdict {
    std::int32_t code;
    std::int32_t rank;  ///< the leader's number among leaders whose code it is
  };
  void open(const Share& share);
  Verdict try_to_open();
  void close(const Verdict& verdict, const char* when);
  std::byte* target(int lane) const;
  template <class Record>
  std::vector<Record> exchange(const Record& mine, bool patiently) const;

  network::SharpJob& job_;
  network::Peers leaders_;
  bool leads_;
  std::vector<std::uint32_t> processes_;
  std::size_t payload_;
  std::unique_ptr<std::byte[]> memory_;  // of each lane what goes in, then what comes out
  std::unique_ptr<network::SharpGroup> group_;
  State state_ = State::waiting;
  std::uint64_t calls_ = 0;
  Verdict failure_{};
  std::string objection_, closed_;  // closed_: why, once it is
};

}  // namespace espalier::runtime
