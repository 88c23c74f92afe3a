// Reduce for operators that only the caller can apply, to whole vectors and in rank order: data flows up a
// tree in which every subtree covers neighbouring ranks. Each rank receives its children's vectors whole,
// folds, and sends its own.
#pragma once

#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "collective/core/chunk_copies.hpp"
#include "collective/core/tree_primitives.hpp"
#include "tree/contiguous.hpp"

namespace espalier::collective {

/// A rank's place in a rank-contiguous tree: children whose ranks lie before this one's and after it, each in
/// rank order.
struct ContiguousPosition {
  int root = 0;
  int parent = -1;
  std::vector<int> before;
  std::vector<int> after;
  bool is_root() const { return parent < 0; }
};

inline ContiguousPosition contiguous_position(int ranks, int rank, int root) {
  constexpr int fan_out = 4;  // a rank keeps that many whole vectors at a time
  const tree::ContiguousTree all = tree::contiguous(ranks, root, fan_out);
  const std::vector<int>& children = all.tree.children_of(rank);
  const auto middle = children.begin() + all.left[static_cast<std::size_t>(rank)];
  return {root, all.tree.parent_of(rank), {children.begin(), middle}, {middle, children.end()}};
}

/// right = left op right, on `bytes` of packed data.
struct WholeOperation {
  void (*combine)(void* context, const void* left, void* right);
  void* context;
};

namespace detail {

using Vectors = std::vector<std::unique_ptr<std::byte[]>>;

/// One vector for each child, first place.before, then place.after. Chunk k of all is read at step k.
template <Machine M>
Vectors receive_whole(M& m, const ContiguousPosition& place, const std::vector<Chunk>& chunks,
                      std::size_t bytes) {
  std::vector<int> children = place.before;
  children.insert(children.end(), place.after.begin(), place.after.end());
  Vectors vectors;
  for (std::size_t i = 0; i < children.size(); ++i) vectors.emplace_back(new std::byte[bytes]);
  for (const Chunk& chunk : chunks) {
    for (std::size_t i = 0; i < children.size(); ++i) {
      m.await(Channel::gather, children[i], chunk.step());
      m.copy(vectors[i].get() + chunk.offset, m.slot(children[i], chunk.steps), chunk.bytes);
    }
    m.finish(chunk.step());
  }
  return vectors;
}

/// (before[0] op ... op before[n]) op own op (after[0] op ...): from the inside out, each side in rank order.
inline std::unique_ptr<std::byte[]> fold_whole(Vectors vectors, std::size_t before,
                                               std::unique_ptr<std::byte[]> own,
                                               const WholeOperation& operation) {
  for (std::size_t i = before; i-- > 0;) operation.combine(operation.context, vectors[i].get(), own.get());
  for (std::size_t i = before; i < vectors.size(); ++i) {
    operation.combine(operation.context, own.get(), vectors[i].get());
    own = std::move(vectors[i]);
  }
  return own;
}

template <Machine M>
void send_whole(M& m, const ContiguousPosition& place, const std::vector<Chunk>& chunks,
                const std::byte* vector) {
  for (const Chunk& chunk : chunks) {
    copy_in_cached(m, chunk, vector, {&place.parent, 1});
    m.publish(Channel::gather, chunk.step());
  }
}

}  // namespace detail

/// The result lands in the root's receive buffer. A rank finishes the steps of its children before it sends
/// at the same steps: finish() speaks of reading only. Chunks are cut by packed bytes, so ranks may hold
/// different element counts.
template <Machine M>
void reduce_whole(M& m, const ContiguousPosition& place, const void* send, void* receive, std::size_t bytes,
                  const WholeOperation& operation, const Plan& plan) {
  const Chunks cut(m, bytes, plan);
  std::vector<Chunk> chunks;
  chunks.reserve(cut.count());
  for (std::size_t i = 0; i < cut.count(); ++i) chunks.push_back(cut.next(m, i));
  std::unique_ptr<std::byte[]> own(new std::byte[bytes]);
  m.copy(own.get(), send, bytes);
  own = detail::fold_whole(detail::receive_whole(m, place, chunks, bytes), place.before.size(),
                           std::move(own), operation);
  if (place.is_root())
    m.copy(receive, own.get(), bytes);
  else
    detail::send_whole(m, place, chunks, own.get());
}

}  // namespace espalier::collective
