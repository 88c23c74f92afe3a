#include "reduce/type.hpp"

#include "reduce/representation.hpp"

namespace espalier::reduce {

std::size_t extent(Type type) noexcept {
  switch (type) {
#define ESPALIER_CASE(name, element, family, units) \
  case Type::name:                                  \
    return SizeOf<element>::extent;
    ESPALIER_REDUCE_TYPES(ESPALIER_CASE)
#undef ESPALIER_CASE
    default:
      return 0;
  }
}

std::size_t packed_size(Type type) noexcept {
  switch (type) {
#define ESPALIER_CASE(name, element, family, units) \
  case Type::name:                                  \
    return SizeOf<element>::packed;
    ESPALIER_REDUCE_TYPES(ESPALIER_CASE)
#undef ESPALIER_CASE
    default:
      return 0;
  }
}

}  // namespace espalier::reduce
