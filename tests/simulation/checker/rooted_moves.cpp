#include "collective/node/barrier.hpp"
#include "collective/node/rooted/gather.hpp"
#include "collective/node/rooted/gatherv.hpp"
#include "collective/node/rooted/scatter.hpp"
#include "collective/node/rooted/scatterv.hpp"
#include "tests/simulation/checker/blocks.hpp"
#include "tests/simulation/checker/scenarios.hpp"

namespace espalier::testing {
namespace {

using namespace collective;

Body gathers() {
  return [](CheckingMachine& m) {
    for (int round = 0; round < 5; ++round) {
      const std::size_t bytes = std::vector<std::size_t>{5, 150, 64}[static_cast<std::size_t>(round) % 3];
      const int root = round % m.size();
      const Bytes own = block_of(m.rank(), root, bytes, round);
      Bytes wanted, got(bytes * static_cast<std::size_t>(m.size()), untouched);
      for (int r = 0; r < m.size(); ++r) append(wanted, block_of(r, root, bytes, round));
      gather(m, root, own.data(), got.data(), bytes, plan_for(Algorithm::direct));
      if (m.rank() == root) expect(got, wanted, "gather");
    }
  };
}

// Buffers are filled with junk as soon as they are the program's again.
Body gathervs(std::size_t (*bytes_of)(int, int), Algorithm algorithm = Algorithm::direct) {
  return [=](CheckingMachine& m) {
    const Plan plan = plan_for(algorithm);
    for (int round = 0; round < 4; ++round) {
      const int root = round % m.size();
      Bytes own = block_of(m.rank(), root, bytes_of(m.rank(), round), round);
      if (m.rank() != root) {
        send_gatherv(m, root, own.data(), own.size(), plan);
        use_again(own);
        std::fill(own.begin(), own.end(), untouched);
        continue;
      }
      const Spread spread(m.size(), round, [&](int rank) { return bytes_of(rank, round); });
      Bytes wanted(spread.end, untouched), got = wanted;
      for (int r = 0; r < m.size(); ++r) spread.put(wanted, r, block_of(r, root, bytes_of(r, round), round));
      receive_gatherv(m, own.data(), got.data(), spread.blocks(), plan);
      expect(got, wanted, "gatherv");
    }
  };
}

// A short block, which waits in the line for the root, then a long one, whose address comes into the same
// line.
Body lent_after_short() {
  return [](CheckingMachine& m) {
    const Plan plan = plan_for(Algorithm::single_copy);
    for (const std::size_t bytes : {40, 150, 40, 150}) {
      const Spread spread(m.size(), 0, [&](int) { return bytes; });
      Bytes own = block_of(m.rank(), 0, bytes, 0), all(spread.end, untouched), wanted = all;
      for (int r = 0; r < m.size(); ++r) spread.put(wanted, r, block_of(r, 0, bytes, 0));
      if (m.rank() == 0) {
        receive_gatherv(m, own.data(), all.data(), spread.blocks(), plan);
        expect(all, wanted, "gatherv");
      } else {
        send_gatherv(m, 0, own.data(), bytes, plan);
        use_again(own);
        std::fill(own.begin(), own.end(), untouched);
      }
    }
    for (const std::size_t bytes : {40, 150, 40, 150}) {
      const Spread spread(m.size(), 0, [&](int) { return bytes; });
      Bytes got(bytes, untouched), all(spread.end, untouched);
      for (int r = 0; r < m.size(); ++r) spread.put(all, r, block_of(0, r, bytes, 0));
      if (m.rank() == 0) {
        send_scatterv(m, all.data(), got.data(), spread.blocks(), plan);
        use_again(all);
        std::fill(all.begin(), all.end(), untouched);
      } else {
        receive_scatterv(m, 0, got.data(), bytes, plan);
      }
      expect(got, block_of(0, m.rank(), bytes, 0), "scatterv");
    }
  };
}

void gather_blocks(CheckingMachine& m, std::size_t bytes, const Plan& plan) {
  const Spread spread(m.size(), 0, [&](int) { return bytes; });
  const Bytes own = block_of(m.rank(), 0, bytes, 0);
  if (m.rank() != 0) return send_gatherv(m, 0, own.data(), bytes, plan);
  Bytes got(spread.end, untouched), wanted = got;
  for (int r = 0; r < m.size(); ++r) spread.put(wanted, r, block_of(r, 0, bytes, 0));
  receive_gatherv(m, own.data(), got.data(), spread.blocks(), plan);
  expect(got, wanted, "gatherv");
}
void scatter_blocks(CheckingMachine& m, std::size_t bytes, const Plan& plan) {
  const Spread spread(m.size(), 0, [&](int) { return bytes; });
  Bytes got(bytes, untouched), all(spread.end, untouched);
  for (int r = 0; r < m.size(); ++r) spread.put(all, r, block_of(0, r, bytes, 0));
  if (m.rank() == 0)
    send_scatterv(m, all.data(), got.data(), spread.blocks(), plan);
  else
    receive_scatterv(m, 0, got.data(), bytes, plan);
  expect(got, block_of(0, m.rank(), bytes, 0), "scatterv");
}

// A barrier has a flag, too, in which no block's length is: the slow reader of a block must not find it instead.
Body barriers_after_blocks(std::function<void(CheckingMachine&)> barrier) {
  return [=](CheckingMachine& m) {
    const Plan plan = plan_for(Algorithm::direct);
    for (const std::size_t bytes : {40, 150}) {
      gather_blocks(m, bytes, plan);
      barrier(m);
      scatter_blocks(m, bytes, plan);
      barrier(m);
    }
  };
}

// One after the other in one and the same line.
Body short_scattervs() {
  return [](CheckingMachine& m) {
    const Plan plan = plan_for(Algorithm::direct);
    for (const std::size_t bytes : {40, 30, 40}) scatter_blocks(m, bytes, plan);
  };
}

Body scatters() {
  return [](CheckingMachine& m) {
    for (int round = 0; round < 5; ++round) {
      const std::size_t bytes = std::vector<std::size_t>{5, 100, 30}[static_cast<std::size_t>(round) % 3];
      const int root = round % m.size();
      Bytes send, got(bytes, untouched);
      for (int r = 0; r < m.size(); ++r) append(send, block_of(root, r, bytes, round));
      scatter(m, root, m.rank() == root ? send.data() : nullptr, got.data(), bytes,
              plan_for(Algorithm::direct));
      expect(got, block_of(root, m.rank(), bytes, round), "scatter");
    }
  };
}

// The last rank expects a block that the root does not have. It looks where blocks lie all the same.
Body scattervs_without_the_last() {
  return [](CheckingMachine& m) {
    const Plan plan = plan_for(Algorithm::single_copy);
    constexpr std::size_t bytes = 150;
    const int last = m.size() - 1;
    for (int round = 0; round < 3; ++round) {
      const Spread spread(m.size(), 0, [&](int rank) { return rank == last ? 0 : bytes; });
      Bytes got(bytes, untouched), all(spread.end, untouched);
      for (int r = 0; r < last; ++r) spread.put(all, r, block_of(0, r, bytes, round));
      if (m.rank() == 0)
        send_scatterv(m, all.data(), got.data(), spread.blocks(), plan);
      else
        receive_scatterv(m, 0, got.data(), bytes, plan);
      use_again(all);
      expect(got, m.rank() == last ? Bytes(bytes, untouched) : block_of(0, m.rank(), bytes, round),
             "scatterv");
    }
  };
}

/// Now one way, until all is over, now the other.
class ByTurns {
 public:
  template <class Expose, class Stream, class Over>
  void run(std::size_t, const Expose& expose, const Stream& stream, const Over& over) {
    streams_ = !streams_;
    if (!streams_) return expose();
    stream();
    over();
  }

