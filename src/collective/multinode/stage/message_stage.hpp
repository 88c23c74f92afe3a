// Node stages by messages alone: HIER's own setting, for nodes whose ranks share no memory.
#pragma once

#include <cstring>
#include <memory>
#include <vector>

#include "collective/multinode/network/long_message.hpp"
#include "collective/multinode/network/prefix.hpp"
#include "collective/multinode/network/tree.hpp"
#include "collective/multinode/stage/stage.hpp"
#include "collective/multinode/stage/whole_vectors.hpp"
#include "tree/compose.hpp"

namespace espalier::collective::multinode {

/// `peers`: the ranks of the node. Binomial trees, as in HIER 3.1; a node of one rank only copies.
template <Network N>
class MessageStage {
 public:
  explicit MessageStage(N peers) : peers_(peers) {}

  int rank() const { return peers_.rank(); }
  int size() const { return peers_.size(); }

  template <class AtTop>
  void meet(int leader, AtTop at_top) {
    if (is_alone()) return at_top();
    const TreePosition position = place_under(leader);
    bool arrived = false;
    run(arrive_up(position));
    if (position.is_root()) at_top();
    run(bcast_down(peers_, position, nullptr, 0, arrived));
  }

  void bcast(int leader, void* data, std::size_t bytes) {
    if (is_alone()) return;
    const TreePosition position = place_under(leader);
    bool arrived = false;
    run(bcast_down(peers_, position, static_cast<std::byte*>(data), bytes, arrived));
  }

  void reduce(int leader, const void* send, void* result, std::size_t bytes,
              const reduce::Operation& operation) {
    if (is_alone()) return copy(result, send, bytes);
    const TreePosition position = place_under(leader);
    const bool is_leader = rank() == leader;
    const Buffer own(is_leader ? 0 : bytes), scratch(position.children.size() * bytes);
    auto* vector = is_leader ? static_cast<std::byte*>(result) : own.get();
    copy(vector, send, bytes);
    run(reduce_up(peers_, position, Vector{vector, bytes, scratch.get(), operation}));
  }

  void reduce_whole(int leader, const void* send, void* result, std::size_t bytes,
                    const WholeOperation& operation) {
    const ContiguousPosition position = contiguous_position(size(), rank(), leader);
    std::unique_ptr<std::byte[]> own(new std::byte[bytes]);
    copy(own.get(), send, bytes);
    run(reduce_whole_up(peers_, position, own, bytes, operation));
    if (position.is_root()) copy(result, own.get(), bytes);
  }

  void scan(const void* send, void* result, std::size_t bytes, const reduce::Operation& operation,
            Prefix prefix) {
    scan_with(send, result, bytes, prefix,
              [&operation](const std::byte* left, std::byte* right, std::size_t some) {
                fold(operation, right, left, right, some);
              });
  }

  void scan_whole(const void* send, void* result, std::size_t bytes, const WholeOperation& operation,
                  Prefix prefix) {
    scan_with(send, result, bytes, prefix,
              [&operation](const std::byte* left, std::byte* right, std::size_t) {
                operation.combine(operation.context, left, right);
              });
  }

  void gather(int leader, const void* send, void* blocks, std::size_t bytes) {
    run(to_leader(leader, send, bytes, blocks, EqualBlocks{bytes}));
  }
  void scatter(int leader, const void* blocks, void* receive, std::size_t bytes) {
    run(from_leader(leader, blocks, EqualBlocks{bytes}, receive, bytes));
  }
  void gatherv(int leader, const void* send, std::size_t bytes, void* target, const Blocks& blocks) {
    run(to_leader(leader, send, bytes, target, blocks));
  }
  void scatterv(int leader, const void* source, const Blocks& blocks, void* receive, std::size_t bytes) {
    run(from_leader(leader, source, blocks, receive, bytes));
  }

  void alltoallv(const void* send, const Blocks& out, void* receive, const Blocks& in) {
    copy(at(receive, in.offset_of(rank())), at(send, out.offset_of(rank())), in.bytes_of(rank()));
    for (int distance = 1; distance < size(); ++distance) {
      const int below = around(rank() - distance, size()), above = around(rank() + distance, size());
      const Task coming = receive_long(peers_, below, at(receive, in.offset_of(below)), in.bytes_of(below));
      const Task leaving = send_long(peers_, above, at(send, out.offset_of(above)), out.bytes_of(above));
      run(coming);
      run(leaving);
    }
  }

 private:
  class Buffer {
   public:
    explicit Buffer(std::size_t bytes) : bytes_(new std::byte[bytes]) {}
    std::byte* get() const { return bytes_.get(); }

   private:
    std::unique_ptr<std::byte[]> bytes_;
  };

  static void copy(void* target, const void* source, std::size_t bytes) {
    if (bytes > 0 && target != source) std::memcpy(target, source, bytes);
  }

  /// True where every rank has a node of its own. Then no tree is made: that would cost as much as all else
  /// that a short call does here.
  bool is_alone() const { return size() == 1; }

  void run(const Task& task) const {
    peers_.drive_until([&task] { return task.done(); });
  }

  TreePosition place_under(int leader) const {
    tree::Spec binomial;
    binomial.shape = tree::Shape::knomial(2);
    return position_of(tree::compose(topology::flat_group(size()), binomial, leader), rank());
  }

  Task arrive_up(const TreePosition& position) const {
    for (const int child : position.children) {
      auto from_child = peers_.receive(child, nullptr, 0);
      co_await from_child;
    }
    if (position.is_root()) co_return;
    auto to_parent = peers_.send(position.parent, nullptr, 0);
    co_await to_parent;
  }

  template <class Fold>
  void scan_with(const void* send, void* result, std::size_t bytes, Prefix prefix, Fold fold_right) {
    const Buffer total(bytes), below(bytes), scratch(bytes);
    copy(total.get(), send, bytes);
    run(exscan_doubling(peers_, PrefixBuffers{total.get(), below.get(), scratch.get(), bytes}, fold_right));
    auto* target = static_cast<std::byte*>(result);
    if (prefix == Prefix::inclusive) {
      copy(target, send, bytes);
      if (rank() > 0) fold_right(below.get(), target, bytes);
    } else if (rank() > 0) {
      copy(target, below.get(), bytes);
    }
  }

  // Blocks mean something at the leader only.
  template <class B>
  Task to_leader(int leader, const void* send, std::size_t bytes, void* target, B blocks) const {
    if (rank() != leader) {
      auto message = send_long(peers_, leader, at(send, 0), bytes);
      co_await message;
      co_return;
    }
    copy(at(target, blocks.offset_of(leader)), send, bytes);
    std::vector<Task> coming;
    for (int peer = 0; peer < size(); ++peer)
      if (peer != leader)
        coming.push_back(
            receive_long(peers_, peer, at(target, blocks.offset_of(peer)), blocks.bytes_of(peer)));
    for (const Task& each : coming) co_await each;
  }

  template <class B>
  Task from_leader(int leader, const void* source, B blocks, void* receive, std::size_t bytes) const {
    if (rank() != leader) {
      auto message = receive_long(peers_, leader, at(receive, 0), bytes);
      co_await message;
      co_return;
    }
    copy(receive, at(source, blocks.offset_of(leader)), bytes);
    std::vector<Task> leaving;
    for (int peer = 0; peer < size(); ++peer)
      if (peer != leader)
        leaving.push_back(send_long(peers_, peer, at(source, blocks.offset_of(peer)), blocks.bytes_of(peer)));
    for (const Task& each : leaving) co_await each;
  }

  N peers_;
};

}  // namespace espalier::collective::multinode
