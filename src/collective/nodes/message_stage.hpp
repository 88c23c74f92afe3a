// Node stages by messages alone: HIER's own setting, for nodes whose ranks share no memory.
#pragma once

#include <cstring>
#include <memory>
#include <vector>

#include "collective/nodes/prefix.hpp"
#include "collective/nodes/stage.hpp"
#include "collective/nodes/tree.hpp"
#include "collective/nodes/whole.hpp"
#include "tree/compose.hpp"

namespace espalier::collective::nodes {

/// `peers`: the ranks of the node. Binomial trees, as in HIER 3.1; a node of one rank only copies.
template <Network N>
class MessageStage {
 public:
  explicit MessageStage(N peers) : peers_(peers) {}

  int rank() const { return peers_.rank(); }
  int size() const { return peers_.size(); }

  template <class AtTop>
  void meet(int leader, AtTop at_top) {
    const Place place = place_under(leader);
    bool arrived = false;
    run(arrive_up(place));
    if (place.is_root()) at_top();
    run(bcast_down(peers_, place, nullptr, 0, arrived));
  }

  void bcast(int leader, void* data, std::size_t bytes) {
    const Place place = place_under(leader);
    bool arrived = false;
    run(bcast_down(peers_, place, static_cast<std::byte*>(data), bytes, arrived));
  }

  void reduce(int leader, const void* send, void* result, std::size_t bytes,
              const reduce::Operation& operation) {
    const Place place = place_under(leader);
    const bool is_leader = rank() == leader;
    const Buffer own(is_leader ? 0 : bytes), scratch(place.children.size() * bytes);
    auto* vector = is_leader ? static_cast<std::byte*>(result) : own.get();
    copy(vector, send, bytes);
    run(reduce_up(peers_, place, Vector{vector, bytes, scratch.get(), operation}));
  }

  void reduce_whole(int leader, const void* send, void* result, std::size_t bytes,
                    const WholeOperation& operation) {
    const ContiguousPlace place = contiguous_place(size(), rank(), leader);
    std::unique_ptr<std::byte[]> own(new std::byte[bytes]);
    copy(own.get(), send, bytes);
    run(reduce_whole_up(peers_, place, own, bytes, operation));
    if (place.is_root()) copy(result, own.get(), bytes);
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
    if (rank() == leader) copy(block(blocks, leader, bytes), send, bytes);
    run(to_leader(leader, send, blocks, bytes));
  }
  void scatter(int leader, const void* blocks, void* receive, std::size_t bytes) {
    if (rank() == leader) copy(receive, block(const_cast<void*>(blocks), leader, bytes), bytes);
    run(from_leader(leader, blocks, receive, bytes));
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
  static std::byte* block(void* blocks, int rank, std::size_t bytes) {
    return at(blocks, static_cast<std::size_t>(rank) * bytes);
  }

  void run(const Task& task) const {
    peers_.drive_until([&task] { return task.done(); });
  }

  Place place_under(int leader) const {
    tree::Spec binomial;
    binomial.shape = tree::Shape::knomial(2);
    return place_of(tree::compose(topology::flat_group(size()), binomial, leader), rank());
  }

  Task arrive_up(const Place& place) const {
    for (const int child : place.children) {
      auto from_child = peers_.receive(child, nullptr, 0);
      co_await from_child;
    }
    if (place.is_root()) co_return;
    auto to_parent = peers_.send(place.parent, nullptr, 0);
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

  Task to_leader(int leader, const void* send, void* blocks, std::size_t bytes) const {
    for (int peer = 0; peer < size() && rank() == leader; ++peer) {
      if (peer == leader) continue;
      auto from_peer = peers_.receive(peer, block(blocks, peer, bytes), bytes);
      co_await from_peer;
    }
    if (rank() == leader) co_return;
    auto to_it = peers_.send(leader, send, bytes);
    co_await to_it;
  }

  Task from_leader(int leader, const void* blocks, void* receive, std::size_t bytes) const {
    for (int peer = 0; peer < size() && rank() == leader; ++peer) {
      if (peer == leader) continue;
      auto to_peer = peers_.send(peer, block(const_cast<void*>(blocks), peer, bytes), bytes);
      co_await to_peer;
    }
    if (rank() == leader) co_return;
    auto from_it = peers_.receive(leader, receive, bytes);
    co_await from_it;
  }

  N peers_;
};

}  // namespace espalier::collective::nodes
