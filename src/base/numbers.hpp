// Numbers in text.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>

namespace espalier {

/// Reads a whole word as a number in decimal notation. Returns nothing for an empty word, for characters
/// other than digits and a minus sign, and for a number out of range.
template <class Number>
std::optional<Number> parse_number(std::string_view word) {
  Number value{};
  const char* const end = word.data() + word.size();
  const auto read = std::from_chars(word.data(), end, value);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return value;
}

}  // namespace espalier
