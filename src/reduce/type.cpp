#include "reduce/type.hpp"

#include <algorithm>
#include <array>

#include "reduce/representation.hpp"

namespace espalier::reduce {
namespace {

struct Size {
  std::size_t extent, packed;
};

// By enumerator; `none` is the last one.
constexpr std::array<Size, type_count + 1> sizes = {{
#define ESPALIER_SIZE(name, element, family, units) {SizeOf<element>::extent, SizeOf<element>::packed},
    ESPALIER_REDUCE_TYPES(ESPALIER_SIZE)
#undef ESPALIER_SIZE
}};

const Size& size_of(Type type) { return sizes[std::min(static_cast<std::size_t>(type), type_count)]; }

}  // namespace

std::size_t extent(Type type) noexcept { return size_of(type).extent; }

std::size_t packed_size(Type type) noexcept { return size_of(type).packed; }

}  // namespace espalier::reduce
