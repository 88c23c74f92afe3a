// Alltoall(v) over nodes: every rank talks to one rank of each other node (NOTIFY V). First a node's ranks
// tell each other what they have for the ranks of other nodes: each gets all that goes to its counterparts.
// Then each sends what its whole node has for a counterpart in one message. Long blocks travel by themselves,
// rank to rank.
#pragma once

#include <cstdint>
#include <cstring>

#include "collective/multinode/network/long_message.hpp"
#include "collective/multinode/stage/counterparts.hpp"
#include "collective/multinode/stage/node_order.hpp"
#include "collective/multinode/stage/rooted_blocks.hpp"
#include "collective/multinode/stage/stage.hpp"

namespace espalier::collective::multinode {

/// `Out` and `In` say how long blocks are and where they lie, by rank. room(which, bytes) gives memory, for
/// four purposes. `all`: all ranks.
template <NodeStage S, Network N, class Out, class In, class Room>
class Alltoall {
 public:
  struct Call {
    int rank;
    const Placement& placement;
    std::size_t long_block;  ///< so long a block travels by itself
    bool equal;              ///< all blocks have one length
    const void* send;
    const Out& out;
    void* receive;
    const In& in;
  };

  Alltoall(S& node, N all, const Call& call, Room room)
      : node_(node), all_(all), c_(call), who_(call.placement, call.rank), room_(room) {}

  void run() {
    std::vector<Task> tasks;
    tasks.push_back(exchange_long());
    const bool all_long = c_.equal && !is_short(c_.out.bytes_of(c_.rank));
    if (all_long) {
      exchange_beside();
    } else {
      expect(tasks);
      exchange_on_node();
      send_on(tasks);
    }
    drive_all(all_, tasks);
    if (!all_long) place_others();
  }

 private:
  static constexpr int at_once = 8;  // distances at which long blocks are under way

  bool is_short(std::size_t bytes) const { return bytes < c_.long_block; }
  std::size_t short_bytes(std::size_t bytes) const { return is_short(bytes) ? bytes : 0; }

  Task exchange_long() const { return exchange_long(all_.on(long_block_lane), c_, who_.node()); }

  // Of no object: it goes on while others of this one run.
  static Task exchange_long(N all, Call c, int node) {
    const int n = c.placement.ranks();
    const auto goes = [&](int rank, std::size_t bytes) {
      return c.placement.node_of[static_cast<std::size_t>(rank)] != node && bytes >= c.long_block;
    };
    for (int first = 1; first < n; first += at_once) {
      std::vector<Task> group;
      for (int distance = first; distance < std::min(first + at_once, n); ++distance) {
        const int below = around(c.rank - distance, n), above = around(c.rank + distance, n);
        if (const std::size_t bytes = c.in.bytes_of(below); goes(below, bytes))
          group.push_back(receive_long(all, below, at(c.receive, c.in.offset_of(below)), bytes));
        if (const std::size_t bytes = c.out.bytes_of(above); goes(above, bytes))
          group.push_back(send_long(all, above, at(c.send, c.out.offset_of(above)), bytes));
      }
      for (const Task& each : group) co_await each;
    }
  }

  /// Only what the ranks of this node have for each other.
  void exchange_beside() {
    BlocksOfSome out, in;
    for (const int rank : who_.neighbours()) {
      out.add(c_.out.bytes_of(rank), c_.out.offset_of(rank));
      in.add(c_.in.bytes_of(rank), c_.in.offset_of(rank));
    }
    node_.alltoallv(c_.send, out.view(), c_.receive, in.view());
  }

  std::size_t coming_from(int other) const {
    std::size_t sum = 0;
    for (const int rank : who_.ranks_of(other)) sum += short_bytes(c_.in.bytes_of(rank));
    return sum;
  }

  void expect(std::vector<Task>& tasks) {
    std::size_t total = 0;
    for (int other = 0; other < c_.placement.nodes(); ++other)
      if (other != who_.node()) total += coming_from(other);
    std::byte* target = coming_ = room_(0, total);
    for (int other = 0; other < c_.placement.nodes(); ++other) {
      if (other == who_.node()) continue;
      const std::size_t bytes = coming_from(other);
      tasks.push_back(receive_long(all_, who_.speaker(other, c_.rank), target, bytes));
      target += bytes;
    }
  }

