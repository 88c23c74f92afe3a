// Prepared collectives: no rank waits in a start, and what is given is never written while it may still be
// read.
#include "tests/collective/prepared.hpp"

#include "simulation/checker/platform.hpp"
#include "tests/simulation/checker/blocks.hpp"
#include "tests/simulation/checker/scenarios.hpp"

namespace espalier::testing {
namespace {

using namespace collective;
using simulation::checker::Platform;

constexpr int epochs = 4;
/// 64 bytes: what is longer goes in chunks.
constexpr int log2_chunk = 6;

/// How a rank completes what it has started.
enum class By { waiting, polling };

void complete_epoch(CheckingMachine& m, const Schedule& schedule, const Epoch& epoch, By by) {
  if (by == By::polling)
    while (!is_ready(m, schedule, epoch)) Execution::current().idle(true);
  complete(m, schedule, epoch);
}

/// Starts and completes it a few times. `fill(round)` writes what is given, `check(round)` looks at what
/// came.
template <class SpecOf, class Fill, class Check>
void run_epochs(CheckingMachine& m, By by, SpecOf spec_of, Fill fill, Check check) {
  const Sketch sketch(m.size(), log2_chunk, spec_of);
  const Schedule schedule = sketch.prepare(m.rank(), Execution::current().area());
  for (int round = 0; round < epochs; ++round) {
    fill(round);
    complete_epoch(m, schedule, start(m, schedule), by);
    check(round);
  }
}

/// Where it lies already: recipes know the address.
void put(Words& place, const Words& values) { std::copy(values.begin(), values.end(), place.begin()); }

std::byte* bytes_of(Words& words) { return reinterpret_cast<std::byte*>(words.data()); }

/// allreduce, reduce, scan, exscan.
Body reductions_of(Collective collective, std::size_t count, By by) {
  return [=](CheckingMachine& m) {
    constexpr int root = 1;
    const int rank = m.rank(), last = m.size() - 1;
    Words send(count), receive(count);
    const auto spec_of = [&](int which) {
      return reduction_spec({which, m.size()}, collective, root, bytes_of(send), bytes_of(receive), count * 8,
                            sum_of_words());
    };
    run_epochs(
        m, by, spec_of, [&](int round) { put(send, words(rank, count, round)); },
        [&](int round) {
          if (collective == Collective::allreduce || (collective == Collective::reduce && rank == root))
            expect(receive, sum(0, last, count, round), "a prepared reduction");
          if (collective == Collective::scan) expect(receive, sum(0, rank, count, round), "a prepared scan");
          if (collective == Collective::exscan && rank > 0)
            expect(receive, sum(0, rank - 1, count, round), "a prepared exscan");
        });
  };
}

/// Shares of one, two, three words and so on: longer than what rides in flag lines. In place, the result goes
/// to the start of the vector.
Body reduce_scatters(By by, bool in_place) {
  return [=](CheckingMachine& m) {
    const int rank = m.rank(), n = m.size();
    std::vector<std::size_t> shares;
    std::size_t count = 0, begin = 0;
    for (int r = 0; r < n; count += 7u + static_cast<std::size_t>(r++)) {
      if (r == rank) begin = count;
      shares.push_back((7u + static_cast<std::size_t>(r)) * 8);
    }
    const std::size_t own = shares[static_cast<std::size_t>(rank)] / 8;
    Words send(count), elsewhere(own);
    std::byte* const receive = bytes_of(in_place ? send : elsewhere);
    const auto spec_of = [&](int which) {
      return reduce_scatter_spec({which, n}, Collective::reduce_scatter, bytes_of(send), receive, shares,
                                 sum_of_words());
    };
    run_epochs(
        m, by, spec_of, [&](int round) { put(send, words(rank, count, round)); },
        [&](int round) {
          const Words whole = sum(0, n - 1, count, round);
          const Words wanted(whole.begin() + static_cast<std::ptrdiff_t>(begin),
                             whole.begin() + static_cast<std::ptrdiff_t>(begin + own));
          const auto* got = reinterpret_cast<const std::uint64_t*>(receive);
          expect(Words(got, got + own), wanted, "a prepared reduce_scatter");
        });
  };
}

/// Every rank has `count_of(from, to)` words for each other.
template <class CountOf>
Body transfers(Collective collective, By by, CountOf count_of) {
  return [=](CheckingMachine& m) {
    const int rank = m.rank(), n = m.size();
    std::vector<Words> send, receive;
    std::vector<std::byte> elsewhere(static_cast<std::size_t>(n));
    for (int peer = 0; peer < n; ++peer) {
      send.emplace_back(count_of(rank, peer));
      receive.emplace_back(count_of(peer, rank));
    }
    const auto spec_of = [&](int which) {
      std::vector<Block> out, in;
      for (int peer = 0; peer < n; ++peer) {
        const auto i = static_cast<std::size_t>(peer);
        // Of others only lengths matter, and that their blocks lie apart.
        out.push_back({which == rank ? bytes_of(send[i]) : &elsewhere[i], count_of(which, peer) * 8});
        in.push_back({bytes_of(receive[i]), count_of(peer, which) * 8});
      }
      return transfer_spec({which, n}, collective, 0, 0, out, in);
    };
    run_epochs(
        m, by, spec_of,
        [&](int round) {
          for (int peer = 0; peer < n; ++peer)
            put(send[static_cast<std::size_t>(peer)], words(rank + 8 * peer, count_of(rank, peer), round));
        },
        [&](int round) {
          for (int peer = 0; peer < n; ++peer)
            expect(receive[static_cast<std::size_t>(peer)],
                   words(peer + 8 * rank, count_of(peer, rank), round), "a prepared transfer");
        });
  };
}

Body barriers_of(By by) {
  return [=](CheckingMachine& m) {
    Execution& run = Execution::current();
    const Sketch sketch(m.size(), log2_chunk, [&](int rank) { return barrier_spec({rank, m.size()}); });
    const Schedule schedule = sketch.prepare(m.rank(), run.area());
    const auto meet = [&] { complete_epoch(m, schedule, start(m, schedule), by); };
    for (int round = 0; round < epochs; ++round) {
      const std::uint64_t mine = word(m.rank(), 0, round);
      Platform::copy(run.note(m.rank()), &mine, sizeof mine);
      meet();
      for (const int peer : m.other_ranks()) {
        std::uint64_t theirs = 0;
        Platform::copy(&theirs, run.note(peer), sizeof theirs);
        run.expect(theirs == word(peer, 0, round), "a prepared barrier let a rank go too early");
      }
      meet();
    }
  };
}

}  // namespace

std::vector<Scenario> schedule(int ranks, bool fenced) {
  std::vector<Scenario> all;
  const auto add = [&](const std::string& name, const Ring& ring, Body body) {
    all.push_back(make("prepared " + name, ranks, fenced, ring, std::move(body)));
    all.back().area_bytes = std::size_t{96} << 10;
  };
  for (const By by : {By::waiting, By::polling}) {
    const std::string how = by == By::polling ? ", polled" : "";
    add("barrier" + how, two, barriers_of(by));
    for (const std::size_t count : counts)  // 27 words: two ranks trade places
      add(formatted("allreduce of {}{}", count, how), two, reductions_of(Collective::allreduce, count, by));
    // In common, in two pieces.
    if (ranks > 2) add("allreduce of 600" + how, two, reductions_of(Collective::allreduce, 600, by));
    for (const Collective collective : {Collective::reduce, Collective::scan, Collective::exscan})
      add(formatted("{}{}", to_string(collective), how), one, reductions_of(collective, 27, by));
    add("scan inline" + how, two, reductions_of(Collective::scan, 3, by));
    add("bcast" + how, one,
        transfers(Collective::bcast, by, [](int from, int to) { return from == 0 && to != 0 ? 27u : 0u; }));
    add("scatter" + how, one,
        transfers(Collective::scatter, by, [](int from, int to) { return from == 1 ? 18u + to : 0u; }));
    add("alltoall" + how, two, transfers(Collective::alltoall, by, [](int, int) { return 20u; }));
    add("reduce_scatter" + how, two, reduce_scatters(by, false));
    add("reduce_scatter in place" + how, two, reduce_scatters(by, true));
    add("alltoallv" + how, two, transfers(Collective::alltoallv, by, [](int from, int to) {
          return static_cast<std::size_t>((from * 3 + to * 2) % 4) * 11;
        }));
  }
  return all;
}

}  // namespace espalier::testing
