// What one rank sends in the calls of a stream, and what it makes of what comes. When it does either is decided in
// basic_channel.hpp.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/across/call.hpp"

namespace espalier::runtime::across {

/// One rank's end of a stream of calls.
class StreamEnd {
 protected:
  StreamEnd(std::shared_ptr<Mail> mail, int rank, int stream)
      : mail_(std::move(mail)),
        rank_(rank),
        my_node_(node_of(rank)),
        local_rank_(local_rank_of(rank)),
        stream_(stream) {}

  void make_spec(Call& call) const;
  void send_own(const Call& call);
  void send_for_node(const Call& call);
  bool has_all(const Call& call);
  void finish(Call& call);

  void send_direct(const Call& call);
  bool has_sources(Call& call);
  void take_direct(Call& call);

  /// Whose letters the call lacks.
  std::vector<int> missing(const Call& call) const;
  /// And whom it awaits on this node, through shared memory.
  std::vector<int> awaited(const Call& call) const;

  Mail& mail() const { return *mail_; }
  int rank() const { return rank_; }
  int stream() const { return stream_; }
  int ranks_here() const { return static_cast<int>(ranks_of(my_node_).size()); }
  bool is_here(int rank) const { return node_of(rank) == my_node_; }

 private:
  void post(const Call& call, const std::shared_ptr<const Letter>& letter, bool to_node);
  std::shared_ptr<Letter> letter_of(const Call& call, int part, std::size_t bytes, int piece = 0) const;
  bool has_node(const Arrived& arrived, int node) const;
  void fold(Call& call, const Arrived& arrived);
  void place_blocks(Call& call, const Arrived& arrived);

  void send_block(const Call& call, const std::vector<int>& readers);
  template <class Body>
  bool by_arrived(const Call& call, const Arrived& arrived, int source, Body body) const;
  bool has_block(const Call& call, const Arrived& arrived, int source) const;
  void fold_direct(const Call& call, const Arrived& arrived) const;
  From from_rank(int rank, int piece = 0) const { return {node_of(rank), local_rank_of(rank), piece}; }
  void add_missing(const Arrived& arrived, int node, std::vector<int>& ranks) const;
  /// A letter's data; throws Error where they are not so long.
  const std::byte* find(const Call& call, const Arrived& arrived, const From& from, std::size_t bytes) const;

  const collective::multinode::Placement& placement() const { return mail_->placement(); }
  const std::vector<int>& ranks_of(int node) const {
    return placement().ranks_of[static_cast<std::size_t>(node)];
  }
  int node_of(int rank) const { return placement().node_of[static_cast<std::size_t>(rank)]; }
  int local_rank_of(int rank) const { return placement().local_rank_of[static_cast<std::size_t>(rank)]; }
  bool wants_of_all(const Call& call, int rank) const;

  std::shared_ptr<Mail> mail_;
  int rank_, my_node_, local_rank_, stream_;
};

}  // namespace espalier::runtime::across
