// How long a flag takes from one core to another: two threads, each on a core of its own.
#include <sched.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "measure.hpp"

namespace espalier::bench {

namespace {

constexpr int exchanges = 2000;

struct alignas(128) Line {
  std::atomic<int> flag{0};
  int payload[8] = {};  // arrives together with the flag: the same line
};

Line lines[2];

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

// acquire pairs with the release in publish
void await(int thread, int value) {
  while (lines[thread].flag.load(std::memory_order_acquire) < value) continue;
}

void publish(int thread, int value) { lines[thread].flag.store(value, std::memory_order_release); }

// Both write, then both wait: what a barrier of two needs at least.
void exchange(int self, int first) {
  for (int i = first; i < first + exchanges; ++i) {
    publish(self, i);
    await(1 - self, i);
  }
}

// One writes, the other answers.
void there_and_back(int self, int first) {
  for (int i = first; i < first + exchanges; ++i) {
    if (self == 0) publish(0, i);
    await(1 - self, i);
    if (self == 1) publish(1, i);
  }
}

template <class Turn>
void measure(benchmark::State& state, const std::vector<int>& cpus, Turn turn) {
  using Clock = std::chrono::steady_clock;
  for (Line& line : lines) line.flag.store(0, std::memory_order_relaxed);
  cpu_set_t before;
  sched_getaffinity(0, sizeof before, &before);
  fix_to(cpus[0]);
  int first = 1;
  for (auto _ : state) {
    std::thread other([&, first] {
      fix_to(cpus[1]);
      turn(1, first);  // until both are there
      turn(1, first + exchanges);
    });
    turn(0, first);
    const auto begin = Clock::now();
    turn(0, first + exchanges);
    state.SetIterationTime(std::chrono::duration<double>(Clock::now() - begin).count() / exchanges);
    other.join();
    first += 2 * exchanges;
  }
  sched_setaffinity(0, sizeof before, &before);
}

}  // namespace

void add_flags() {
  const std::vector<int> cpus = processors();
  if (cpus.size() < 2) return;
  const auto add_one = [&](const char* name, void (*turn)(int, int)) {
    benchmark::RegisterBenchmark(name, [=](benchmark::State& state) { measure(state, cpus, turn); })
        ->UseManualTime()
        ->Iterations(20);
  };
  add_one("flag/exchange", exchange);
  add_one("flag/there_and_back", there_and_back);
}

}  // namespace espalier::bench
