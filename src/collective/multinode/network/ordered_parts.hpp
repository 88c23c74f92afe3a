// The same dissemination where the order of folds shows in the bits: all peers must fold alike, though each
// hears of them in another order. So what travels is not one vector for the peers from here to there, but one
// for each whole branch of a fixed binary tree over all peers among them: up to 2 k of them for 2^k peers.
// Every peer ends with the root of that tree: folded in rank order, hence also right for operators that do
// not commute.
#pragma once

#include <cstring>

#include "collective/multinode/network/partial_reductions.hpp"

namespace espalier::collective::multinode {

/// The peers first, first + 1, ... up to 2^level of them, as far as there are so many; `first` is a multiple
/// of that.
struct Branch {
  int level, first;
  auto operator<=>(const Branch&) const = default;
};

/// The fixed tree over n peers.
class BranchTree {
 public:
  explicit BranchTree(int n) : n_(n) {}

  Branch root() const { return {static_cast<int>(std::bit_width(static_cast<unsigned>(n_ - 1))), 0}; }
  int end(const Branch& b) const { return std::min(b.first + (1 << b.level), n_); }
  /// The largest branches that make up the `count` <= n peers up to `last`, going round.
  std::vector<Branch> up_to(int last, int count) const {
    std::vector<Branch> result;
    const int first = last - count + 1;
    cover(root(), std::max(first, 0), last + 1, result);
    if (first < 0) cover(root(), first + n_, n_, result);
    return result;
  }

 private:
  void cover(const Branch& b, int first, int last, std::vector<Branch>& result) const {
    if (b.first >= last || end(b) <= first || b.first >= n_) return;
    if (first <= b.first && end(b) <= last) return result.push_back(b);
    const int below = b.level - 1;
    cover({below, b.first}, first, last, result);
    cover({below, b.first + (1 << below)}, first, last, result);
  }

  int n_;
};

namespace detail {

/// The vectors of branches that a peer has. A branch is folded as soon as both its halves are there.
class KnownBranches {
 public:
  KnownBranches(int n, const Vector& v)
      : tree_(n), n_(n), bytes_(v.bytes), operation_(v.operation), free_(v.scratch) {}

  std::byte* take(std::size_t vectors) { return std::exchange(free_, free_ + vectors * bytes_); }
  const std::byte* at(const Branch& branch) const { return known_.at(branch); }

  void add(Branch branch, const std::byte* vector) {
    known_[branch] = vector;
    while (branch < tree_.root()) {
      const Branch above = {branch.level + 1, branch.first >> (branch.level + 1) << (branch.level + 1)};
      const Branch left = {branch.level, above.first},
                   right = {branch.level, above.first + (1 << branch.level)};
      const auto l = known_.find(left), r = known_.find(right);
      if (known_.contains(above) || l == known_.end()) return;
      if (right.first >= n_) {
        known_[above] = l->second;
      } else {
        if (r == known_.end()) return;
        std::byte* folded = take(1);
        fold(operation_, folded, l->second, r->second, bytes_);
        known_[above] = folded;
      }
      branch = above;
    }
  }

 private:
  BranchTree tree_;
  int n_;
  std::size_t bytes_;
  const reduce::Operation& operation_;
  std::byte* free_;
  std::map<Branch, const std::byte*> known_;
};

}  // namespace detail

/// How many vectors of scratch peer `me` needs: what it gets, as many folds at most, and what it sends.
inline std::size_t ordered_scratch(int me, int n) {
  const BranchTree tree(n);
  const PartialReductions parts(n);
  std::size_t coming = 0, leaving = 0;
  for (int k = 0; k < parts.rounds(); ++k) {
    leaving += tree.up_to(me, 1 << k).size();
    coming += tree.up_to(around(me - (1 << k), n), 1 << k).size();
    if (parts.is_sent_early(k)) coming += tree.up_to(around(me - parts.early_distance(k), n), 1 << k).size();
  }
  return 2 * coming + leaving + 1;
}

/// Scratch: ordered_scratch() vectors.
template <Network N>
Task allreduce_ordered(N peers, Vector v) {
  const int n = peers.size(), me = peers.rank();
  const PartialReductions parts(n);
  const BranchTree tree(n);
  detail::KnownBranches known(n, v);
  using Message = decltype(peers.receive(0, v.data, v.bytes));
  struct Coming {
    Message message;
    std::vector<Branch> branches;
    const std::byte* vectors;
  };
  const auto expect = [&](int from, int count) {
    std::vector<Branch> branches = tree.up_to(from, count);
    std::byte* room = known.take(branches.size());
    return Coming{peers.receive(from, room, branches.size() * v.bytes), std::move(branches), room};
  };
  const auto learn = [&](const Coming& coming) {
    for (std::size_t i = 0; i < coming.branches.size(); ++i)
      known.add(coming.branches[i], coming.vectors + i * v.bytes);
  };
  std::vector<Coming> early;
  for (int k = parts.rounds() - 1; k >= 0; --k)
    if (parts.is_sent_early(k)) early.push_back(expect(around(me - parts.early_distance(k), n), 1 << k));
  known.add({0, me}, v.data);
  std::vector<Message> leaving;
  for (int k = 0; k < parts.rounds(); ++k) {
    Coming coming = expect(around(me - (1 << k), n), 1 << k);
    const std::vector<Branch> own = tree.up_to(me, 1 << k);
    std::byte* packed = known.take(own.size());
    for (std::size_t i = 0; i < own.size() && v.bytes > 0; ++i)
      std::memcpy(packed + i * v.bytes, known.at(own[i]), v.bytes);
    leaving.push_back(peers.send(around(me + (1 << k), n), packed, own.size() * v.bytes));
    if (parts.is_sent_early(k))
      leaving.push_back(peers.send(around(me + parts.early_distance(k), n), packed, own.size() * v.bytes));
    co_await coming.message;
    learn(coming);
  }
  for (Coming& coming : early) {
    co_await coming.message;
    learn(coming);
  }
  for (auto& message : leaving) co_await message;
  if (n > 1 && v.bytes > 0) std::memcpy(v.data, known.at(tree.root()), v.bytes);
}

/// Of the two forms the one that gives all peers the same bits. Scratch: dissemination_scratch() vectors.
template <Network N>
Task allreduce_dissemination(N peers, Vector v) {
  return reduce::folds_in_any_order(v.operation) ? allreduce_any_order(peers, v)
                                                 : allreduce_ordered(peers, v);
}

inline std::size_t dissemination_scratch(int me, int n, const reduce::Operation& operation) {
  return reduce::folds_in_any_order(operation) ? any_order_scratch(n) : ordered_scratch(me, n);
}

}  // namespace espalier::collective::multinode
