#include "simulation/measure/calibrate.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/error.hpp"
#include "base/format.hpp"
#include "simulation/measure/crew.hpp"

namespace espalier::measure {

using machine::Channel;
using machine::Steps;
using nlohmann::json;

namespace {

constexpr std::size_t slot = 64 * 1024, small = 4 * 1024, large = 32 * 1024;

/// One number, measured in `rounds` rounds on ranks on these CPUs: the median of what rank 0 returns.
double measured(int ranks, const std::vector<int>& cpus, int rounds,
                const std::function<double(Rank&)>& once) {
  Crew crew(ranks, cpus, slot);
  return median(crew.run(static_cast<std::size_t>(rounds), [&](Rank& rank, double* results) {
    for (int round = -2; round < rounds; ++round) {  // two that no rank keeps: caches, and waits that learn
      const double found = once(rank);
      if (rank.number() == 0 && round >= 0) results[round] = found;
    }
  }));
}

/// Half of a there and back between two ranks.
double there(Rank& rank, int times) {
  machine::HostMachine& m = rank.machine();
  const int other = 1 - rank.number();
  return rank.time([&] {
    for (int i = 0; i < times; ++i) {
      const Steps steps = m.advance();
      if (rank.number() == 0) m.publish(Channel::gather, steps.last());
      m.await(Channel::gather, other, steps.last());
      if (rank.number() == 1) m.publish(Channel::gather, steps.last());
    }
  }) / (2 * times);
}

/// Between ranks that hand on a flag in a ring, on one core: with more than two the core does not always go to the
/// rank that is next.
double around(Rank& rank, int times) {
  machine::HostMachine& m = rank.machine();
  const int before = (rank.number() + rank.count() - 1) % rank.count();
  return rank.time([&] {
    for (int i = 0; i < times; ++i) {
      const Steps steps = m.advance();
      if (rank.number() > 0) m.await(Channel::gather, before, steps.last());
      m.publish(Channel::gather, steps.last());
      if (rank.number() == 0) m.await(Channel::gather, before, steps.last());
    }
  }) / (rank.count() * times);
}

/// Slopes of what rank 0 does with rank 1's slot: times of `bytes` between small and large.
double slope(const std::function<double(std::size_t)>& of) {
  return (of(large) - of(small)) / static_cast<double>(large - small);
}

struct Timed {
  double own = 0, write = 0, read = 0, fold = 0;  // ns
};

/// Rank 1 copies within its own memory, of which it has more than its innermost cache holds, and writes its slot from its own buffer; then rank 0 copies out of it,
/// or folds it with its own vector, while rank 1 waits. As in a row of calls, rank 1's slot was last read by
/// rank 0 when it is written again.
Timed through_a_slot(Rank& rank, std::size_t bytes, int times) {
  machine::HostMachine& m = rank.machine();
  const reduce::Operation& sum = *reduce::find(reduce::Op::sum, reduce::Type::uint64);
  constexpr int buffers = 8;  // in turns, as a ring's slots
  std::vector<std::uint64_t> own(bytes / 8, 1), result(bytes / 8), others(buffers * large / 8);
  std::vector<double> owns, writes, reads, folds;
  for (int i = 0; i < times; ++i)
    for (const bool folding : {false, true}) {
      const Steps steps = m.advance();
      rank.meet();
      const std::int64_t start = now_ns();
      std::uint64_t* const other = others.data() + i % buffers * (large / 8);
      if (rank.number() == 1) m.copy(other, own.data(), bytes);
      const std::int64_t begin = now_ns();
      if (rank.number() == 1) m.copy(m.slot(1, steps), own.data(), bytes);
      const std::int64_t middle = now_ns();
      rank.meet();
      const std::int64_t again = now_ns();
      if (rank.number() == 0 && !folding) m.copy(result.data(), m.slot(1, steps), bytes);
      const void* const sources[] = {own.data(), m.slot(1, steps)};
      if (rank.number() == 0 && folding) m.reduce(sum, result.data(), sources, 2, bytes);
      const std::int64_t end = now_ns();
      if (rank.number() == 1) owns.push_back(static_cast<double>(begin - start));
      if (rank.number() == 1) writes.push_back(static_cast<double>(middle - begin));
      if (rank.number() == 0) (folding ? folds : reads).push_back(static_cast<double>(end - again));
    }
  Timed found;
  if (rank.number() == 1) found.own = median(owns), found.write = median(writes);
  if (rank.number() == 0) found.read = median(reads), found.fold = median(folds);
  return found;
}

/// Of two ranks on these CPUs, in nanoseconds a byte.
Timed bytes_between(int one, int other) {
  constexpr int times = 300;
  const auto run = [&](std::size_t bytes) {
    Crew crew(2, {one, other}, slot);
    const std::vector<double> r = crew.run(4, [&](Rank& rank, double* results) {
      const Timed timed = through_a_slot(rank, bytes, times);
      if (rank.number() == 1) results[0] = timed.own, results[1] = timed.write;
      if (rank.number() == 0) results[2] = timed.read, results[3] = timed.fold;
    });
    return Timed{r[0], r[1], r[2], r[3]};
  };
  const Timed few = run(small), many = run(large);
  const double more = static_cast<double>(large - small);
  const auto rate = [&](double a, double b) { return std::max(0.0, (b - a) / more); };
  return {rate(few.own, many.own), rate(few.write, many.write), rate(few.read, many.read),
          rate(few.fold, many.fold)};
}

/// How long rank 0 takes to read so many of rank 1's flag lines, all of which rank 1 has set.
double reads_of_set_lines(int one, int other, int lines) {
  return measured(2, {one, other}, 1001, [&](Rank& rank) {
    machine::HostMachine& m = rank.machine();
    std::vector<Steps> all;
    for (int i = 0; i < lines; ++i) all.push_back(m.advance());
    if (rank.number() == 1)
      for (const Steps& s : all) m.publish(Channel::gather, s.last());
    rank.meet();
    const std::int64_t begin = now_ns();
    if (rank.number() == 0)
      for (const Steps& s : all) m.await(Channel::gather, 1, s.last());
    const std::int64_t end = now_ns();
    rank.meet();
    return static_cast<double>(end - begin);
  });
}

/// What a processor overlaps.
struct Overlap {
  double claim_part, reads, stores;
};

/// `line`: from a store to a rank that polls. A read of a line that is set takes a part of it; of several lines
/// less each. Lines of a slot that the other rank has read are claimed while the copy goes on.
Overlap overlap_between(int one, int other, double line, const Timed& bytes) {
  constexpr int many = 8;  // slots, so that each has a line of its own
  const double none = reads_of_set_lines(one, other, 0);
  const double single = std::max(1.0, reads_of_set_lines(one, other, 1) - none);
  const double each = std::max(1.0, (reads_of_set_lines(one, other, many) - none - single) / (many - 1));
  const double claim_part = std::clamp(1 - single / line, 0.1, 0.9);
  const double taken_back = std::max(1e-3, bytes.write - bytes.own);  // a byte
  const double claim = claim_part * line / machine::Layout::line_bytes;
  return {claim_part, std::clamp(single / each, 1.0, 16.0), std::clamp(claim / taken_back, 1.0, 64.0)};
}

/// All cores copy out of their neighbour's slot at once: nanoseconds a byte of all together.
double all_at_once(const std::vector<int>& cpus) {
  const int ranks = static_cast<int>(cpus.size());
  const auto of = [&](std::size_t bytes) {
    return measured(ranks, cpus, 101, [&](Rank& rank) {
      static std::vector<std::byte> own(large), result(large);
      machine::HostMachine& m = rank.machine();
      const Steps steps = m.advance();
      m.copy(m.slot(rank.number(), steps), own.data(), bytes);
      return rank.time([&] { m.copy(result.data(), m.slot((rank.number() + 1) % ranks, steps), bytes); });
    });
  };
  return slope(of) / ranks;
}

/// How much later the last of all other ranks sees rank 0's line than one reader alone would, by reader.
double reader_gap(const std::vector<int>& cpus, double line_ns, const Overlap& overlap) {
  const int ranks = static_cast<int>(cpus.size());
  constexpr int times = 100;
  const double all = measured(ranks, cpus, 51, [&](Rank& rank) {
    machine::HostMachine& m = rank.machine();
    return rank.time([&] {
      for (int i = 0; i < times; ++i) {
        const Steps steps = m.advance();
        if (rank.number() == 0) {
          m.publish(Channel::release, steps.last());
          for (const int peer : m.other_ranks()) m.await(Channel::gather, peer, steps.last());
        } else {
          m.await(Channel::release, 0, steps.last());
          m.publish(Channel::gather, steps.last());
        }
      }
    }) / times;
  });
  // Down: line + (readers - 1) gaps; up: rank 0 reads the lines, so many at a time, the first when all are
  // there.
  const int readers = ranks - 1;
  const double up = line_ns + (readers - 1) * (1 - overlap.claim_part) * line_ns / overlap.reads;
  return std::max(0.0, (all - line_ns - up) / (readers - 1));
}

double rounded(double value) { return std::round(value * 1e4) / 1e4; }

}  // namespace

json calibrate(const std::vector<int>& cpus, const std::vector<Distance>& distances) {
  if (distances.empty()) throw Error("one usable core: what passes between cores cannot be measured here");
  json levels = json::array();
  double nearest_line = 0, own_copy = 0, copy = 0, fold = 0, farthest_line = 0;
  Overlap overlap{};
  for (const Distance& distance : distances) {
    const double line =
        measured(2, {distance.one, distance.other}, 51, [](Rank& rank) { return there(rank, 200); });
    const Timed bytes = bytes_between(distance.one, distance.other);
    levels.push_back({{"name", distance.level},
                      {"cores", distance.cores},
                      {"line_ns", rounded(line)},
                      {"copy_ns_per_byte", rounded(bytes.read)}});
    if (levels.size() == 1) {
      nearest_line = line, own_copy = bytes.own, copy = bytes.read;
      overlap = overlap_between(distance.one, distance.other, line, bytes);
      fold = std::max(0.0, bytes.fold - bytes.read) / 2;
    }
    farthest_line = line;
  }
  const double wake = measured(4, {cpus.front()}, 51, [](Rank& rank) { return around(rank, 50); });
  const int cores = static_cast<int>(cpus.size());
  const double gap = cores > 2 ? reader_gap(cpus, farthest_line, overlap) : 0;
  return {
      {"node",
       {{"flag_ns", rounded(nearest_line)},
        {"copy_ns_per_byte", rounded(copy)},
        {"reduce_ns_per_byte", rounded(fold)}}},
      {"simulate",
       {{"levels", levels},
        {"claim_part", rounded(overlap.claim_part)},
        {"reads_under_way", rounded(overlap.reads)},
        {"stores_under_way", rounded(overlap.stores)},
        {"reader_gap_ns", rounded(gap)},
        {"own_copy_ns_per_byte", rounded(own_copy)},
        {"controller_ns_per_byte", rounded(all_at_once(cpus))},
        {"controller_cores", cores},
        {"wake_ns", rounded(std::max(0.0, wake))}}},
      {"origin",
       {{"simulate.levels", "measured: there and back of two ranks on flag lines, copies out of a slot"},
        {"simulate.reader_gap_ns", cores > 2 ? "measured: one line, all other cores read it"
                                             : "two cores: one reader, so that there is no gap to measure"},
        {"simulate.claim_part", "measured: the part of line_ns that a read of a set line does not take"},
        {"simulate.reads_under_way", "measured: one read of a set flag line beside each of eight"},
        {"simulate.stores_under_way",
         "measured: what a copy takes longer into a slot that another core has read"},
        {"simulate.own_copy_ns_per_byte", "measured: copies among some buffers of a core's own"},
        {"simulate.controller_ns_per_byte", "measured: all cores copy out of each other's slots at once"},
        {"simulate.wake_ns", "measured: a flag around four ranks on one core"},
        {"node.reduce_ns_per_byte", "measured: a fold of two sources, less the copy of the one"}}}};
}

}  // namespace espalier::measure
