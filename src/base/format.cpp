#define FMT_HEADER_ONLY  // fmt's code lies here, and in no shared library that a program would have to find
#include "base/format.hpp"

#include <fmt/format.h>

namespace espalier {

std::string formatted_with(fmt::string_view format, fmt::format_args values) {
  return fmt::vformat(format, values);
}

}  // namespace espalier
