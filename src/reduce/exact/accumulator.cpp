#include "reduce/exact/accumulator.hpp"

#include <bit>
#include <limits>

namespace espalier::reduce::exact {
namespace {

constexpr std::uint64_t digit_mask = 0xffffffff;
// A number adds less than 2^52 to a digit; of those below 2^32, as propagate() leaves them, after so many numbers
// none reaches 2^62.
constexpr std::int64_t most_pending = 1000;

struct Format {
  int precision;  // bits of the significand, the hidden one included
  int lowest;     // the bit of an accumulator that is the format's smallest subnormal
  int exponents;  // of the exponent's field, all ones
};
constexpr Format double_format = {53, 0, 0x7ff}, float_format = {24, 1074 - 149, 0xff};

void negate(Accumulator& a) noexcept {
  for (std::int64_t& digit : a.digit) digit = -digit;
  propagate(a);
}

// The highest bit of a sum that is not negative, whose digits are propagated; -1: it is 0.
int highest_bit(const Accumulator& a) noexcept {
  for (int i = Accumulator::digits - 1; i >= 0; --i)
    if (a.digit[i] != 0) return 32 * i + 63 - std::countl_zero(static_cast<std::uint64_t>(a.digit[i]));
  return -1;
}

bool bit(const Accumulator& a, int place) noexcept { return (a.digit[place / 32] >> place % 32 & 1) != 0; }

// Up to 53 bits from `from` on, of which no more than these are set above.
std::uint64_t bits_from(const Accumulator& a, int from) noexcept {
  const int first = from / 32, shift = from % 32;
  const auto digit = [&a](int i) {
    return i < Accumulator::digits ? static_cast<std::uint64_t>(a.digit[i]) : std::uint64_t{0};
  };
  std::uint64_t low = digit(first) >> shift;
  low |= digit(first + 1) << (32 - shift);
  return shift == 0 ? low : low | digit(first + 2) << (64 - shift);
}

bool any_below(const Accumulator& a, int place) noexcept {
  for (int i = 0; i < place / 32; ++i)
    if (a.digit[i] != 0) return true;
  return place % 32 != 0 && (a.digit[place / 32] & ((std::int64_t{1} << place % 32) - 1)) != 0;
}

// The bits of the format without the sign; `a` is above 0, and propagated.
std::uint64_t rounded(const Accumulator& a, const Format& format) noexcept {
  const int stored = format.precision - 1;
  const auto infinity = static_cast<std::uint64_t>(format.exponents) << stored;
  const int highest = highest_bit(a);
  const int last = highest - stored > format.lowest ? highest - stored : format.lowest;  // that is kept
  const int exponent = last - format.lowest + 1;
  if (exponent >= format.exponents) return infinity;
  std::uint64_t kept = bits_from(a, last);
  if (last > 0 && bit(a, last - 1) && ((kept & 1) != 0 || any_below(a, last - 1))) ++kept;
  // A subnormal has exponent 0 and no hidden bit; a carry out of the significand goes on into the exponent.
  const std::uint64_t hidden = std::uint64_t{1} << stored;
  return kept < hidden ? kept : (static_cast<std::uint64_t>(exponent) << stored) + (kept - hidden);
}

// Bits of the value in a format, its sign apart.
struct Rounded {
  std::uint64_t bits;
  bool negative;
};

Rounded value_of(const Accumulator& accumulator, const Format& format) noexcept {
  const int stored = format.precision - 1;
  const auto infinity = static_cast<std::uint64_t>(format.exponents) << stored;
  const bool up = accumulator.positive_infinities != 0, down = accumulator.negative_infinities != 0;
  if (accumulator.not_numbers != 0 || (up && down))
    return {infinity | std::uint64_t{1} << (stored - 1), false};
  if (up || down) return {infinity, down};
  Accumulator a = accumulator;
  propagate(a);
  const bool negative = a.digit[Accumulator::digits - 1] < 0;
  if (negative) negate(a);
  if (highest_bit(a) < 0) return {0, a.others == 0 && a.negative_zeros != 0};
  return {rounded(a, format), negative};
}

void add_special(Accumulator& target, std::uint64_t bits) noexcept {
  const bool negative = bits >> 63 != 0;
  target.others = 1;
  if (bits << 12 != 0)
    target.not_numbers = 1;
  else if (negative)
    target.negative_infinities = 1;
  else
    target.positive_infinities = 1;
}

}  // namespace

void propagate(Accumulator& accumulator) noexcept {
  std::int64_t carry = 0;
  for (int i = 0; i + 1 < Accumulator::digits; ++i) {
    const std::int64_t sum = accumulator.digit[i] + carry;
    accumulator.digit[i] = static_cast<std::int64_t>(static_cast<std::uint64_t>(sum) & digit_mask);
    carry = sum >> 32;
  }
  accumulator.digit[Accumulator::digits - 1] += carry;
  accumulator.pending = 0;
}

void add(Accumulator& target, double value) noexcept {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const auto exponent = static_cast<int>(bits >> 52 & 0x7ff);
  if (exponent == 0x7ff) return add_special(target, bits);
  if (bits == std::uint64_t{1} << 63) {
    target.negative_zeros = 1;
    return;
  }
  target.others = 1;
  if (target.pending >= most_pending) propagate(target);
  ++target.pending;
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << 52) - 1);
  const std::uint64_t significand = exponent == 0 ? fraction : fraction | std::uint64_t{1} << 52;
  const int place = exponent == 0 ? 0 : exponent - 1;
  const int shift = place % 32;
  const auto low = static_cast<std::int64_t>(significand << shift & digit_mask);
  const auto high = static_cast<std::int64_t>(significand >> (32 - shift));
  std::int64_t* const digit = target.digit + place / 32;
  if (bits >> 63 != 0) {
    digit[0] -= low;
    digit[1] -= high;
  } else {
    digit[0] += low;
    digit[1] += high;
  }
}

void add(Accumulator& target, const Accumulator& values) noexcept {
  Accumulator more = values;
  propagate(more);
  propagate(target);
  for (int i = 0; i < Accumulator::digits; ++i) target.digit[i] += more.digit[i];
  propagate(target);
  const auto mark = [](std::int64_t& mine, std::int64_t theirs) { mine = (mine | theirs) != 0 ? 1 : 0; };
  mark(target.positive_infinities, values.positive_infinities);
  mark(target.negative_infinities, values.negative_infinities);
  mark(target.not_numbers, values.not_numbers);
  mark(target.others, values.others);
  mark(target.negative_zeros, values.negative_zeros);
}

double to_double(const Accumulator& accumulator) noexcept {
  static_assert(std::numeric_limits<double>::is_iec559);
  const Rounded value = value_of(accumulator, double_format);
  return std::bit_cast<double>(value.bits | static_cast<std::uint64_t>(value.negative) << 63);
}

float to_float(const Accumulator& accumulator) noexcept {
  const Rounded value = value_of(accumulator, float_format);
  return std::bit_cast<float>(
      static_cast<std::uint32_t>(value.bits | static_cast<std::uint64_t>(value.negative) << 31));
}

}  // namespace espalier::reduce::exact
