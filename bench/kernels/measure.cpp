#include "measure.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

namespace espalier::bench {

namespace {

using Clock = std::chrono::steady_clock;

template <class Work>
double seconds(int repeats, const Work& work) {
  const auto begin = Clock::now();
  for (int i = 0; i < repeats; ++i) work();
  benchmark::ClobberMemory();
  return std::chrono::duration<double>(Clock::now() - begin).count() / repeats;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

char* buffer(int place, std::size_t bytes) {
  static const std::size_t whole = most_buffers * (out_of_cache + 64 * KiB);
  static char* const memory = [] {
    char* const fresh = static_cast<char*>(std::aligned_alloc(4096, whole));
    if (fresh) std::memset(fresh, 0x3f, whole);
    return fresh;
  }();
  if (!memory) throw std::bad_alloc();
  // A different offset in the page for each: with equal ones loads would wait for unrelated stores.
  return memory + static_cast<std::size_t>(place) * ((bytes + 8191) / 4096 * 4096 + 256);
}

void beside_copy(benchmark::State& state, std::size_t bytes, std::size_t moved,
                 const std::function<void()>& work) {
  char *const source = buffer(1, bytes), *const target = buffer(most_buffers - 1, bytes);
  const int repeats = static_cast<int>(std::max<std::size_t>(1, MiB / bytes));
  std::vector<double> ratios, copies;
  for (auto _ : state) {
    const double copy = seconds(repeats, [&] { std::memcpy(target, source, bytes); });
    const double kernel = seconds(repeats, work);
    state.SetIterationTime(kernel);
    copies.push_back(2.0 * static_cast<double>(bytes) / copy);
    ratios.push_back(static_cast<double>(moved) / kernel / copies.back());
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(moved) * static_cast<std::int64_t>(state.iterations()));
  state.counters["of_copy"] = median(ratios);
  state.counters["copy_GB/s"] = median(copies) / 1e9;
}

void add(const std::string& name, std::size_t bytes, std::size_t moved, std::function<void()> work) {
  benchmark::RegisterBenchmark((name + "/" + std::to_string(bytes / KiB) + "K").c_str(),
                               [=](benchmark::State& state) { beside_copy(state, bytes, moved, work); })
      ->UseManualTime()
      ->Iterations(bytes >= out_of_cache ? 5
                   : bytes >= MiB        ? 15
                                         : 25);
}

}  // namespace espalier::bench