  /// How long the short blocks are that each neighbour has for those for whom this rank speaks.
  std::vector<std::vector<std::uint64_t>> ask_neighbours(const std::vector<int>& mine) {
    const std::size_t n = who_.neighbours().size();
    std::vector<std::vector<std::uint64_t>> sizes(n);
    if (c_.equal) {
      sizes.assign(n, std::vector<std::uint64_t>(mine.size(), c_.out.bytes_of(c_.rank)));
      return sizes;
    }
    std::vector<std::uint64_t> out, in(n * mine.size());
    BlocksOfSome from, to;
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t begin = out.size();
      for (const int rank : who_.audience(who_.neighbours()[i]))
        out.push_back(short_bytes(c_.out.bytes_of(rank)));
      from.add((out.size() - begin) * sizeof(std::uint64_t), begin * sizeof(std::uint64_t));
      to.add(mine.size() * sizeof(std::uint64_t), i * mine.size() * sizeof(std::uint64_t));
    }
    node_.alltoallv(out.data(), from.view(), in.data(), to.view());
    for (std::size_t i = 0; i < n; ++i) {
      const auto first = in.begin() + static_cast<std::ptrdiff_t>(i * mine.size());
      sizes[i].assign(first, first + static_cast<std::ptrdiff_t>(mine.size()));
    }
    return sizes;
  }

  /// Each neighbour gets its own block and the short ones for those for whom it speaks.
  BlocksOfSome pack() {
    BlocksOfSome blocks;
    std::size_t total = 0;
    const auto for_each_block = [&](int neighbour, auto body) {
      body(neighbour, c_.out.bytes_of(neighbour));
      for (const int to : who_.audience(neighbour)) body(to, short_bytes(c_.out.bytes_of(to)));
    };
    for (const int neighbour : who_.neighbours()) {
      const std::size_t begin = total;
      for_each_block(neighbour, [&](int, std::size_t bytes) { total += bytes; });
      blocks.add(total - begin, begin);
    }
    std::byte* end = packed_ = room_(1, total);
    for (const int neighbour : who_.neighbours())
      for_each_block(neighbour, [&](int to, std::size_t bytes) {
        if (bytes > 0) std::memcpy(end, at(c_.send, c_.out.offset_of(to)), bytes);
        end += bytes;
      });
    return blocks;
  }

  void exchange_on_node() {
    audience_ = who_.audience(c_.rank);
    sizes_ = ask_neighbours(audience_);
    const BlocksOfSome out = pack();
    BlocksOfSome in;
    std::size_t total = 0;
    for (std::size_t i = 0; i < sizes_.size(); ++i) {
      begins_.push_back(total + c_.in.bytes_of(who_.neighbours()[i]));
      std::size_t bytes = c_.in.bytes_of(who_.neighbours()[i]);
      for (const std::uint64_t each : sizes_[i]) bytes += each;
      in.add(bytes, total);
      total += bytes;
    }
    gathered_ = room_(2, total);
    node_.alltoallv(packed_, out.view(), gathered_, in.view());
    for (std::size_t i = 0; i < sizes_.size(); ++i)
      if (const std::size_t bytes = c_.in.bytes_of(who_.neighbours()[i]); bytes > 0)
        std::memcpy(at(c_.receive, c_.in.offset_of(who_.neighbours()[i])), gathered_ + begins_[i] - bytes,
                    bytes);
  }

  void send_on(std::vector<Task>& tasks) {
    std::size_t total = 0;
    for (const auto& of_one : sizes_)
      for (const std::uint64_t each : of_one) total += each;
    std::byte* end = room_(3, total);
    for (std::size_t k = 0; k < audience_.size(); ++k) {
      const std::byte* begin = end;
      for (std::size_t i = 0; i < sizes_.size(); ++i) {
        if (const std::uint64_t bytes = sizes_[i][k]; bytes > 0)
          std::memcpy(end, gathered_ + begins_[i], bytes);
        begins_[i] += sizes_[i][k];
        end += sizes_[i][k];
      }
      tasks.push_back(send_long(all_, audience_[k], begin, static_cast<std::size_t>(end - begin)));
    }
  }

  void place_others() {
    const std::byte* source = coming_;
    for (int other = 0; other < c_.placement.nodes(); ++other) {
      if (other == who_.node()) continue;
      for (const int rank : who_.ranks_of(other))
        if (const std::size_t bytes = short_bytes(c_.in.bytes_of(rank)); bytes > 0) {
          std::memcpy(at(c_.receive, c_.in.offset_of(rank)), source, bytes);
          source += bytes;
        }
    }
  }

  S& node_;
  N all_;
  Call c_;
  Counterparts who_;
  Room room_;
  std::vector<int> audience_;                      // for whom this rank speaks
  std::vector<std::vector<std::uint64_t>> sizes_;  // by neighbour and listener
  std::vector<std::size_t> begins_;                // by neighbour: of what is still to be sent on
  std::byte *coming_ = nullptr, *packed_ = nullptr, *gathered_ = nullptr;
};

template <NodeStage S, Network N, class Out, class In, class Room>
void alltoall(S& node, N all, const typename Alltoall<S, N, Out, In, Room>::Call& call, Room room) {
  Alltoall<S, N, Out, In, Room>(node, all, call, room).run();
}

}  // namespace espalier::collective::multinode
