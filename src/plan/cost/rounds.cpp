#include "plan/cost/rounds.hpp"

#include <bit>
#include <cstdint>
#include <initializer_list>
#include <utility>

namespace espalier::plan {
namespace {

int ceil_log2(int n) { return static_cast<int>(std::bit_width(static_cast<unsigned>(n - 1))); }
int core_of(int n) { return static_cast<int>(std::bit_floor(static_cast<unsigned>(n))); }

Cost times(int count, const Cost& cost) {
  return {count * cost.time, count * cost.cpu, count * cost.port, count * cost.rounds};
}

// Leaders beyond the core hand their vector to a neighbour first
// (collective/multinode/network/power_of_two_core.hpp) ...
Cost into_core(const Wire& wire, int n, double bytes) {
  return n == core_of(n) ? Cost{} : message(wire, bytes) + fold(wire, bytes);
}
// ... and get the result last.
Cost out_of_core(const Wire& wire, int n, double bytes) {
  return n == core_of(n) ? Cost{} : message(wire, bytes);
}

// Rounds of b/2, b/4, ... b/core, or the other way round.
Cost halving(const Wire& wire, int core, double bytes) {
  Cost cost;
  for (int part = 2; part <= core; part *= 2) cost += exchange(wire, bytes / part);
  return cost;
}

Cost reduce_scatter(const Wire& wire, int core, double bytes) {
  return halving(wire, core, bytes) + fold(wire, bytes - bytes / core);
}

// Messages of these sizes to some leaders, and from as many others, all begun at once: they leave, and
// arrive, one after the other.
Cost exchanges(const Wire& wire, std::initializer_list<std::pair<int, double>> counted_sizes) {
  Cost cost;
  double longest = 0;
  for (const auto& [count, bytes] : counted_sizes) {
    if (count == 0) continue;
    cost.time += count * std::max(interval(wire, bytes), 2 * wire.overhead);
    cost.cpu += count * 2 * wire.overhead;
    cost.port += count * on_port(wire, bytes);
    longest = std::max(longest, bytes);
    cost.rounds = 1;
  }
  if (cost.rounds == 0) return cost;
  cost.time += hop(wire, longest) - std::max(interval(wire, longest), 2 * wire.overhead);
  return cost;
}

// Rounds in which each has `distance` parts, its own and those of others, and gets up to ways - 1 times as
// many from leaders at that distance, twice that, and so on. The last part may be smaller.
Cost bruck(const Wire& wire, int n, double bytes, int ways) {
  Cost cost;
  for (std::int64_t distance = 1; distance < n; distance *= ways) {
    const auto partners = static_cast<int>(std::min<std::int64_t>(ways - 1, (n - 1) / distance));
    const std::int64_t rest = std::min(distance, n - partners * distance);
    cost += exchanges(wire, {{partners - 1, static_cast<double>(distance) * bytes},
                             {1, static_cast<double>(rest) * bytes}});
  }
  return cost;
}

// How long a leader that has so many slices takes until each is where it belongs: it sends away all that are
// beyond the largest power of two first, and goes on with the others.
double scatter_time(const Wire& wire, int slices, double bytes) {
  if (slices == 1) return 0;
  const int keeps = static_cast<int>(std::bit_ceil(static_cast<unsigned>(slices))) / 2;
  const int gives = slices - keeps;
  return std::max(hop(wire, gives * bytes) + scatter_time(wire, gives, bytes),
                  interval(wire, gives * bytes) + scatter_time(wire, keeps, bytes));
}

}  // namespace

Cost dissemination(const Wire& wire, int n, int ways) { return bruck(wire, n, 0, ways); }

Cost partial_reductions(const Wire& wire, int n, double bytes) {
  const int more = std::popcount(static_cast<unsigned>(n)) - 1;
  const Cost early = {interval(wire, bytes), 2 * wire.overhead, on_port(wire, bytes), 0};
  const int rounds = static_cast<int>(std::bit_width(static_cast<unsigned>(n))) - 1;
  return times(rounds, exchange(wire, bytes) + fold(wire, bytes)) + times(more, early + fold(wire, bytes));
}

Cost recursive_doubling(const Wire& wire, int n, double bytes) {
  return into_core(wire, n, bytes) + times(ceil_log2(core_of(n)), exchange(wire, bytes) + fold(wire, bytes)) +
         out_of_core(wire, n, bytes);
}

Cost allreduce_rabenseifner(const Wire& wire, int n, double bytes) {
  const int core = core_of(n);
  return into_core(wire, n, bytes) + reduce_scatter(wire, core, bytes) + halving(wire, core, bytes) +
         out_of_core(wire, n, bytes);
}

Cost reduce_rabenseifner(const Wire& wire, int n, double bytes) {
  const int core = core_of(n);
  return into_core(wire, n, bytes) + reduce_scatter(wire, core, bytes) + halving(wire, core, bytes);
}

Cost ring(const Wire& wire, int n, double bytes) {
  const double slice = bytes / n;
  return times(n - 1, exchange(wire, slice) + fold(wire, slice)) + times(n - 1, exchange(wire, slice));
}

Cost gather_all(const Wire& wire, int n, double bytes, int ways) {
  return copy(wire, bytes) + bruck(wire, n, bytes, ways) + fold(wire, (n - 1) * bytes);
}

Cost allgather_bruck(const Wire& wire, int n, double bytes, int ways) { return bruck(wire, n, bytes, ways); }

Cost allgather_ring(const Wire& wire, int n, double bytes) { return times(n - 1, exchange(wire, bytes)); }

Cost messages(const Wire& wire, int count, double bytes) { return exchanges(wire, {{count, bytes}}); }

Cost reduce_scatter_direct(const Wire& wire, int n, double bytes) {
  return messages(wire, n - 1, bytes / n) + fold(wire, (n - 1) * bytes / n);
}

Cost scatter_allgather(const Wire& wire, int n, double bytes) {
  if (n == 1) return {};
  const double slice = bytes / n;
  const int sends = ceil_log2(n);
  const Cost scatter = {scatter_time(wire, n, slice), sends * wire.overhead, on_port(wire, bytes - slice),
                        sends};
  return scatter + times(n - 1, exchange(wire, slice));
}

Cost scan_doubling(const Wire& wire, int n, double bytes) {
  const int rounds = ceil_log2(n);
  if (rounds == 0) return {};
  return times(rounds, exchange(wire, bytes)) + copy(wire, bytes) + fold(wire, 2 * (rounds - 1) * bytes);
}

Cost chain(const Wire& wire, int n, double bytes) {
  if (n == 1) return {};
  const int inner = n - 2;
  const double time = (n - 1) * hop(wire, bytes) + inner * fold(wire, bytes).time;
  const double cpu = inner > 0 ? 2 * wire.overhead + fold(wire, bytes).time : wire.overhead;
  return {time, cpu, on_port(wire, bytes), n - 1};
}

Cost scan_gather_all(const Wire& wire, int n, int ranks, double bytes, int ways) {
  const double own = ranks * bytes;
  return copy(wire, own) + bruck(wire, n, own, ways) + fold(wire, (n * ranks - 1.0) * bytes) +
         copy(wire, own);
}

Cost scan_transpose(const Wire& wire, int n, int ranks, double bytes) {
  const double own = ranks * bytes, slice = bytes / n;
  return copy(wire, own) + exchanges(wire, {{n - 1, ranks * slice}}) + fold(wire, (n * ranks - 1.0) * slice) +
         copy(wire, n * ranks * slice) + exchanges(wire, {{n - 1, ranks * slice}}) + copy(wire, own);
}

}  // namespace espalier::plan
