// Operands that are hard to add.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace exact_operands {

/// Random ones of several kinds, by number.
template <class T>
class Source {
 public:
  static constexpr int kinds = 9;
  explicit Source(unsigned seed) : random_(seed) {}

  std::vector<T> make(int kind, std::size_t count) {
    std::vector<T> operands(count);
    for (T& each : operands) each = one(kind);
    if (kind == 1 || kind == 2) cancel(operands);
    if (kind == 6) halfway(operands);
    std::shuffle(operands.begin(), operands.end(), random_);
    return operands;
  }

 private:
  using Limits = std::numeric_limits<T>;

  T one(int kind) {
    switch (kind) {
      case 0:  // of one size
        return scaled(0, 0);
      case 3:  // subnormals, and what is near to them
        return scaled(Limits::min_exponent - Limits::digits, Limits::min_exponent + 3);
      case 4:  // near to the largest
        return scaled(Limits::max_exponent - 2, Limits::max_exponent);
      case 5:  // small integers, whose sums are exact or ties
        return static_cast<T>(static_cast<int>(random_() % 9) - 4);
      case 7:
        return special();
      case 8:  // zeros
        return random_() % 4 == 0 ? T(0) : -T(0);
      default:  // of all sizes
        return scaled(Limits::min_exponent - Limits::digits, Limits::max_exponent);
    }
  }

  T scaled(int lowest, int highest) {
    const T significand = std::uniform_real_distribution<T>(T(-1), T(1))(random_);
    return std::ldexp(significand, std::uniform_int_distribution<int>(lowest, highest)(random_));
  }

  T special() {
    switch (random_() % 12) {
      case 0:
        return Limits::infinity();
      case 1:
        return -Limits::infinity();
      case 2:
        return random_() % 2 ? Limits::quiet_NaN() : -Limits::quiet_NaN();
      default:
        return scaled(-3, 3);
    }
  }

  /// Pairs that take each other away, and something small that is left.
  void cancel(std::vector<T>& operands) {
    for (std::size_t i = 0; i + 2 < operands.size(); i += 2) operands[i + 1] = -operands[i];
    if (operands.size() > 1) operands.back() = scaled(Limits::min_exponent - Limits::digits, 0);
  }

  /// Half a unit beside a number, and something that is far smaller, or nothing.
  void halfway(std::vector<T>& operands) {
    std::fill(operands.begin(), operands.end(), T(0));
    const T number = scaled(-20, 20);
    operands[0] = number;
    if (operands.size() < 2) return;
    const T next = std::nextafter(number, random_() % 2 ? Limits::infinity() : -Limits::infinity());
    operands[1] = (next - number) / 2;
    if (operands.size() < 3) return;
    const T tiny = random_() % 2 ? Limits::denorm_min() : std::ldexp(number, -Limits::digits - 30);
    operands[2] = static_cast<T>(static_cast<int>(random_() % 3) - 1) * tiny;
  }

  std::mt19937 random_;
};

}  // namespace exact_operands
