// How ranks that share no memory hear that one of them has failed in a collective, and find out that they are
// in different ones: by small messages on a lane of their own. Ranks of a node that share memory are quicker
// (node_failure.hpp, mismatch_detection.hpp).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "network/transport.hpp"
#include "runtime/failure/mismatch_detection.hpp"
#include "runtime/failure/node_failure.hpp"
#include "runtime/failure/node_peers.hpp"
#include "runtime/failure/recent_calls.hpp"

namespace espalier::runtime {

/// Of one communicator; used by one thread at a time.
class FailureNotices {
 public:
  /// The communicator as its messages see it.
  struct Place {
    std::vector<int> processes;  ///< of its ranks
    int rank;
    int tag;            ///< for this alone
    std::uint32_t use;  ///< of the tag, as rank 0 counts: a message of an earlier communicator may come late
  };
  /// How long a wait lasts before this rank sends its calls to those whose messages it awaits; then twice the
  /// first part of it, and so on: a rank that is late for hours gets few. Where the awaited rank has died its
  /// node sees that at the end of each interval, and says so before the question is sent: MPICH over TCP may
  /// crash in the MPI_Isend of a message to a process that has ended.
  static constexpr std::int64_t first_interval_ns = MismatchDetection::look_interval_ns,
                                after_interval_ns = 100'000'000;

  /// `mine`: this rank's calls, kept by the communicator. `awaited`: whose messages it awaits. `node_peers`: the
  /// other ranks of its node as far as they are seen; to those that have ended nothing is sent.
  FailureNotices(network::Transport& transport, Place place, const OwnCalls& mine,
                 std::function<std::vector<int>()> awaited, std::function<NodePeers()> node_peers);

  /// Tells all other ranks why this one has failed in `call`. A long reason is cut. The transport may have
  /// failed itself: ranks that it does not reach are left out.
  void send(std::uint64_t call, std::string_view why) noexcept;

  /// To be called whenever a wait of `call` has looked in vain. A notice that has come is told to the ranks
  /// of the node. Throws AlreadyTold if it is of this call or an earlier one, and OutOfStep if a rank that
  /// waits for this one has called something else. True from time to time where the wait has lasted long.
  bool look(std::uint64_t call, NodeFailure& node) {
    if (++looks_ % looks_between == 0) [[unlikely]]
      return look_by_time(call, node);
    return false;
  }
  /// The same at the begin of a call: a rank may make many without a wait.
  void look_in_call(std::uint64_t call, NodeFailure& node) {
    if (call % calls_between == 0) [[unlikely]]
      look_by_time(call, node);
  }

 private:
  /// A probe costs the host's MPI_Iprobe, and asking for the time is not free either. On a busy machine a
  /// wait may look only every few milliseconds, so the looks alone do not say when it is time.
  static constexpr unsigned looks_between = 16, calls_between = 64;
  static constexpr std::int64_t probes_apart_ns = 2'000'000;

  enum class Kind : std::uint64_t { notice, question };
  /// In front of a notice's reason or a question's calls.
  struct Head {
    std::uint64_t use;  // by rank 0's process and its count
    Kind kind;
    std::uint64_t call;
  };
  std::uint64_t use() const;
  bool look_by_time(std::uint64_t call, NodeFailure& node);
  /// Takes what has come, at most one message.
  void probe(NodeFailure& node);
  void hear(const Head& head, const std::string& why, NodeFailure& node);
  void compare(const std::string& calls, int rank) const;
  void ask();
  void send_to(int rank, const NodePeers& peers, const std::string& message) noexcept;
  std::string message(Kind kind, std::uint64_t call, std::string_view content) const;

  /// What has come: which call failed, and why.
  struct Notice {
    std::uint64_t call;
    std::string why;
  };

  network::Transport& transport_;
  const Place place_;
  const OwnCalls& mine_;
  std::function<std::vector<int>()> awaited_;
  std::function<NodePeers()> node_peers_;
  unsigned looks_ = 0;
  std::int64_t next_probe_ns_ = 0;
  std::uint64_t waits_in_ = 0;  // the call in which this rank last looked
  std::int64_t next_question_ns_ = 0, questions_apart_ns_ = 0;
  std::optional<Notice> heard_;
};

}  // namespace espalier::runtime
