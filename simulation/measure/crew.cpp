#include "simulation/measure/crew.hpp"

#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/error.hpp"
#include "base/format.hpp"

namespace espalier::measure {

std::int64_t now_ns() { return machine::HostPlatform::now_ns(); }

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

struct Rank::Board {
  alignas(128) std::atomic<std::uint64_t> come{0};
  alignas(128) std::atomic<std::uint64_t> met{0};  // how often all have met
  std::int64_t begin = 0;                          // written before `met` by the last to come
  alignas(128) std::atomic<std::int64_t> last_end{0};
};

void Rank::make_room() const {
  if (oversubscribed_)
    sched_yield();
  else
    machine::pause_cpu();
}

// Release and acquire: who has met has seen what all wrote before.
void Rank::meet() {
  ++meetings_;
  const auto all = static_cast<std::uint64_t>(count()) * meetings_;
  if (board_.come.fetch_add(1, std::memory_order_acq_rel) + 1 == all) {
    board_.last_end.store(0, std::memory_order_relaxed);
    board_.begin = now_ns();
    board_.met.store(meetings_, std::memory_order_release);
  }
  while (board_.met.load(std::memory_order_acquire) < meetings_) make_room();
}

std::int64_t Rank::begin_together() {
  constexpr std::int64_t until_all_know = 1000;
  meet();
  const std::int64_t begin = board_.begin + (oversubscribed_ ? 0 : until_all_know);
  if (!oversubscribed_)
    while (now_ns() < begin) continue;
  return begin;
}

double Rank::end_together(std::int64_t begin) {
  const std::int64_t end = now_ns();
  std::int64_t last = board_.last_end.load(std::memory_order_relaxed);
  while (last < end && !board_.last_end.compare_exchange_weak(last, end, std::memory_order_relaxed)) continue;
  ++meetings_;  // a meeting that leaves last_end alone
  const auto all = static_cast<std::uint64_t>(count()) * meetings_;
  if (board_.come.fetch_add(1, std::memory_order_acq_rel) + 1 == all)
    board_.met.store(meetings_, std::memory_order_release);
  while (board_.met.load(std::memory_order_acquire) < meetings_) make_room();
  return static_cast<double>(board_.last_end.load(std::memory_order_relaxed) - begin);
}

Crew::Crew(int ranks, std::vector<int> cpus, std::size_t slot_bytes) : cpus_(std::move(cpus)) {
  layout_.ranks = ranks;
  layout_.slot_bytes = slot_bytes;
}

std::size_t Crew::share_offset() const {
  return machine::Layout::round_up(sizeof(Rank::Board), machine::Layout::page);
}
std::size_t Crew::results_offset() const {
  return share_offset() + machine::Layout::round_up(layout_.bytes(), machine::Layout::page);
}

void Crew::be_rank(int number, std::byte* memory, const std::function<void(Rank&, double*)>& body) const {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpus_[static_cast<std::size_t>(number) % cpus_.size()], &one);
  if (sched_setaffinity(0, sizeof one, &one) != 0)
    throw Error(formatted("rank {} cannot be fixed to its core: {}", number, std::strerror(errno)));
  const double per_core = static_cast<double>(layout_.ranks) / static_cast<double>(cpus_.size());
  Rank rank(*reinterpret_cast<Rank::Board*>(memory), memory + share_offset(), layout_, number,
            machine::wait_policy(machine::WaitMode::automatic, per_core));
  body(rank, reinterpret_cast<double*>(memory + results_offset()));
}

std::vector<double> Crew::run(std::size_t results, const std::function<void(Rank&, double*)>& body,
                              unsigned seconds) {
  const std::size_t bytes = results_offset() + results * sizeof(double);
  void* const mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED)
    throw Error(formatted("no {} bytes of shared memory to measure in: {}", bytes, std::strerror(errno)));
  auto* const memory = static_cast<std::byte*>(mapped);
  new (memory) Rank::Board;
  std::fflush(nullptr);
  std::vector<pid_t> children;
  for (int number = 0; number < layout_.ranks; ++number) {
    const pid_t child = fork();
    if (child > 0) children.push_back(child);
    if (child != 0) continue;
    alarm(seconds);  // of ranks that wait for each other for ever
    int code = 1;
    try {
      be_rank(number, memory, body);
      code = 0;
    } catch (const std::exception& error) {
      print_to(stderr, "rank {}: {}\n", number, error.what());
    }
    std::fflush(nullptr);
    _exit(code);
  }
  bool failed = children.size() < static_cast<std::size_t>(layout_.ranks);
  for (std::size_t left = children.size(); left > 0; --left) {
    if (failed)
      for (const pid_t child : children) kill(child, SIGKILL);  // none of them has been waited for
    int status = 0;
    const pid_t child = wait(&status);
    std::erase(children, child);
    failed = failed || status != 0;
  }
  const auto* begin = reinterpret_cast<const double*>(memory + results_offset());
  std::vector<double> found(begin, begin + results);
  munmap(mapped, bytes);
  if (failed) throw Error("a rank failed, or was not through in time: what it said is above");
  return found;
}

}  // namespace espalier::measure
