// Allreduce through windows: around a ring (partial results and whole ones, and the node's own fold in
// between), and by dissemination (what lands beside what leaves, and the halves taken in turns).
#include "collective/multinode/allreduce_notified.hpp"
#include "collective/multinode/allreduce_window.hpp"
#include "tests/simulation/checker/ring_window.hpp"
#include "tests/simulation/checker/scenarios.hpp"

namespace espalier::testing {
namespace {

using namespace collective;

constexpr std::size_t ring_word = 8;
/// In words: slices that are empty, of one block, of several.
const std::vector<std::size_t> ring_lengths = {1, 3, 10, 2};
constexpr std::size_t longest_in_ring = 10;
static_assert(multinode::vector_room(longest_in_ring * ring_word) <= RingWindow::room);

/// The sum of the node's words, as calls through a window take it.
auto fold_of_node(Member& me, const Buffer& data) {
  return [&](std::size_t offset, std::size_t bytes, std::byte* target) {
    auto stage = me.stage();
    stage.reduce_scatter(at(data.bytes(), offset), target, multinode::Slices(bytes, ring_word, stage.size()),
                         sum_of_words());
  };
}

/// In place, which is the harder case: results come where others of the node have not read yet.
Body notified_allreduce(SharedNodes nodes, NetworkPlan plan) {
  return [=](CheckingMachine& m) {
    Member me(m, *nodes);
    const Buffer data(longest_in_ring);
    RingWindow ring(m, *nodes);
    for (int round = 0; round < 5; ++round) {
      const std::size_t count = ring_lengths[static_cast<std::size_t>(round) % ring_lengths.size()];
      data.fill(words(me.rank(), count, round));
      const Reduction reduction{data.bytes(), data.bytes(), count * ring_word, sum_of_words()};
      const auto fold_node = fold_of_node(me, data);
      multinode::AllreduceWindow around(ring.window, ring.use, reduction, ring.node, fold_node, plan.leaders,
                                        plan.segment);
      ring.last = around.run();
      expect(data.values(count), sum(0, Execution::current().ranks() - 1, count, round), "allreduce");
      data.spoil();
    }
    ring.give_back();
  };
}

/// In words: fewer than slices, unequal slices.
const std::vector<std::size_t> disseminated = {1, 3, 2};
constexpr std::size_t longest_disseminated = 3;

/// In place, which is the harder case.
Body notified_dissemination(SharedNodes nodes, int slices) {
  return [=](CheckingMachine& m) {
    Member me(m, *nodes);
    const Buffer data(longest_disseminated);
    RingWindow ring(m, *nodes);
    std::vector<std::byte> memory;
    for (int round = 0; round < 5; ++round) {
      const std::size_t count = disseminated[static_cast<std::size_t>(round) % disseminated.size()];
      data.fill(words(me.rank(), count, round));
      const Reduction reduction{data.bytes(), data.bytes(), count * ring_word, sum_of_words()};
      const auto fold_node = fold_of_node(me, data);
      const auto scratch = [&](std::size_t bytes) { return memory.resize(bytes), memory.data(); };
      multinode::AllreduceNotified call(ring.window, ring.use, reduction, ring.node, fold_node, scratch,
                                        slices);
      ring.last = call.run();
      expect(data.values(count), sum(0, Execution::current().ranks() - 1, count, round), "allreduce");
      data.spoil();
    }
    ring.give_back();
  };
}

}  // namespace

std::vector<Scenario> allreduces_through_windows(int ranks, bool fenced) {
  std::vector<Scenario> all;
  for (const Algorithm meeting : {Algorithm::exchange, Algorithm::central})
    for (const auto& placement : {in_blocks(ranks), in_turns(ranks), apart(ranks)}) {
      const auto nodes = std::make_shared<const Nodes>(placement, "chain", meeting);
      const auto add = [&](const char* what, int leaders, Body body) {
        all.push_back(make_over_nodes(formatted("allreduce, {}, {} leaders{}", what, leaders,
                                                meeting == Algorithm::central ? ", central" : ""),
                                      nodes, fenced, {4, 512}, std::move(body), RingWindow::area()));
      };
      for (const int leaders : {1, 2}) {
        add("notified ring", leaders,
            notified_allreduce(nodes, between(Algorithm::notified_ring, ring_word, leaders)));
        add("notified dissemination", leaders, notified_dissemination(nodes, leaders));
      }
    }
  return all;
}

}  // namespace espalier::testing
