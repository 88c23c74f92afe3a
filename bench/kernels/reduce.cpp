// Reduction kernels beside a plain copy. Bytes per second count what is read and what is written, so a kernel
// that is limited by memory alone shows the figure of the copy at the same footprint; "of_copy" is the ratio.
//
// Copy and kernel alternate within one measurement, since the bandwidth of a shared machine wanders from
// minute to minute. Time is that of the kernel alone.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "reduce/isa.hpp"
#include "reduce/names.hpp"

namespace {

using namespace espalier::reduce;
using Clock = std::chrono::steady_clock;

constexpr std::size_t KiB = 1024, MiB = 1024 * KiB;
constexpr std::size_t near_bytes = 8 * MiB;   // beyond L2
constexpr std::size_t far_bytes = 128 * MiB;  // beyond the last-level cache, two sources and target together

// The same memory for all measurements, touched once: every byte 0x3f, which is a modest number in each type.
char* buffer(int place, std::size_t bytes) {
  static const std::size_t whole = 9 * (far_bytes + 64 * KiB);
  static char* const memory = [] {
    char* const fresh = static_cast<char*>(std::aligned_alloc(4096, whole));
    if (fresh) std::memset(fresh, 0x3f, whole);
    return fresh;
  }();
  if (!memory) throw std::bad_alloc();
  // A different offset in the page for each: with equal ones loads would wait for unrelated stores.
  return memory + static_cast<std::size_t>(place) * ((bytes + 8191) / 4096 * 4096 + 256);
}

template <class Work>
double seconds(int repeats, Work work) {
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

void compare(benchmark::State& state, const Operation& operation, int sources, std::size_t bytes,
             bool in_place) {
  std::vector<const void*> inputs;
  for (int k = 0; k < sources; ++k) inputs.push_back(buffer(k, bytes));
  char* const fresh = buffer(sources, bytes);
  void* const target = in_place ? buffer(0, bytes) : fresh;
  const std::size_t elements = bytes / operation.extent;
  const double moved = static_cast<double>(bytes) * (sources + 1);
  const int repeats = static_cast<int>(std::max<std::size_t>(1, MiB / bytes));
  std::vector<double> ratios, copies;
  for (auto _ : state) {
    const double copy = seconds(repeats, [&] { std::memcpy(fresh, inputs[1], bytes); });
    const double kernel =
        seconds(repeats, [&] { operation.kernel(target, inputs.data(), sources, elements); });
    state.SetIterationTime(kernel);
    copies.push_back(2.0 * static_cast<double>(bytes) / copy);
    ratios.push_back(moved / kernel / copies.back());
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(moved) * static_cast<std::int64_t>(state.iterations()));
  state.counters["of_copy"] = median(ratios);
  state.counters["copy_GB/s"] = median(copies) / 1e9;
}

void add(Isa isa, Op op, Type type, int sources, std::size_t bytes, bool in_place) {
  const Operation* const operation = detail::find(isa, op, type);
  if (!operation) return;
  static const char* const names[] = {"baseline", "avx2", "avx512"};
  const std::string name = std::string(to_string(op)) + "/" + std::string(to_string(type)) + "/" +
                           names[static_cast<int>(isa)] + "/" + std::to_string(sources) +
                           (in_place ? "_in_place" : "") + "/" + std::to_string(bytes / KiB) + "K";
  benchmark::RegisterBenchmark(
      name.c_str(), [=](benchmark::State& state) { compare(state, *operation, sources, bytes, in_place); })
      ->UseManualTime()
      ->Iterations(bytes >= far_bytes ? 5
                   : bytes >= MiB     ? 15
                                      : 25);
}

// One element: what a call costs before any byte is moved.
void add_single(Op op, Type type, int sources) {
  const std::string name = "single/" + std::string(to_string(op)) + "/" + std::string(to_string(type)) + "/" +
                           std::to_string(sources);
  benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) {
    std::vector<const void*> inputs;
    for (int k = 0; k < sources; ++k) inputs.push_back(buffer(k, 64));
    for (auto _ : state) {
      find(op, type)->kernel(buffer(sources, 64), inputs.data(), sources, 1);
      benchmark::ClobberMemory();
    }
  })->MinTime(0.05);
}

void add_all() {
  const Isa best = detail::best_isa();
  for (const Type type : {Type::float32, Type::float64, Type::int32})
    for (const Op op : {Op::sum, Op::min, Op::max})
      for (const std::size_t bytes : {8 * KiB, 512 * KiB, near_bytes, far_bytes}) {
        add(best, op, type, 2, bytes, true);
        add(best, op, type, 2, bytes, false);
        if (op != Op::sum || type != Type::float64) continue;
        add(best, op, type, 4, bytes, false);
        add(best, op, type, 8, bytes, false);
      }
  for (const Isa isa : {Isa::baseline, Isa::avx2, Isa::avx512})
    for (const Type type :
         {Type::int8, Type::float16, Type::float32, Type::float64, Type::complex64, Type::double_int})
      for (const std::size_t bytes : {8 * KiB, near_bytes})
        for (const Op op : {Op::sum, Op::prod, Op::maxloc}) {
          const bool slow = bytes == near_bytes && type == Type::float16 && isa == Isa::baseline;
          if (!slow) add(isa, op, type, 2, bytes, false);
        }
  for (const int sources : {1, 2, 4, 8}) add_single(Op::sum, Type::float64, sources);
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  add_all();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