 private:
  bool streams_ = false;
};

Body scattervs(std::size_t (*bytes_of)(int, int), Algorithm algorithm = Algorithm::direct,
               bool or_slots = false) {
  return [=](CheckingMachine& m) {
    Plan plan = plan_for(algorithm);
    plan.or_slots = or_slots;
    ByTurns ways;
    for (int round = 0; round < 4; ++round) {
      const int root = round % m.size();
      Bytes got(bytes_of(m.rank(), round), untouched);
      if (m.rank() == root) {
        const Spread spread(m.size(), round, [&](int rank) { return bytes_of(rank, round); });
        Bytes send(spread.end, untouched);
        for (int r = 0; r < m.size(); ++r) spread.put(send, r, block_of(root, r, bytes_of(r, round), round));
        send_scatterv(m, send.data(), got.data(), spread.blocks(), plan, ways);
        use_again(send);
        std::fill(send.begin(), send.end(), untouched);
      } else {
        receive_scatterv(m, root, got.data(), got.size(), plan);
      }
      expect(got, block_of(root, m.rank(), bytes_of(m.rank(), round), round), "scatterv");
    }
  };
}

}  // namespace

std::vector<Scenario> rooted_moves(int ranks, bool fenced) {
  std::vector<Scenario> all;
  const auto add = [&](const char* name, const Ring& ring, Body body) {
    all.push_back(make(name, ranks, fenced, ring, std::move(body)));
  };
  add("gather", one, gathers());
  add("gather, 4 slots", narrow, gathers());
  add("scatter", one, scatters());
  add("scatter, 4 slots", narrow, scatters());
  add("gatherv", narrow, gathervs(few_bytes));
  add("gatherv, long", wide, gathervs(many_bytes));
  add("scatterv", narrow, scattervs(few_bytes));
  add("scatterv, long", wide, scattervs(many_bytes));
  add("scatterv, short", one, short_scattervs());
  add("short blocks and lent ones", one, lent_after_short());
  add("blocks and barriers", one, barriers_after_blocks([](CheckingMachine& m) { barrier_exchange(m); }));
  const auto positions = trees(ranks, "chain");
  add("blocks and barriers of trees", one, barriers_after_blocks([=](CheckingMachine& m) {
        barrier_tree(m, positions->of(m.rank(), 0), positions->of(m.rank(), 0), Plan());
      }));
  all.push_back(refusing(
      make("gatherv, blocks exposed", ranks, fenced, one, gathervs(few_bytes, Algorithm::single_copy))));
  all.push_back(refusing(
      make("scatterv, blocks exposed", ranks, fenced, one, scattervs(few_bytes, Algorithm::single_copy))));
  if (ranks > 2) add("scatterv, blocks exposed but one", one, scattervs_without_the_last());
  for (const Ring& ring : {wide, one}) {
    add("gatherv, blocks exposed", ring, gathervs(few_bytes, Algorithm::single_copy));
    add("scatterv, blocks exposed", ring, scattervs(few_bytes, Algorithm::single_copy));
    add("scatterv, blocks lent or not", ring, scattervs(few_bytes, Algorithm::single_copy, true));
  }
  return all;
}

}  // namespace espalier::testing
