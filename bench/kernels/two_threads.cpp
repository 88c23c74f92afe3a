#include "two_threads.hpp"

#include <sched.h>

#include <chrono>
#include <thread>
#include <vector>

namespace espalier::bench {

namespace {

std::vector<int> processors() {
  cpu_set_t allowed;
  std::vector<int> found;
  if (sched_getaffinity(0, sizeof allowed, &allowed)) return found;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &allowed)) found.push_back(cpu);
  return found;
}

void fix_to(int cpu) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  sched_setaffinity(0, sizeof one, &one);
}

void measure(benchmark::State& state, const std::vector<int>& cpus, int turns, std::size_t moved,
             const Turns& take) {
  for (Line& line : lines) line.flag.store(0, std::memory_order_relaxed);
  cpu_set_t before;
  sched_getaffinity(0, sizeof before, &before);
  fix_to(cpus[0]);
  int first = 1;
  for (auto _ : state) {
    std::thread other([&, first] {
      fix_to(cpus[1]);
      take(1, first, turns);  // until both are there
      take(1, first + turns, turns);
    });
    take(0, first, turns);
    const auto begin = std::chrono::steady_clock::now();
    take(0, first + turns, turns);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    state.SetIterationTime(took.count() / turns);
    other.join();
    first += 2 * turns;
  }
  if (moved > 0) state.SetBytesProcessed(static_cast<std::int64_t>(moved) * state.iterations());
  sched_setaffinity(0, sizeof before, &before);
}

}  // namespace

void add_for_two(const std::string& name, int turns, std::size_t moved, Turns take) {
  const std::vector<int> cpus = processors();
  if (cpus.size() < 2) return;
  benchmark::RegisterBenchmark(name.c_str(),
                               [=](benchmark::State& state) { measure(state, cpus, turns, moved, take); })
      ->UseManualTime()
      ->Iterations(20);
}

}  // namespace espalier::bench
