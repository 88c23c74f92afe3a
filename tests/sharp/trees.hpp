// Trees for tests.
#pragma once

#include <string>

#include "base/format.hpp"
#include "sharp/tree_file.hpp"

namespace espalier::sharp {

inline constexpr const char* test_token = "a token that only these tests know";

/// A root with `leaves` leaves below it; one leaf: the root alone. Ports from `port` on.
inline std::string tree_text(int leaves, const std::string& limits = "{}", int port = 1) {
  std::string nodes = formatted(R"({{"name": "a0", "address": "127.0.0.1:{}"}})", port);
  for (int leaf = 1; leaves > 1 && leaf <= leaves; ++leaf)
    nodes +=
        formatted(R"(, {{"name": "a{}", "address": "127.0.0.1:{}", "parent": "a0"}})", leaf, port + leaf);
  return formatted(R"({{"schema": 1, "token": "{}", "limits": {}, "nodes": [{}]}})", test_token, limits,
                   nodes);
}

}  // namespace espalier::sharp
