// Copies of many short runs at equal distances.
#pragma once

#include <cstddef>

namespace espalier::memory {

namespace detail {

template <class Copy>
void copy_each(std::byte* target, std::ptrdiff_t target_step, const std::byte* source,
               std::ptrdiff_t source_step, std::size_t count, Copy copy) {
  for (std::size_t i = 0; i < count; ++i) {
    copy(target, source);
    target += target_step;
    source += source_step;
  }
}

}  // namespace detail

/// `count` runs of `bytes`; steps are from the beginning of one to that of the next. Data that do not overlap.
void copy_runs(void* target, std::ptrdiff_t target_step, const void* source, std::ptrdiff_t source_step,
               std::size_t bytes, std::size_t count);

}  // namespace espalier::memory
