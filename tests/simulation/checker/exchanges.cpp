#include "base/format.hpp"
#include "collective/dispatch.hpp"
#include "collective/node/all_to_all/alltoallv.hpp"
#include "collective/node/rooted/gather.hpp"
#include "tests/collective/pieces/scattered.hpp"
#include "tests/simulation/checker/blocks.hpp"
#include "tests/simulation/checker/scenarios.hpp"

namespace espalier::testing {
namespace {

using namespace collective;

/// allgather by any plan. `places`: for the plans that go along trees.
using Places = std::shared_ptr<const Trees>;
void gather_all(CheckingMachine& m, const Places& places, const Bytes& own, Bytes& got, const auto& blocks,
                const Plan& plan) {
  const auto trees_of = [&](const Plan&, int) { return places->pair_of(m.rank()); };
  by_plan::allgather(m, trees_of, own.data(), got.data(), blocks, plan);
}

Body allgathers(const Plan& plan, Places places = nullptr) {
  return [=](CheckingMachine& m) {
    for (const std::size_t bytes : {std::size_t{5}, std::size_t{64}, std::size_t{200}}) {
      const int round = static_cast<int>(bytes);
      const EqualBlocks blocks{bytes};
      Bytes wanted, got(bytes * static_cast<std::size_t>(m.size()), untouched);
      for (int r = 0; r < m.size(); ++r) append(wanted, block_of(r, 0, bytes, round));
      const Bytes own = block_of(m.rank(), 0, bytes, round);
      gather_all(m, places, own, got, blocks, plan);
      expect(got, wanted, "allgather");
      use_again(own, got);
    }
  };
}

Body allgathervs(const Plan& plan, Places places = nullptr) {
  return [=](CheckingMachine& m) {
    for (int round = 0; round < 5; ++round) {
      const Spread spread(m.size(), round, [&](int rank) { return few_bytes(rank, round); });
      Bytes wanted(spread.end, untouched), got = wanted;
      for (int r = 0; r < m.size(); ++r) spread.put(wanted, r, block_of(r, 0, few_bytes(r, round), round));
      const Bytes own = block_of(m.rank(), 0, few_bytes(m.rank(), round), round);
      if (largest_of(spread.blocks(), m.size()) == 0) continue;
      gather_all(m, places, own, got, spread.blocks(), plan);
      expect(got, wanted, "allgatherv");
      use_again(own, got);
    }
  };
}

Body alltoalls(const Plan& plan) {
  return [=](CheckingMachine& m) {
    for (const std::size_t bytes : {std::size_t{3}, std::size_t{40}, std::size_t{500}}) {
      Bytes send, wanted;
      for (int r = 0; r < m.size(); ++r) {
        append(send, block_of(m.rank(), r, bytes, 1));
        append(wanted, block_of(r, m.rank(), bytes, 1));
      }
      Bytes got(send.size(), untouched);
      by_plan::alltoall(m, send.data(), got.data(), bytes, plan);
      expect(got, wanted, "alltoall");
      use_again(send, got);
    }
  };
}

Body alltoallvs(const Plan& plan, std::size_t (*bytes_of)(int, int)) {
  return [=](CheckingMachine& m) {
    const int n = m.size();
    for (int round = 0; round < 4; ++round) {
      const Spread out(n, round, [&](int to) { return bytes_of(m.rank() * n + to, round); });
      const Spread in(n, round, [&](int from) { return bytes_of(from * n + m.rank(), round); });
      Bytes send(out.end, untouched), wanted(in.end, untouched), got = wanted;
      for (int r = 0; r < n; ++r) {
        out.put(send, r, block_of(m.rank(), r, out.bytes[static_cast<std::size_t>(r)], round));
        in.put(wanted, r, block_of(r, m.rank(), in.bytes[static_cast<std::size_t>(r)], round));
      }
      alltoallv(m, send.data(), out.blocks(), got.data(), in.blocks(), plan);
      expect(got, wanted, "alltoallv");
      use_again(send, got);
    }
  };
}

/// The same of blocks in pieces.
Body piece_exchanges(const Plan& plan, std::size_t (*bytes_of)(int, int)) {
  return [=](CheckingMachine& m) {
    for (int round = 0; round < 3; ++round) {
      Bytes got, wanted;
      exchange_scattered(
          m, round, [&](int from, int to) { return bytes_of(from * m.size() + to, round); },
          [&](const Scattered& out, const Scattered& in) {
            alltoallv(m, out.blocks(), in.blocks(), plan);
            use_again(out.memory, in.memory);
          },
          got, wanted);
      expect(got, wanted, "alltoallv of pieces");
    }
  };
}

/// A rank with nothing for another rank says so in a line that the root of a gather may still be reading.
Body nothing_after_a_gather(const Plan& plan) {
  return [=](CheckingMachine& m) {
    const std::vector<std::size_t> none(static_cast<std::size_t>(m.size()), 0);
    for (int round = 0; round < 4; ++round) {
      const Bytes own = block_of(m.rank(), 0, 24, round);
      Bytes got(own.size() * static_cast<std::size_t>(m.size()), untouched), wanted;
      for (int r = 0; r < m.size(); ++r) append(wanted, block_of(r, 0, 24, round));
      gather(m, 0, own.data(), got.data(), own.size(), plan);
      if (m.rank() == 0) expect(got, wanted, "gather");
      alltoallv(m, own.data(), {none, none}, got.data(), {none, none}, plan);
    }
  };
}

/// One rank has nothing, so it hears the others but tells them nothing of how far it is.
Body listeners(const Plan& plan) {
  return [=](CheckingMachine& m) {
    for (int round = 0; round < 7; ++round) {
      const Spread spread(m.size(), round, [](int rank) { return rank ? std::size_t{120} : 0; });  // in slots
      Bytes wanted(spread.end, untouched), got = wanted;
      for (int r = 1; r < m.size(); ++r) spread.put(wanted, r, block_of(r, 0, 120, round));
      const Bytes own = block_of(m.rank(), 0, 120, round);
      allgather(m, own.data(), got.data(), spread.blocks(), plan);
      expect(got, wanted, "allgatherv");
      use_again(own, got);
    }
  };
}

/// Calls of one round and of several, in which each cell is written from both sides in turn.
Body alltoalls_by_turns(const Plan& plan) {
  return [=](CheckingMachine& m) {
    for (int round = 0; round < 5; ++round) {
      const std::size_t bytes = round == 2 ? 300 : 64 + static_cast<std::size_t>(round);
      Bytes send, wanted;
      for (int r = 0; r < m.size(); ++r) {
        append(send, block_of(m.rank(), r, bytes, round));
        append(wanted, block_of(r, m.rank(), bytes, round));
      }
      Bytes got(send.size(), untouched);
      alltoall(m, send.data(), got.data(), bytes, plan);
      expect(got, wanted, "alltoall");
      use_again(send, got);
    }
  };
}

std::vector<Scenario> along_trees(int ranks, bool fenced) {
  std::vector<Scenario> all;
  for (const char* shape : {"chain", "kary:2"})
    for (const Ring& ring : {one, narrow, Ring{4, 1024}}) {  // in the last all lie in one chunk
      const auto add = [&](const char* name, Body body) {
        all.push_back(make(formatted("{} tree {}, {} slots of {}", name, shape, ring.slots, ring.slot_bytes),
                           ranks, fenced, ring, std::move(body)));
      };
      Plan plan = plan_for(Algorithm::tree, ring.slot_bytes);
      plan.read_from_parent = ring.slots != 1;
      add("allgather", allgathers(plan, trees(ranks, shape)));
      add("allgatherv", allgathervs(plan, trees(ranks, shape)));
    }
  return all;
}

std::vector<Scenario> in_groups(int ranks, bool fenced) {
  std::vector<Scenario> all;
  for (const Ring& ring : {one, two, narrow, Ring{4, 1024}}) {
    const auto add = [&](const char* name, Body body) {
      all.push_back(make(formatted("{} grouped, {} slots of {}", name, ring.slots, ring.slot_bytes), ranks,
                         fenced, ring, std::move(body)));
    };
    const Plan plan = plan_for(Algorithm::grouped, ring.slot_bytes);
    add("allgather", allgathers(plan));
    add("allgatherv", allgathervs(plan));
    add("alltoall", alltoalls(plan));
  }
  return all;
}

}  // namespace

std::vector<Scenario> exchanges(int ranks, bool fenced) {
  std::vector<Scenario> all = along_trees(ranks, fenced);
  for (Scenario& scenario : in_groups(ranks, fenced)) all.push_back(std::move(scenario));
  for (const Algorithm algorithm : {Algorithm::exchange, Algorithm::central}) {
    const auto add = [&](const char* name, const Ring& ring, Body body) {
      all.push_back(
          make(formatted("{} {}", name, plan::to_string(algorithm)), ranks, fenced, ring, std::move(body)));
    };
    add("allgather", one, allgathers(plan_for(algorithm)));
    add("allgather, 4 slots,", narrow, allgathers(plan_for(algorithm)));
    add("allgatherv", one, allgathervs(plan_for(algorithm)));
    add("allgatherv, 4 slots,", narrow, allgathervs(plan_for(algorithm)));
    add("allgatherv, one listens,", {8, 128}, listeners(plan_for(algorithm, 1024)));
    add("alltoall", {ranks == 3 ? 4 : 1, 1024}, alltoalls(plan_for(algorithm, 1024)));
    add("alltoallv", {ranks == 3 ? 4 : 1, 1024}, alltoallvs(plan_for(algorithm), few_bytes));
    add("alltoallv of pieces", {ranks == 3 ? 4 : 1, 1024}, piece_exchanges(plan_for(algorithm), few_bytes));
    add("alltoallv of pieces, long,", wide, piece_exchanges(plan_for(algorithm), many_bytes));
    add("alltoallv of nothing", {1, 1024}, nothing_after_a_gather(plan_for(algorithm)));
    add("alltoallv, long,", wide, alltoallvs(plan_for(algorithm), many_bytes));
  }
  const Plan central = plan_for(Algorithm::central, 256);
  all.push_back(pairwise(make("alltoall central", ranks, fenced, {4, 128}, alltoalls_by_turns(central))));
  all.push_back(
      pairwise(make("alltoallv central, long", ranks, fenced, {4, 16384}, alltoallvs(central, many_bytes))));
  const auto add = [&](const char* name, const Ring& ring, Body body) {
    all.push_back(make(formatted("{}, blocks exposed", name), ranks, fenced, ring, std::move(body)));
  };
  // Some blocks are short and go through the slots.
  const Plan lending = plan_for(Algorithm::single_copy);
  add("allgather", one, allgathers(lending));
  add("allgatherv", one, allgathervs(lending));
  add("alltoall", {ranks == 3 ? 4 : 1, 1024}, alltoalls(lending));
  add("alltoallv", wide, alltoallvs(lending, many_bytes));
  add("alltoallv of pieces", wide, piece_exchanges(lending, many_bytes));
  const auto refuse = [&](const char* name, const Ring& ring, Body body) {
    all.push_back(
        refusing(make(formatted("{}, blocks exposed", name), ranks, fenced, ring, std::move(body))));
  };
  refuse("allgather", one, allgathers(lending));
  refuse("alltoall", {ranks == 3 ? 4 : 1, 1024}, alltoalls(lending));
  refuse("alltoallv", wide, alltoallvs(lending, many_bytes));
  refuse("alltoallv of pieces", wide, piece_exchanges(lending, many_bytes));
  return all;
}

}  // namespace espalier::testing
