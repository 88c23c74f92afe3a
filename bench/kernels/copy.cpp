// Copies: one source of a reduction kernel is a copy, and data that passes through shared memory is copied
// into a slot that stays in the cache and out of it again.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/format.hpp"
#include "measure.hpp"
#include "memory/copy/copy.hpp"
#include "reduce/operation.hpp"

namespace espalier::bench {

namespace {

void through_slot(char* target, const char* source, char* slot, std::size_t bytes, std::size_t chunk) {
  for (std::size_t at = 0; at < bytes; at += chunk) {
    const std::size_t now = std::min(chunk, bytes - at);
    std::memcpy(slot, source + at, now);
    std::memcpy(target + at, slot, now);
  }
}

// To a place so many bytes behind the source's in its page: see memory/copy/copy.hpp.
void add_copies_close_behind(std::size_t bytes, std::size_t behind) {
  const auto target = [=] {
    constexpr std::uintptr_t page = 4096;
    const auto begin = reinterpret_cast<std::uintptr_t>(buffer(2, bytes + 2 * page));
    return reinterpret_cast<char*>((begin + page - 1) / page * page) + behind;
  };
  const std::string where = formatted("_{}_bytes_behind", behind);
  add("copy/memcpy" + where, bytes, 2 * bytes, [=] { std::memcpy(target(), buffer(0, bytes), bytes); });
  add("copy/copy" + where, bytes, 2 * bytes, [=] { memory::copy(target(), buffer(0, bytes), bytes); });
}

}  // namespace

void add_copies() {
  const reduce::Operation* const sum = reduce::find(reduce::Op::sum, reduce::Type::float64);
  for (const std::size_t bytes : {in_cache, 512 * KiB, beyond_l2, out_of_cache}) {
    add("copy/kernel_of_one_source", bytes, 2 * bytes, [=] {
      const void* const source = buffer(0, bytes);
      sum->kernel(buffer(2, bytes), &source, 1, bytes / sizeof(double));
    });
    for (const std::size_t behind : {8, 16}) add_copies_close_behind(bytes, behind);
    for (const std::size_t chunk : {8 * KiB, 32 * KiB})
      add("copy/through_slot_of_" + std::to_string(chunk / KiB) + "K", bytes, 2 * bytes,
          [=] { through_slot(buffer(2, bytes), buffer(0, bytes), buffer(3, bytes), bytes, chunk); });
  }
}

}  // namespace espalier::bench
