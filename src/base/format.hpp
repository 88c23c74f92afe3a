// Text by fmt's format strings. Only format.cpp holds fmt's own code, which would cost every file that
// formats something seconds to compile.
#pragma once

#include <fmt/core.h>

#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

#include "base/printable.hpp"

namespace espalier {

std::string formatted_with(fmt::string_view format, fmt::format_args values);

/// `format` with its values put in; it is checked at compile time. Values are numbers, characters, strings
/// and pointers.
template <class... Values>
std::string formatted(fmt::format_string<Values...> format, Values&&... values) {
  return formatted_with(format, fmt::make_format_args(values...));
}

/// Prints at once, so that lines of several processes do not mix; as printable_lines() has it, since values
/// may come from outside.
template <class... Values>
void print_to(std::FILE* file, fmt::format_string<Values...> format, Values&&... values) {
  std::fputs(printable_lines(formatted_with(format, fmt::make_format_args(values...))).c_str(), file);
}

/// The elements with `separator` between them.
template <class Range>
std::string joined(const Range& range, std::string_view separator) {
  std::string text;
  for (bool first = true; const auto& element : range) {
    if (!std::exchange(first, false)) text += separator;
    text += formatted("{}", element);
  }
  return text;
}

}  // namespace espalier
