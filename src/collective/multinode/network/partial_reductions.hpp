// Allreduce by dissemination for any number of nodes (NOTIFY III): n = sum of c_k 2^k, the largest power
// first. In round k a peer passes on what it has of the 2^k peers up to itself; what is missing of n after
// the last round are such partial reductions of others, one for each further c_k = 1, which are sent as soon
// as they exist, beside the rounds. So any n takes as many rounds as the power of two below it, and one late
// message.
#pragma once

#include <bit>
#include <map>
#include <vector>

#include "collective/multinode/network/vector.hpp"

namespace espalier::collective::multinode {

/// The partial reductions of a dissemination among n peers.
class PartialReductions {
 public:
  explicit PartialReductions(int n)
      : n_(n), rounds_(static_cast<int>(std::bit_width(static_cast<unsigned>(n))) - 1) {}

  /// log2 of the largest power of two in n.
  int rounds() const { return rounds_; }
  /// Whether the partial reduction of 2^k peers goes to one more peer than that of round k.
  bool is_sent_early(int k) const { return k < rounds_ && (n_ >> k & 1) != 0; }
  /// How far up that peer is: all larger powers of n together. No round goes so far, so no two messages of a
  /// peer have the same target.
  int early_distance(int k) const { return n_ >> (k + 1) << (k + 1); }
  int early_count() const { return std::popcount(static_cast<unsigned>(n_)) - 1; }
  /// How many messages come to a peer, and the number of the one whose sender is so far below: each has a
  /// distance of its own.
  int messages() const { return rounds_ + early_count(); }
  int message_from(int distance) const {
    if (std::has_single_bit(static_cast<unsigned>(distance)) && distance < 1 << rounds_)
      return std::countr_zero(static_cast<unsigned>(distance));
    int number = rounds_;
    for (int k = 0; k < rounds_ && early_distance(k) != distance; ++k) number += is_sent_early(k) ? 1 : 0;
    return number;
  }

 private:
  int n_, rounds_;
};

inline std::size_t any_order_scratch(int n) {
  const PartialReductions parts(n);
  return static_cast<std::size_t>(parts.rounds()) + static_cast<std::size_t>(parts.early_count());
}

/// For operations that fold in any order (reduce::folds_in_any_order), since each peer folds from another one
/// on. Scratch: any_order_scratch(n) vectors.
template <Network N>
Task allreduce_any_order(N peers, Vector v) {
  const int n = peers.size(), me = peers.rank();
  const PartialReductions parts(n);
  std::byte* free = v.scratch;
  const auto take = [&] { return std::exchange(free, free + v.bytes); };
  std::vector<decltype(peers.receive(0, free, v.bytes))> early;
  std::vector<decltype(peers.send(0, free, v.bytes))> leaving;
  std::vector<std::byte*> early_parts;
  for (int k = parts.rounds() - 1; k >= 0; --k)
    if (parts.is_sent_early(k)) {
      early_parts.push_back(take());
      early.push_back(peers.receive(around(me - parts.early_distance(k), n), early_parts.back(), v.bytes));
    }
  std::byte* part = v.data;
  for (int k = 0; k < parts.rounds(); ++k) {
    std::byte* coming = take();
    auto from_below = peers.receive(around(me - (1 << k), n), coming, v.bytes);
    leaving.push_back(peers.send(around(me + (1 << k), n), part, v.bytes));
    if (parts.is_sent_early(k))
      leaving.push_back(peers.send(around(me + parts.early_distance(k), n), part, v.bytes));
    co_await from_below;
    fold(v.operation, coming, coming, part, v.bytes);
    part = coming;
  }
  for (std::size_t i = 0; i < early.size(); ++i) {
    co_await early[i];
    fold(v.operation, part, early_parts[i], part, v.bytes);
  }
  for (auto& message : leaving) co_await message;
  if (part != v.data) std::copy_n(part, v.bytes, v.data);
}

}  // namespace espalier::collective::multinode
