// What the measurements of kernels share: their memory, and a copy beside each of them.
#pragma once

#include <benchmark/benchmark.h>

#include <cstddef>
#include <functional>
#include <string>

namespace espalier::bench {

inline constexpr std::size_t KiB = 1024, MiB = 1024 * KiB;
inline constexpr std::size_t in_cache = 32 * KiB;  // up to nine buffers of it lie in L2
inline constexpr std::size_t beyond_l2 = 8 * MiB;
inline constexpr std::size_t out_of_cache = 128 * MiB;  // two sources and target: beyond the last-level cache
inline constexpr int most_buffers = 9;

// Buffer number `place` of several of so many bytes. The same memory for all measurements, touched once:
// every byte 0x3f, which is a modest number in each type.
char* buffer(int place, std::size_t bytes);

// `work` moves `moved` bytes, read and written. Shown are its bandwidth, that of a memcpy of `bytes` bytes
// that alternates with it in the same run ("copy_GB/s"), and the ratio of both round by round ("of_copy"):
// the bandwidth of a shared machine wanders from minute to minute.
void beside_copy(benchmark::State& state, std::size_t bytes, std::size_t moved,
                 const std::function<void()>& work);

// Registers such a measurement under `name` with a suffix for the bytes.
void add(const std::string& name, std::size_t bytes, std::size_t moved, std::function<void()> work);

void add_copies();
void add_reductions();
void add_flags();
void add_slots();

}  // namespace espalier::bench
