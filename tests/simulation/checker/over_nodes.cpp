// Collectives over nodes: the join of node stages and messages, segments under way, lanes and slots that are
// used again, several leaders.
#include <bit>

#include "collective/multinode/allreduce.hpp"
#include "collective/multinode/barrier.hpp"
#include "collective/multinode/reduce.hpp"
#include "collective/multinode/scan.hpp"
#include "collective/multinode/scan_any_order.hpp"
#include "simulation/checker/machine.hpp"
#include "tests/simulation/checker/member.hpp"
#include "tests/simulation/checker/scenarios.hpp"

namespace espalier::testing {
namespace {

using namespace collective;
using multinode::Segments;
using multinode::segments_under_way;
using simulation::checker::Platform;

/// Elements: one; two segments; more than there are lanes. A segment is of one or two words.
constexpr std::size_t word_bytes = 8;
const std::vector<std::size_t> lengths = {1, 3, 10};
constexpr std::size_t longest = 10;
std::size_t length(int round) { return lengths[static_cast<std::size_t>(round) % lengths.size()]; }

std::size_t lanes_of(const NetworkPlan& plan, std::size_t count) {
  return segments_under_way * (Segments(count * word_bytes, plan.segment, word_bytes).longest() + word_bytes);
}

// Each writes its note, meets the others, and reads theirs, on other nodes, too: messages carry what was
// written before.
Body barriers_over(SharedNodes nodes, Algorithm algorithm) {
  return [=](CheckingMachine& m) {
    Member me(m, *nodes);
    Execution& run = Execution::current();
    const auto barrier = [&] {
      multinode::barrier(me.stage(), me.counterparts(0), me.position(), algorithm);
    };
    for (int round = 0; round < 3; ++round) {
      const std::uint64_t mine = word(me.rank(), 0, round);
      Platform::copy(run.note(me.rank()), &mine, sizeof mine);
      barrier();
      for (int peer = 0; peer < run.ranks(); ++peer) {
        std::uint64_t theirs = 0;
        Platform::copy(&theirs, run.note(peer), sizeof theirs);
        run.expect(theirs == word(peer, 0, round), "a barrier let a rank go too early");
      }
      barrier();
    }
  };
}

Body bcasts_over(SharedNodes nodes, NetworkPlan plan) {
  return [=](CheckingMachine& m) {
    Member me(m, *nodes);
    const Buffer data(longest);
    for (int round = 0; round < 4; ++round) {
      const int root = round % Execution::current().ranks();
      const std::size_t count = length(round + 1);
      data.fill(words(me.rank(), count, round));
      multinode::bcast(me.stage(), me.rooted(root), data.bytes(), count * word_bytes, plan);
      expect(data.values(count), words(root, count, round), "bcast");
      data.spoil();
    }
  };
}

Body reduces_over(SharedNodes nodes, NetworkPlan plan) {
  return [=](CheckingMachine& m) {
    Member me(m, *nodes);
    const int ranks = Execution::current().ranks();
    const auto children = static_cast<std::size_t>(nodes->placement().nodes());
    const Buffer send(longest), receive(longest), partial(lanes_of(plan, longest) / 8),
        scratch(children * lanes_of(plan, longest) / 8);
    for (int round = 0; round < 4; ++round) {
      const int root = round % ranks;
      const std::size_t count = length(round + 1);
      send.fill(words(me.rank(), count, round));
      receive.spoil();
      multinode::reduce(me.stage(), me.rooted(root),
                        {send.bytes(), receive.bytes(), count * word_bytes, sum_of_words()},
                        {partial.bytes(), scratch.bytes()}, plan);
      if (me.rank() == root) expect(receive.values(count), sum(0, ranks - 1, count, round), "reduce");
      for (const Buffer* each : {&send, &partial, &scratch}) each->spoil();
    }
  };
}

/// As numbers that only some sums of which are taken in any order: these are exact.
Words as_reals(Words values) {
  for (std::uint64_t& value : values) value = std::bit_cast<std::uint64_t>(static_cast<double>(value));
  return values;
}

Body allreduces_over(SharedNodes nodes, NetworkPlan plan, bool reals = false) {
  const reduce::Operation& operation =
      reals ? *reduce::find(reduce::Op::sum, reduce::Type::float64) : sum_of_words();
  return [=, &operation](CheckingMachine& m) {
    Member me(m, *nodes);
    const auto vectors = multinode::scratch_vectors(plan.algorithm, me.node(), nodes->placement().nodes(),
                                                    me.position(), operation);
    const auto typed = [=](Words values) { return reals ? as_reals(std::move(values)) : values; };
    const Buffer data(longest), scratch(vectors * lanes_of(plan, longest) / 8);
    for (int round = 0; round < 4; ++round) {
      const std::size_t count = length(round + 1);
      data.fill(typed(words(me.rank(), count, round)));
      const Reduction reduction{data.bytes(), data.bytes(), count * word_bytes, operation};
      if (plan.leaders == 1)
        multinode::allreduce(me.stage(), me.counterparts(0), me.position(), reduction, scratch.bytes(), plan);
      else
        multinode::allreduce_split(me.stage(), me.counterparts(std::min(me.local(), plan.leaders - 1)),
                                   plan.leaders, me.position(), reduction, scratch.bytes(), plan);
      expect(data.values(count), typed(sum(0, Execution::current().ranks() - 1, count, round)), "allreduce");
      data.spoil();
      scratch.spoil();
    }
  };
}

/// Runs scan(reduction, prefix) for both kinds, in place.
template <class Scan>
void check_scans(Member& me, const Buffer& data, Scan scan) {
  for (int round = 0; round < 4; ++round) {
    const Prefix prefix = round % 2 ? Prefix::exclusive : Prefix::inclusive;
    const std::size_t count = length(round / 2 + 1);
    const Words own = words(me.rank(), count, round);
    const Words wanted = prefix == Prefix::inclusive ? sum(0, me.rank(), count, round)
                         : me.rank() == 0            ? own
                                                     : sum(0, me.rank() - 1, count, round);
    data.fill(own);
    scan(Reduction{data.bytes(), data.bytes(), count * word_bytes, sum_of_words()}, prefix);
    expect(data.values(count), wanted, "scan");
    data.spoil();
  }
}

Body scans_of_totals(SharedNodes nodes, NetworkPlan plan) {
  return [=](CheckingMachine& m) {
    Member me(m, *nodes);
    const auto vectors = multinode::scan_scratch_vectors(plan.algorithm, nodes->placement().nodes());
    const Buffer data(longest), total(lanes_of(plan, longest) / 8), prefixes(lanes_of(plan, longest) / 8),
        scratch(vectors * lanes_of(plan, longest) / 8);
    const multinode::ScanRoom room = {total.bytes(), prefixes.bytes(), scratch.bytes()};
    check_scans(me, data, [&](const Reduction& reduction, Prefix prefix) {
      multinode::scan(me.stage(), me.last_ranks(), me.node() == 0, reduction, prefix, room, plan);
      for (const Buffer* each : {&total, &prefixes, &scratch}) each->spoil();
    });
  };
}

Body scans_of_vectors(SharedNodes nodes, NetworkPlan plan) {
  return [=](CheckingMachine& m) {
    Member me(m, *nodes);
    const std::size_t segment = Segments(longest * word_bytes, plan.segment, word_bytes).longest();
    const auto sizes = multinode::any_order_room(nodes->placement(), segment, word_bytes, plan.algorithm);
    const Buffer data(longest), room(segments_under_way * (sizes.vectors + sizes.scratch) / 8 + 1);
    check_scans(me, data, [&](const Reduction& reduction, Prefix prefix) {
      multinode::scan_any_order(me.stage(), me.counterparts(0), me.rank(), nodes->placement(), reduction,
                                prefix, room.bytes(), plan);
      room.spoil();
    });
  };
}

constexpr Algorithm reductions_between[] = {
    Algorithm::recursive_doubling, Algorithm::rabenseifner, Algorithm::ring, Algorithm::tree,
    Algorithm::gather_all,         Algorithm::dissemination};
/// Within a node, where its ranks split a vector.
constexpr Ring cells{4, 512};

}  // namespace

std::vector<Scenario> over_nodes(int ranks, bool fenced) {
  std::vector<Scenario> all;
  const auto blocks = std::make_shared<const Nodes>(in_blocks(ranks), "chain");
  const auto turns = std::make_shared<const Nodes>(in_turns(ranks), "flat");
  const auto scattered = std::make_shared<const Nodes>(apart(ranks), "kary:2");
  const auto add = [&](Algorithm algorithm, const char* name, const SharedNodes& nodes, const Ring& ring,
                       Body body) {
    all.push_back(make_over_nodes(formatted("{}, {}", name, plan::to_string(algorithm)), nodes, fenced, ring,
                                  std::move(body)));
  };
  for (const Algorithm each : {Algorithm::dissemination, Algorithm::tree})
    for (const auto& nodes : {blocks, scattered})
      add(each, "barrier", nodes, one, barriers_over(nodes, each));
  for (const auto& nodes : {blocks, turns, scattered}) {
    for (const Algorithm each : {Algorithm::tree, Algorithm::scatter_allgather})
      add(each, "bcast", nodes, two, bcasts_over(nodes, between(each, word_bytes)));
    for (const Algorithm each : {Algorithm::tree, Algorithm::rabenseifner})
      add(each, "reduce", nodes, two, reduces_over(nodes, between(each, word_bytes)));
  }
  for (const Algorithm each : reductions_between) {
    for (const auto& nodes : {blocks, scattered})
      add(each, "allreduce", nodes, one, allreduces_over(nodes, between(each, word_bytes)));
    if (blocks->most_leaders() > 1)
      add(each, "allreduce, two leaders", blocks, cells, allreduces_over(blocks, between(each, 16, 2)));
  }
  for (const auto& nodes : {blocks, scattered})
    add(Algorithm::dissemination, "allreduce in rank order", nodes, one,
        allreduces_over(nodes, between(Algorithm::dissemination, word_bytes), true));
  for (const Algorithm each : {Algorithm::recursive_doubling, Algorithm::chain, Algorithm::gather_all})
    for (const auto& nodes : {blocks, scattered})
      add(each, "scan", nodes, two, scans_of_totals(nodes, between(each, word_bytes)));
  for (const Algorithm each : {Algorithm::gather_all, Algorithm::transpose})
    add(each, "scan in any order", turns, two, scans_of_vectors(turns, between(each, 16)));
  return all;
}

}  // namespace espalier::testing
