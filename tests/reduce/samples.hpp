// Elements to reduce: random ones mixed with the values where operators go wrong. And comparison bit for bit,
// leaving out the bytes that carry no value.
#pragma once

#include <random>

#include "tests/reduce/reference.hpp"

namespace samples {

using Random = std::mt19937_64;
using reference::Brain;
using reference::Byte;
using reference::Cplx;
using reference::Located;
using reference::Logical;

template <class T>
T sample(Random& random, T*) {
  if constexpr (std::is_integral_v<T>) {
    using Limits = std::numeric_limits<T>;
    const T special[] = {0, 1, 2, static_cast<T>(-1), Limits::max(), Limits::min()};
    return random() % 3 ? static_cast<T>(random()) : special[random() % 6];
  } else {
    const T infinity = static_cast<T>(__builtin_inff()), nan = static_cast<T>(__builtin_nanf("0x2000"));
    const T special[] = {static_cast<T>(0.0f),
                         static_cast<T>(-0.0f),
                         infinity,
                         static_cast<T>(-infinity),
                         nan,
                         static_cast<T>(-nan),
                         static_cast<T>(1.0f),
                         static_cast<T>(65504.0f)};
    if (random() % 8 == 0) return special[random() % 8];
    return static_cast<T>((static_cast<double>(random() % 2000001) - 1e6) /
                          (1 + static_cast<double>(random() % 100000)));
  }
}
template <class T>
Cplx<T> sample(Random& random, Cplx<T>*) {
  return {sample(random, static_cast<T*>(nullptr)), sample(random, static_cast<T*>(nullptr))};
}
// Any bits half of the time: NaNs of every payload, subnormals, infinities.
inline Brain sample(Random& random, Brain*) {
  if (random() % 2) return {static_cast<std::uint16_t>(random())};
  return reference::brain_of(sample(random, static_cast<float*>(nullptr)));
}
template <class V, class I>
Located<V, I> sample(Random& random, Located<V, I>*) {  // few values and indices, for ties
  return {random() % 4 ? static_cast<V>(static_cast<int>(random() % 7) - 3)
                       : sample(random, static_cast<V*>(nullptr)),
          static_cast<I>(static_cast<int>(random() % 9) - 4)};
}
template <class T>
Logical<T> sample(Random& random, Logical<T>*) {
  return {static_cast<T>(random() % 2 ? 0 : random())};
}
inline Byte sample(Random& random, Byte*) { return {static_cast<std::uint8_t>(random())}; }

template <class T>
inline constexpr std::size_t value_bytes =
    std::is_same_v<T, long double> && std::numeric_limits<long double>::digits == 64 ? 10 : sizeof(T);

template <class T>
bool same_bits(const T& a, const T& b) {
  return std::memcmp(&a, &b, value_bytes<T>) == 0;
}
template <class T>
bool same_bits(const Cplx<T>& a, const Cplx<T>& b) {
  return same_bits(a.re, b.re) && same_bits(a.im, b.im);
}
template <class V, class I>
bool same_bits(const Located<V, I>& a, const Located<V, I>& b) {
  return same_bits(a.value, b.value) && same_bits(a.index, b.index);
}

}  // namespace samples
