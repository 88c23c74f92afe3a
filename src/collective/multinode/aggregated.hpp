// Barrier, reduce and allreduce whose network stage runs inside the network, on aggregation nodes (paper
// SHARP, IV): one process of each node contributes what its node has gathered, all of these get the result.
#pragma once

#include <array>
#include <cstring>

#include "collective/multinode/stage/join.hpp"
#include "collective/multinode/stage/stage.hpp"
#include "network/sharp_error.hpp"

namespace espalier::collective::multinode {

/// The network stage of the leaders (each node's rank 0). Other ranks may call payload() only.
template <class A>
concept Aggregation = requires(A a, int lane, std::size_t bytes, const reduce::Operation& operation,
                               std::byte* result, const network::SharpError& error) {
  { a.payload() } -> std::same_as<std::size_t>;
  /// Where the leader puts the node's part of the operation in a lane.
  { a.source(lane) } -> std::same_as<std::byte*>;
  /// The fold of all nodes' parts, to `result`.
  { a.allreduce(lane, bytes, operation, result) } -> std::same_as<Task>;
  { a.barrier() } -> std::same_as<Task>;
  /// Call it before tasks that have not ended are destroyed.
  a.forget();
  /// After a failure; the second argument is how many segments this leader has released. Returns when all
  /// leaders are to do the rest again, from the same sources and without aggregation nodes. Throws the error
  /// of the call where that is not possible, because a leader has released a segment.
  a.recover(error, std::size_t{1});
};

/// As join(), for network stages that may fail; if nothing has been released by then, they are done again.
template <Network N, Aggregation A, class Gather, class Start, class Release>
void join_aggregated(const N& net, A& aggregation, std::size_t count, Gather gather, Start start,
                     Release release) {
  std::array<Task, segments_under_way> stages;
  const std::size_t ahead = std::min(segments_under_way - 1, count);
  const auto settle = [&](std::size_t i, std::size_t begun) {
    try {
      return net.drive_until([&] { return stages[i % segments_under_way].done(); });
    } catch (const network::SharpError& error) {
      aggregation.forget();
      for (Task& stage : stages) stage = Task();
      aggregation.recover(error, i);
    }
    for (std::size_t again = i; again < begun; ++again)
      stages[again % segments_under_way] = start(again, static_cast<int>(again % segments_under_way));
    net.drive_until([&] { return stages[i % segments_under_way].done(); });
  };
  for (std::size_t i = 0; i < count + ahead; ++i) {
    if (i < count) {
      gather(i);
      stages[i % segments_under_way] = start(i, static_cast<int>(i % segments_under_way));
    }
    if (i >= ahead) {
      settle(i - ahead, std::min(i + 1, count));
      release(i - ahead);
    }
  }
}

/// `leaders`: the network of each node's rank 0; only these use it.
template <NodeStage S, Network N, Aggregation A>
void barrier_aggregated(S& node, N leaders, A& aggregation) {
  constexpr int leader = 0;
  node.meet(leader, [&] {
    join_aggregated(
        leaders, aggregation, 1, [](std::size_t) {}, [&](std::size_t, int) { return aggregation.barrier(); },
        [](std::size_t) {});
  });
}

/// The five phases of SHARP IV-C: the node stage's tree has the sockets' leaders where it is composed by
/// package.
template <NodeStage S, Network N, Aggregation A>
void allreduce_aggregated(S& node, N leaders, A& aggregation, const Reduction& r,
                          const plan::NetworkPlan& plan) {
  constexpr int leader = 0;
  const bool leads = node.rank() == leader;
  const Segments segments(r.bytes, std::min(plan.segment, aggregation.payload()), r.operation.extent);
  const auto result = [&](std::size_t i) { return at(r.receive, segments.offset(i)); };
  const auto gather = [&](std::size_t i) {
    std::byte* part = leads ? aggregation.source(static_cast<int>(i % segments_under_way)) : nullptr;
    node.reduce(leader, at(r.send, segments.offset(i)), part, segments.bytes(i), r.operation);
  };
  const auto start = [&](std::size_t i, int lane) -> Task {
    if (!leads) return {};
    return aggregation.allreduce(lane, segments.bytes(i), r.operation, result(i));
  };
  join_aggregated(leaders, aggregation, segments.count(), gather, start,
                  [&](std::size_t i) { node.bcast(leader, result(i), segments.bytes(i)); });
}

/// A root that does not lead its node gets the result from its leader by a message.
template <Network N, Aggregation A>
Task allreduce_for(N to_root, A& aggregation, int lane, std::size_t bytes, const reduce::Operation& operation,
                   std::byte* result) {
  auto reduced = aggregation.allreduce(lane, bytes, operation, result);
  co_await reduced;
  auto message = to_root.send(0, result, bytes);
  co_await message;
}

template <Network N>
Task receive_from(N leader, std::byte* result, std::size_t bytes) {
  auto message = leader.receive(0, result, bytes);
  co_await message;
}

/// Where the root of a reduce is, seen from this rank.
enum class RootIs { elsewhere, me, another_of_node };

/// Algorithm 1 of SHARP: an allreduce whose result only the root keeps. `other`: on the root's node, a
/// network of one peer, the leader for the root and the root for the leader. `ignored`: at leaders other than
/// the root, room for segments_under_way results of payload() bytes.
template <NodeStage S, Network N, Aggregation A>
void reduce_aggregated(S& node, N leaders, N other, RootIs root, A& aggregation, const Reduction& r,
                       std::byte* ignored, const plan::NetworkPlan& plan) {
  constexpr int leader = 0;
  const bool leads = node.rank() == leader;
  const Segments segments(r.bytes, std::min(plan.segment, aggregation.payload()), r.operation.extent);
  const auto result = [&](std::size_t i) -> std::byte* {
    if (root == RootIs::me) return at(r.receive, segments.offset(i));
    return ignored + i % segments_under_way * aggregation.payload();
  };
  const auto gather = [&](std::size_t i) {
    std::byte* part = leads ? aggregation.source(static_cast<int>(i % segments_under_way)) : nullptr;
    node.reduce(leader, at(r.send, segments.offset(i)), part, segments.bytes(i), r.operation);
  };
  const auto start = [&](std::size_t i, int lane) -> Task {
    if (leads && root == RootIs::another_of_node)
      return allreduce_for(other.on(lane), aggregation, lane, segments.bytes(i), r.operation, result(i));
    if (leads) return aggregation.allreduce(lane, segments.bytes(i), r.operation, result(i));
    if (root == RootIs::me) return receive_from(other.on(lane), result(i), segments.bytes(i));
    return {};
  };
  join_aggregated(leaders, aggregation, segments.count(), gather, start, [](std::size_t) {});
}

}  // namespace espalier::collective::multinode
