// A memcpy of a length that the compiler does not know is a call, which takes longer than a short run: the usual
// lengths have loops of their own.
#include "memory/layout/copy_runs.hpp"

#include <cstring>

#include "memory/copy/copy.hpp"

namespace espalier::memory {

void copy_runs(void* target, std::ptrdiff_t target_step, const void* source, std::ptrdiff_t source_step,
               std::size_t bytes, std::size_t count) {
  auto* const to = static_cast<std::byte*>(target);
  const auto* const from = static_cast<const std::byte*>(source);
  const auto of_known_length = [&]<std::size_t length>() {
    detail::copy_each(to, target_step, from, source_step, count,
                      [](std::byte* t, const std::byte* s) { std::memcpy(t, s, length); });
  };
  switch (bytes) {
    case 1:
      return of_known_length.template operator()<1>();
    case 2:
      return of_known_length.template operator()<2>();
    case 4:
      return of_known_length.template operator()<4>();
    case 8:
      return of_known_length.template operator()<8>();
    case 12:
      return of_known_length.template operator()<12>();
    case 16:
      return of_known_length.template operator()<16>();
    case 24:
      return of_known_length.template operator()<24>();
    case 32:
      return of_known_length.template operator()<32>();
    case 64:
      return of_known_length.template operator()<64>();
    case 128:
      return of_known_length.template operator()<128>();
    default:
      detail::copy_each(to, target_step, from, source_step, count,
                        [bytes](std::byte* t, const std::byte* s) { copy(t, s, bytes); });
  }
}

}  // namespace espalier::memory
