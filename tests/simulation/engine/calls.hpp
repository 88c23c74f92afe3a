// Calls of which the result is known, and their names.
#pragma once

#include <gtest/gtest.h>

#include "base/format.hpp"
#include "simulation/engine/live.hpp"

namespace espalier::testing {

using simulation::Call;

using Words = std::vector<std::uint64_t>;

inline Call call_of(Collective collective, plan::Algorithm algorithm, std::size_t bytes,
                    const char* tree = "kary:2") {
  Call call;
  call.collective = collective;
  call.bytes = bytes;
  call.node.algorithm = algorithm;
  call.node.chunk = 8192;
  call.node.gather_tree = call.node.release_tree = tree::parse_spec(tree);
  call.network.tree = tree::parse_spec("knomial:2");
  call.network.segment = 1 << 20;
  return call;
}

inline std::string name_of(const Call& call, const simulation::Shape& shape) {
  constexpr const char* stages[] = {"shared", "messages", "none"};
  return formatted("{} {} {} ({}) of {} bytes from {} on {} x {}", to_string(call.collective),
                   plan::to_string(call.node.algorithm), plan::to_string(call.network.algorithm),
                   stages[static_cast<int>(call.stage)], call.bytes, call.root, shape.nodes,
                   shape.ranks_per_node);
}

inline std::uint64_t word(int rank, std::size_t index) {
  return static_cast<std::uint64_t>(rank + 1) * 1000003 + index;
}

/// The vector of a rank, and the sum of some ranks'.
inline Words vector_of(int rank, std::size_t count) {
  Words all(count);
  for (std::size_t i = 0; i < count; ++i) all[i] = word(rank, i);
  return all;
}
inline Words sum_of(int first, int last, std::size_t count) {
  Words all(count, 0);
  for (int rank = first; rank <= last; ++rank)
    for (std::size_t i = 0; i < count; ++i) all[i] += word(rank, i);
  return all;
}

/// What must be in a rank's receive buffer afterwards; empty: whatever.
inline Words wanted(const Call& call, int ranks, int rank) {
  const std::size_t count = call.bytes / 8;
  Words all;
  switch (call.collective) {
    case Collective::bcast:
      return vector_of(call.root, count);
    case Collective::reduce:
      return rank == call.root ? sum_of(0, ranks - 1, count) : all;
    case Collective::allreduce:
      return sum_of(0, ranks - 1, count);
    case Collective::scan:
      return sum_of(0, rank, count);
    case Collective::exscan:
      return rank > 0 ? sum_of(0, rank - 1, count) : all;
    case Collective::gather:
    case Collective::gatherv:
      if (rank != call.root) return all;
      [[fallthrough]];
    case Collective::allgather:
    case Collective::allgatherv:
      for (int peer = 0; peer < ranks; ++peer) {
        const Words theirs = vector_of(peer, count);
        all.insert(all.end(), theirs.begin(), theirs.end());
      }
      return all;
    case Collective::scatter:
    case Collective::scatterv: {
      const Words root = vector_of(call.root, count * static_cast<std::size_t>(ranks));
      const auto begin = root.begin() + static_cast<std::ptrdiff_t>(count) * rank;
      return Words(begin, begin + static_cast<std::ptrdiff_t>(count));
    }
    case Collective::alltoall:
    case Collective::alltoallv:
      for (int peer = 0; peer < ranks; ++peer) {
        const Words theirs = vector_of(peer, count * static_cast<std::size_t>(ranks));
        const auto begin = theirs.begin() + static_cast<std::ptrdiff_t>(count) * rank;
        all.insert(all.end(), begin, begin + static_cast<std::ptrdiff_t>(count));
      }
      return all;
    case Collective::reduce_scatter:
    case Collective::reduce_scatter_block: {
      const auto edges = simulation::block_edges(call.bytes, ranks);
      const auto at = [&](int i) {
        return static_cast<std::ptrdiff_t>(edges[static_cast<std::size_t>(i)] / 8);
      };
      const Words sum = sum_of(0, ranks - 1, count);
      return Words(sum.begin() + at(rank), sum.begin() + at(rank + 1));
    }
    default:
      return all;
  }
}

/// Runs a call with data, twice in a row, and checks what every rank gets. The times are those of the
/// second's end.
inline simulation::Times run_checked(const simulation::Model& model, const Call& call,
                                     const simulation::Shape& shape, std::uint64_t seed = 1, int calls = 2) {
  const auto places = simulation::places_for(call, shape, model.node);
  const simulation::BufferSizes sizes = simulation::buffer_sizes(call, shape);
  return simulation::run_live(
      model, shape, simulation::layout_for(call, shape), seed,
      [&](simulation::SimulatedMachine& m, int rank) {
        for (int i = 0; i < calls; ++i) {
          Words send = vector_of(rank, sizes.send / 8 + 1), receive(sizes.receive / 8 + 1),
                scratch(sizes.scratch / 8 + 1);
          if (call.collective == Collective::bcast && rank == call.root) receive = send;
          const auto bytes = [](Words& words) { return reinterpret_cast<std::byte*>(words.data()); };
          simulation::run_call(m, call, shape, *places, {bytes(send), bytes(receive), bytes(scratch)});
          const Words right = wanted(call, shape.ranks(), rank);
          receive.resize(right.size());
          EXPECT_EQ(receive, right) << name_of(call, shape) << ", rank " << rank;
        }
      });
}

}  // namespace espalier::testing
