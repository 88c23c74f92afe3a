#include "reduce/type.hpp"

#include "reduce/representation.hpp"

namespace espalier::reduce {

namespace {

struct Size {
  std::size_t extent = 0, packed = 0;
};

template <class T>
constexpr Size plain() {
  return {sizeof(T), sizeof(T)};
}

template <class Value, class Index>
constexpr Size pair() {
  return {sizeof(Pair<Value, Index>), sizeof(Value) + sizeof(Index)};
}

constexpr Size size_of(Type type) {
  switch (type) {
    case Type::int8:
    case Type::uint8:
    case Type::logical8:
    case Type::byte:
      return {1, 1};
    case Type::int16:
    case Type::uint16:
    case Type::logical16:
      return {2, 2};
    case Type::int32:
    case Type::uint32:
    case Type::logical32:
      return {4, 4};
    case Type::int64:
    case Type::uint64:
    case Type::logical64:
      return {8, 8};
#if ESPALIER_HAS_INT128
    case Type::int128:
    case Type::logical128:
      return plain<Int128>();
#endif
    case Type::boolean:
      return plain<bool>();
#if ESPALIER_HAS_FLOAT16
    case Type::float16:
      return plain<Float16>();
#endif
    case Type::float32:
      return plain<float>();
    case Type::float64:
      return plain<double>();
    case Type::float_extended:
      return plain<long double>();
    case Type::complex64:
      return plain<Complex<float>>();
    case Type::complex128:
      return plain<Complex<double>>();
    case Type::complex_extended:
      return plain<Complex<long double>>();
#if ESPALIER_HAS_FLOAT128
    case Type::float128:
      return plain<Float128>();
    case Type::complex256:
      return plain<Complex<Float128>>();
#endif
    case Type::float_int:
      return pair<float, int>();
    case Type::double_int:
      return pair<double, int>();
    case Type::long_int:
      return pair<long, int>();
    case Type::int_int:
      return pair<int, int>();
    case Type::short_int:
      return pair<short, int>();
    case Type::long_double_int:
      return pair<long double, int>();
    case Type::float_float:
      return pair<float, float>();
    case Type::double_double:
      return pair<double, double>();
    default:
      return {};
  }
}

}  // namespace

std::size_t extent(Type type) noexcept { return size_of(type).extent; }

std::size_t packed_size(Type type) noexcept { return size_of(type).packed; }

}  // namespace espalier::reduce
