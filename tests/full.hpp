// Whether `make test-full` runs.
#pragma once

#include <cstdlib>
#include <string_view>

namespace espalier::testing {

inline bool full() {
  const char* text = std::getenv("ESPALIER_TEST_FULL");
  return text && std::string_view(text) == "1";
}

}  // namespace espalier::testing
