// Parts of all ranks go up a tree: every rank shows those of its subtree, packed in rank order, and the root all
// of them.
#pragma once

#include "collective/core/tree_primitives.hpp"

namespace espalier::collective {

// `edge(rank)`, below: the bytes that all ranks lower than that have together, for ranks from 0 to their number.

template <class Edge>
std::size_t bytes_of_run(const RankRun& run, const Edge& edge) {
  return edge(run.end) - edge(run.first);
}
template <class Edge>
std::size_t bytes_of_runs(const RankRuns& runs, const Edge& edge) {
  std::size_t bytes = 0;
  for (const RankRun& run : runs) bytes += bytes_of_run(run, edge);
  return bytes;
}
/// How many bytes the ranks of `runs` below `rank`, one of them, have.
template <class Edge>
std::size_t place_in_runs(const RankRuns& runs, int rank, const Edge& edge) {
  std::size_t place = 0;
  for (const RankRun& run : runs) {
    if (rank < run.end) return place + edge(rank) - edge(run.first);
    place += bytes_of_run(run, edge);
  }
  return place;
}

/// Whether the parts of a subtree ride in the flag line of its root, which spares the reader a line.
inline bool parts_ride_inline(std::size_t bytes, bool inlined) {
  return inlined && bytes <= memory::inline_capacity;
}

/// Waits for the children's parts and writes them, with this rank's own, into its slot or line of the step.
/// Returns where they are. The caller announces them.
template <Machine M, class Edge>
std::byte* collect_parts(M& m, const TreePosition& up, const Steps& steps, const void* own, const Edge& edge,
                         bool inlined) {
  const std::size_t own_bytes = edge(m.rank() + 1) - edge(m.rank());
  const std::size_t all = bytes_of_runs(up.subtree, edge);
  const bool in_line = parts_ride_inline(all, inlined);
  m.reserve(steps);
  std::byte* parts = in_line ? m.inline_buffer(Channel::gather, steps.last()) : m.slot(m.rank(), steps);
  std::byte* place = parts + place_in_runs(up.subtree, m.rank(), edge);
  if (!in_line)
    m.write_slot(place, own, own_bytes);
  else if (own_bytes > 0)
    m.copy(place, own, own_bytes);
  for (std::size_t i = 0; i < up.children.size(); ++i) {
    const int child = up.children[i];
    m.await(Channel::gather, child, steps.last());
    const std::byte* theirs = parts_ride_inline(bytes_of_runs(up.below[i], edge), inlined)
                                  ? m.inline_data(Channel::gather, child, steps.last())
                                  : m.slot(child, steps);
    for (const RankRun& run : up.below[i]) {
      const std::size_t bytes = bytes_of_run(run, edge);
      m.copy(parts + place_in_runs(up.subtree, run.first, edge), theirs, bytes);
      theirs += bytes;
    }
  }
  if (!in_line) m.flush_for_readers(parts, all);
  return parts;
}

/// The same at a rank that has a parent, and announces them to it. It need not say that its parent reads them: it
/// takes no later step before the root has released this one, and so the parent has read.
template <Machine M, class Edge>
void send_parts_up(M& m, const TreePosition& up, const Steps& steps, const void* own, const Edge& edge,
                   bool inlined) {
  collect_parts(m, up, steps, own, edge, inlined);
  m.publish(Channel::gather, steps.last());
}

/// The root, which has collected the parts of all ranks in `parts`, shows them to all. They ride in the release
/// lines if the whole message does.
template <Machine M>
void pass_parts_down(M& m, const TreePosition& down, const Chunk& chunk, const std::byte* parts, bool inlined,
                     const Plan& plan) {
  if (inlined) return pass_down(m, down, chunk.steps, parts, chunk.bytes, plan);
  m.set_readers(chunk.steps, m.other_ranks());
  pass_down(m, down, chunk.steps, plan);
}

/// At the others: where the parts of all ranks are.
template <Machine M>
const std::byte* await_parts(M& m, const TreePosition& down, const Chunk& chunk, bool inlined,
                             const Plan& plan) {
  if (inlined) return release(m, down, chunk.steps, chunk.bytes, plan);
  return m.slot(down.root, release(m, down, chunk.steps, plan));
}

}  // namespace espalier::collective
