#include "plan/cost_rounds.hpp"

#include <bit>

namespace espalier::plan {
namespace {

int ceil_log2(int n) { return std::bit_width(static_cast<unsigned>(n - 1)); }
int core_of(int n) { return static_cast<int>(std::bit_floor(static_cast<unsigned>(n))); }

Cost times(int count, const Cost& cost) {
  return {count * cost.time, count * cost.cpu, count * cost.port, count * cost.rounds};
}

// Leaders beyond the core hand their vector to a neighbour first (collective/nodes/core.hpp) ...
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

// Bruck: blocks of `bytes`, twice as many in each round, the last round the rest.
Cost bruck(const Wire& wire, int n, double bytes) {
  Cost cost;
  for (int distance = 1; distance < n; distance *= 2)
    cost += exchange(wire, std::min(distance, n - distance) * bytes);
  return cost;
}

// All messages are begun at once, and leave and arrive one after the other.
Cost all_to_all(const Wire& wire, int n, double bytes) {
  if (n == 1) return {};
  const int others = n - 1;
  const double cpu = 2 * others * wire.overhead;
  const double one_by_one = std::max(interval(wire, bytes), 2 * wire.overhead);
  return {hop(wire, bytes) + (others - 1) * one_by_one, cpu, others * on_port(wire, bytes), 1};
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

Cost dissemination(const Wire& wire, int n) { return times(ceil_log2(n), exchange(wire, 0)); }

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

Cost gather_all(const Wire& wire, int n, double bytes) {
  return copy(wire, bytes) + bruck(wire, n, bytes) + fold(wire, (n - 1) * bytes);
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

Cost scan_gather_all(const Wire& wire, int n, int ranks, double bytes) {
  const double own = ranks * bytes;
  return copy(wire, own) + bruck(wire, n, own) + fold(wire, (n * ranks - 1.0) * bytes) + copy(wire, own);
}

Cost scan_transpose(const Wire& wire, int n, int ranks, double bytes) {
  const double own = ranks * bytes, slice = bytes / n;
  return copy(wire, own) + all_to_all(wire, n, ranks * slice) + fold(wire, (n * ranks - 1.0) * slice) +
         copy(wire, n * ranks * slice) + all_to_all(wire, n, ranks * slice) + copy(wire, own);
}

}  // namespace espalier::plan
