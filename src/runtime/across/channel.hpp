// Nonblocking collectives over nodes: calls that all ranks of a communicator start in one order.
//
// A start waits for no rank, and a rank that has started owes the others nothing: it may wait, in the host, for a
// message that comes when they are through. So no rank passes on what it has received. On a node the ranks give their
// data to each other through shared memory, and all of them fold or collect these; who is the first to see that all are
// there sends them, for all, to every rank that wants them on other nodes: at the latest the rank that has started last,
// in its start. Receivers take the letters when they test or wait. So there is one round of messages, and from a node one
// message to each rank.
//
// Other collectives, and operators of the user, have each rank send what it gives to each reader, in its start; nothing
// of it goes through shared memory (direct.cpp).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "network/spin_limits.hpp"
#include "runtime/across/call.hpp"
#include "runtime/communicator/nonblocking_list.hpp"

namespace espalier::runtime::across {

/// One rank's end of a stream of calls. Thread-safe as Nonblocking is.
class Channel final : public Driven {
 public:
  /// `node`: of this node's ranks; null: there is none, or no memory for it.
  static std::shared_ptr<Channel> open(std::shared_ptr<Mail> mail, int rank, int stream,
                                       std::shared_ptr<Nonblocking> node, network::SpinLimits spin_limits);

  /// Local: waits for no rank. In the order of the stream's calls.
  void start(Call& call);
  /// Whether complete() would return or throw at once; if not, all that is under way has been driven.
  bool is_ready(Call& call);
  /// Waits, while all else is driven, until this rank's part is done. Throws Error when a rank is gone, or has called
  /// something else.
  void complete(Call& call);
  /// The program gives the call up, done or not.
  void forget(Call& call);
  void advance_aside() override;

 private:
  Channel(std::shared_ptr<Mail> mail, int rank, int stream, std::shared_ptr<Nonblocking> node,
          network::SpinLimits spin_limits);

  void begin_on_node(Call& call);
  void make_spec(Call& call) const;
  void send_own(const Call& call);
  void send_for_node(const Call& call);
  void post(const Call& call, const std::shared_ptr<const Letter>& letter, bool to_node);
  std::shared_ptr<Letter> letter_of(const Call& call, int part, std::size_t bytes, int piece = 0) const;

  void drive();
  bool step(Call& call, bool& may_claim);
  bool has_all(const Call& call);
  bool has_node(const Arrived& arrived, int node) const;
  void finish(Call& call);
  void fold(Call& call, const Arrived& arrived);
  void place_blocks(Call& call, const Arrived& arrived);

  void send_direct(const Call& call);
  void send_block(const Call& call, const std::vector<int>& readers);
  bool has_sources(Call& call);
  bool has_block(const Call& call, const Arrived& arrived, int source) const;
  void take_direct(Call& call);
  void fold_direct(const Call& call, const Arrived& arrived) const;
  From from_rank(int rank, int piece = 0) const { return {node_of(rank), local_rank_of(rank), piece}; }
  /// A letter's data; throws Error where they are of another call.
  const std::byte* find(const Call& call, const Arrived& arrived, const From& from, std::size_t bytes) const;

  const collective::multinode::Placement& placement() const { return mail_->placement(); }
  const std::vector<int>& ranks_of(int node) const {
    return placement().ranks_of[static_cast<std::size_t>(node)];
  }
  int node_of(int rank) const { return placement().node_of[static_cast<std::size_t>(rank)]; }
  int local_rank_of(int rank) const { return placement().local_rank_of[static_cast<std::size_t>(rank)]; }
  int ranks_here() const { return static_cast<int>(ranks_of(my_node_).size()); }
  bool wants_of_all(const Call& call, int rank) const;

  std::shared_ptr<Mail> mail_;
  int rank_, my_node_, local_rank_, stream_;
  std::shared_ptr<Nonblocking> node_;
  network::SpinLimits spin_limits_;
  std::uint64_t calls_ = 0, claims_ = 0;
  std::vector<Call*> under_way_;  // in order
};

}  // namespace espalier::runtime::across
