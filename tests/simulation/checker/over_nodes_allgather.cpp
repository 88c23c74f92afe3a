// Allgatherv over nodes: put together in memory that the ranks of a node share, which messages write to.
#include "collective/multinode/allgather_shared.hpp"
#include "collective/multinode/allgather_window.hpp"
#include "simulation/checker/machine.hpp"
#include "tests/simulation/checker/member.hpp"
#include "tests/simulation/checker/ring_window.hpp"
#include "tests/simulation/checker/scenarios.hpp"

namespace espalier::testing {
namespace {

using namespace collective;

constexpr std::size_t area_bytes = 2048;

/// The lengths of all blocks in a round: nothing, a word, several.
struct Lengths {
  std::vector<std::size_t> bytes, offsets;

  Lengths(int ranks, int round) {
    static constexpr std::size_t words[] = {0, 1, 5, 2};
    std::size_t end = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      bytes.push_back(8 * words[static_cast<std::size_t>(rank + round) % std::size(words)]);
      offsets.push_back(end);
      end += bytes.back();
    }
  }
  std::size_t count(int rank) const { return bytes[static_cast<std::size_t>(rank)] / 8; }
  std::size_t total() const { return offsets.back() + bytes.back(); }
};

void check_allgatherv(Member& me, int round, const Buffer& own, const Buffer& receive,
                      const std::function<void(const multinode::Allgather<Blocks>&)>& allgather) {
  const int ranks = Execution::current().ranks();
  const Lengths all(ranks, round);
  const Blocks blocks{all.bytes, all.offsets};
  const multinode::NodeOrder order = multinode::in_node_order(me.nodes().placement(), blocks);
  own.fill(words(me.rank(), all.count(me.rank()), round));
  receive.spoil();
  allgather({me.rank(), own.words(), receive.words(), blocks, me.nodes().placement(), order});
  Words wanted;
  for (int rank = 0; rank < ranks; ++rank) {
    const Words theirs = words(rank, all.count(rank), round);
    wanted.insert(wanted.end(), theirs.begin(), theirs.end());
  }
  expect(receive.values(all.total() / 8), wanted, "allgatherv");
  own.spoil();
}

Body shared(SharedNodes nodes, NetworkPlan plan) {
  return [=](CheckingMachine& m) {
    Member me(m, *nodes);
    const Buffer own(8), receive(64);
    multinode::SharedArea area{Execution::current().area(), area_bytes, 0};
    for (int round = 0; round < 4; ++round)
      check_allgatherv(me, round, own, receive, [&](const multinode::Allgather<Blocks>& call) {
        const int carriers = multinode::goes_around(plan, call.order) ? plan.leaders : 1;
        multinode::allgather_shared(m, area, me.counterparts(std::min(me.local(), carriers - 1)), carriers,
                                    call, nodes->plan(Collective::allgatherv), plan);
      });
  };
}

Body by_leaders(SharedNodes nodes, NetworkPlan plan) {
  return [=](CheckingMachine& m) {
    Member me(m, *nodes);
    const Buffer own(8), receive(64), whole(64);
    for (int round = 0; round < 4; ++round)
      check_allgatherv(me, round, own, receive, [&](const multinode::Allgather<Blocks>& call) {
        multinode::allgather_by_leaders(me.stage(), me.counterparts(0), call, whole.bytes(), plan);
        whole.spoil();
      });
  };
}

Body notified(SharedNodes nodes, NetworkPlan plan) {
  return [=](CheckingMachine& m) {
    Member me(m, *nodes);
    const Buffer own(8), receive(64);
    RingWindow ring(m, *nodes);
    for (int round = 0; round < 5; ++round)
      check_allgatherv(me, round, own, receive, [&](const multinode::Allgather<Blocks>& call) {
        multinode::AllgatherWindow around(ring.window, ring.use, call, ring.node, plan.leaders, plan.segment);
        ring.last = around.run();
      });
    ring.give_back();
  };
}

}  // namespace

std::vector<Scenario> allgathers_over_nodes(int ranks, bool fenced) {
  std::vector<Scenario> all;
  for (const Algorithm meeting : {Algorithm::exchange, Algorithm::central})
    for (const auto& placement : {in_blocks(ranks), in_turns(ranks), apart(ranks)}) {
      const auto nodes = std::make_shared<const Nodes>(placement, "chain", meeting);
      const auto add = [&](const std::string& name, Body body) {
        all.push_back(
            make_over_nodes(formatted("{}{}", name, meeting == Algorithm::central ? ", central" : ""), nodes,
                            fenced, {4, 512}, std::move(body), area_bytes));
      };
      for (const Algorithm each : {Algorithm::dissemination, Algorithm::ring}) {
        const auto name = plan::to_string(each);
        add(formatted("allgatherv, {}", name), shared(nodes, between(each, 16)));
        if (nodes->most_leaders() > 1 && each == Algorithm::ring)
          add("allgatherv, ring, two carriers", shared(nodes, between(each, 8, 2)));
        if (each == Algorithm::ring)
          for (const int carriers : {1, 2})
            add(formatted("allgatherv, notified ring, {} carriers", carriers),
                notified(nodes, between(each, 8, carriers)));
        if (meeting == Algorithm::exchange)
          add(formatted("allgatherv by leaders, {}", name), by_leaders(nodes, between(each, 16)));
      }
    }
  return all;
}

}  // namespace espalier::testing
