// The letters of a communicator over nodes: they come in any order, and wait here for the call that wants them.
#pragma once

#include <compare>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "collective/multinode/stage/placement.hpp"
#include "network/transport.hpp"
#include "runtime/across/letter.hpp"
#include "runtime/across/sent_letters.hpp"

namespace espalier::runtime::across {

/// Whose letter it is: as its head says.
struct From {
  int node, part, piece = 0;
  auto operator<=>(const From&) const = default;
};

/// Those of one call.
using Arrived = std::map<From, Letter>;

/// Outlives the communicator as long as calls are under way. Used with its lock held.
class Mail {
 public:
  /// `processes`: of the ranks, as the transport numbers them. `tag`: no other messages have it.
  Mail(network::Transport& transport, SentLetters& sent, collective::multinode::Placement placement,
       std::vector<int> processes, int tag)
      : transport_(transport),
        sent_(sent),
        placement_(std::move(placement)),
        processes_(std::move(processes)),
        tag_(tag) {}
  ~Mail();
  Mail(const Mail&) = delete;
  Mail& operator=(const Mail&) = delete;

  std::mutex& mutex() { return mutex_; }
  const collective::multinode::Placement& placement() const { return placement_; }
  /// From now on the communicator's block of tags is given back with this.
  void take_tags(int block) { tags_ = block; }
  /// Letters may come that no call takes: no other communicator may have the tags.
  void lose_tags() { may_give_back_ = false; }

  void send(int rank, const std::shared_ptr<const Letter>& letter);
  /// Takes in what has come; true if there was something.
  bool collect();
  /// Drops letters that have gone.
  void look_at_sent() { sent_.look(); }
  /// What has come for a call, which grows.
  Arrived& of_call(int stream, std::uint64_t call) { return arrived_[{stream, call}]; }
  void forget(int stream, std::uint64_t call) { arrived_.erase({stream, call}); }
  /// No letter has come, or begins to come, that no call has taken.
  bool is_empty() const { return coming_.empty() && arrived_.empty(); }

 private:
  struct Coming {
    network::Ticket ticket;
    std::unique_ptr<Letter> letter;
  };
  network::Transport& transport_;
  SentLetters& sent_;
  std::mutex mutex_;
  collective::multinode::Placement placement_;
  std::vector<int> processes_;
  int tag_;
  int tags_ = -1;
  bool may_give_back_ = true;
  std::list<Coming> coming_;
  std::map<std::pair<int, std::uint64_t>, Arrived> arrived_;
};

}  // namespace espalier::runtime::across
