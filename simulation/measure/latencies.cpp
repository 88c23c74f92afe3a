#include "simulation/measure/latencies.hpp"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "simulation/measure/crew.hpp"

namespace espalier::measure {
namespace {

constexpr int batches = 5, round_trips = 300;
constexpr std::int64_t longest_ns = 100'000'000;

/// A ball between two threads: odd, it is with the second.
struct Ball {
  alignas(128) std::atomic<std::uint32_t> turn{0};
  alignas(128) std::atomic<bool> lost{false};  // one of them has given up
};

bool pin_to(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  return pthread_setaffinity_np(pthread_self(), sizeof set, &set) == 0;
}

/// False: it has not come in time, or the other has given up.
bool await(Ball& ball, std::uint32_t turn, std::int64_t deadline_ns) {
  for (unsigned looks = 1;; ++looks) {
    // acquire: pairs with the release of the other's turn, as flags of the library do.
    if (ball.turn.load(std::memory_order_acquire) == turn) return true;
    if (looks % 1024 != 0) continue;
    if (now_ns() > deadline_ns) ball.lost.store(true, std::memory_order_relaxed);
    if (ball.lost.load(std::memory_order_relaxed)) return false;
  }
}

void send_back(Ball& ball, int cpu, std::int64_t deadline_ns) {
  if (!pin_to(cpu)) return ball.lost.store(true, std::memory_order_relaxed);
  constexpr std::uint32_t all = batches * round_trips;
  for (std::uint32_t i = 0; i < all && await(ball, 2 * i + 1, deadline_ns); ++i)
    ball.turn.store(2 * i + 2, std::memory_order_release);
}

/// The least time of a batch; below 0: none came to its end.
double throw_to(Ball& ball, int cpu, std::int64_t deadline_ns) {
  double least = -1;
  std::uint32_t turn = 0;
  if (!pin_to(cpu)) {
    ball.lost.store(true, std::memory_order_relaxed);
    return least;
  }
  for (int batch = 0; batch < batches; ++batch) {
    const std::int64_t begin = now_ns();
    for (int i = 0; i < round_trips; ++i, turn += 2) {
      ball.turn.store(turn + 1, std::memory_order_release);
      if (!await(ball, turn + 2, deadline_ns)) return least;
    }
    const auto took = static_cast<double>(now_ns() - begin);
    least = least < 0 ? took : std::min(least, took);
  }
  return least;
}

std::vector<int> spread(const std::vector<int>& cpus, std::size_t most) {
  if (cpus.size() <= most || most == 0) return cpus;
  std::vector<int> some;
  for (std::size_t i = 0; i < most; ++i) some.push_back(cpus[i * cpus.size() / most]);
  return some;
}

}  // namespace

double flag_ns(int one, int other) {
  Ball ball;
  double took = -1;
  const std::int64_t deadline_ns = now_ns() + longest_ns;
  std::thread second([&] { send_back(ball, other, deadline_ns); });
  std::thread first([&] { took = throw_to(ball, one, deadline_ns); });
  first.join();
  second.join();
  return took < 0 ? took : took / round_trips / 2;
}

nlohmann::json latencies(std::vector<int> cpus, std::size_t most) {
  using nlohmann::json;
  cpus = spread(cpus, most);
  json table(cpus.size(), json(cpus.size(), nullptr));
  for (std::size_t i = 0; i < cpus.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (const double ns = flag_ns(cpus[i], cpus[j]); ns >= 0) table[i][j] = table[j][i] = ns;
  return {{"cpus", cpus}, {"ns", table}};
}

}  // namespace espalier::measure
