// Numbers in text.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>

namespace espalier {

/// The number that a whole word is, in decimal notation; nothing for an empty word, or with anything beside the digits
/// and the sign.
template <class Number>
std::optional<Number> parse_number(std::string_view word) {
  Number value{};
  const char* const end = word.data() + word.size();
  const auto read = std::from_chars(word.data(), end, value);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return value;
}

}  // namespace espalier
