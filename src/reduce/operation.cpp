#include "reduce/operation.hpp"

#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <algorithm>
#include <atomic>

#include "reduce/isa.hpp"

namespace espalier::reduce {

namespace baseline {
extern const detail::Table table;
}
#if defined(__x86_64__)
namespace avx2 {
extern const detail::Table table;
}
namespace avx512 {
extern const detail::Table table;
}
#endif

namespace {

#if defined(__x86_64__)
// Not all compilers' __builtin_cpu_supports know it (clang before 18).
bool has_half_precision() noexcept {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}
#endif

bool cpu_has(Isa isa) noexcept {
  if (isa == Isa::baseline) return true;
#if defined(__x86_64__)
  // Needed when the first call comes from a constructor that runs before the compiler's own.
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && has_half_precision();
  if (isa == Isa::avx2) return avx2;
  if (isa == Isa::avx512)
    return avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#endif
  return false;
}

std::size_t last_level_cache() noexcept {
#if defined(_SC_LEVEL3_CACHE_SIZE)
  if (const long bytes = sysconf(_SC_LEVEL3_CACHE_SIZE); bytes > 0) return static_cast<std::size_t>(bytes);
#endif
  return std::size_t{32} << 20;
}

const detail::Table* table_of(Isa isa) noexcept {
  switch (isa) {
    case Isa::baseline:
      return &baseline::table;
#if defined(__x86_64__)
    case Isa::avx2:
      return &avx2::table;
    case Isa::avx512:
      return &avx512::table;
#endif
    default:
      return nullptr;
  }
}

// A large last-level cache is that of many cores, and on a virtual machine of other machines too: one call
// gets a share of it. Measured where it has 260 MiB: streaming gains from 48 MiB on, and loses at 12 MiB if
// the target is read again.
std::size_t share_of_last_level_cache() noexcept {
  const std::size_t whole = last_level_cache();
  return std::min(whole, std::max(whole / 8, std::size_t{32} << 20));
}

// The tables up to `isa`, the widest first: what a set gains nothing from is in a narrower one.
const Operation* look_up(Isa isa, Op op, Type type) noexcept {
  const auto row = static_cast<std::size_t>(op);
  const auto column = static_cast<std::size_t>(type);
  if (row >= op_count || column >= type_count) return nullptr;
  for (int set = static_cast<int>(isa); set >= 0; --set) {
    const Operation& operation = table_of(static_cast<Isa>(set))->operations[row][column];
    if (operation.kernel) return &operation;
  }
  return nullptr;
}

}  // namespace

// Kernels read these as the plain variables they are: they are written when the library is loaded, or by a
// test between calls.
constinit detail::StreamLimits detail::stream_limits{SIZE_MAX, SIZE_MAX};

namespace {
[[gnu::constructor]] void set_stream_limits() noexcept {
  detail::stream_limits = {std::size_t{1} << 20, share_of_last_level_cache()};
}
}  // namespace

const detail::Table* detail::table(Isa isa) noexcept { return cpu_has(isa) ? table_of(isa) : nullptr; }

const Operation* detail::find(Isa isa, Op op, Type type) noexcept {
  return cpu_has(isa) ? look_up(isa, op, type) : nullptr;
}

Isa detail::best_isa() noexcept {
  for (const Isa isa : {Isa::avx512, Isa::avx2})
    if (cpu_has(isa)) return isa;
  return Isa::baseline;
}

const Operation* find(Op op, Type type) noexcept {
  // Relaxed, pairs with itself: the tables are constants, and threads that race here all store the same
  // value.
  constinit static std::atomic<Isa> best{Isa::none};
  Isa chosen = best.load(std::memory_order_relaxed);
  if (chosen == Isa::none) {
    chosen = detail::best_isa();
    best.store(chosen, std::memory_order_relaxed);
  }
  return look_up(chosen, op, type);
}

}  // namespace espalier::reduce
