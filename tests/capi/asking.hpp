// Asks the library what `espalier explain` asks it.
#pragma once

#include <concepts>
#include <cstdlib>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "espalier/describe.h"
#include "tests/memory/children.hpp"

namespace espalier::testing {

inline nlohmann::json ask(const std::string& request) {
  char* text = espalier_describe(request.c_str());
  nlohmann::json answer = nlohmann::json::parse(text);
  espalier_free(text);
  return answer;
}

// Text converts to JSON by itself, so this takes nothing but JSON.
inline nlohmann::json ask(const std::same_as<nlohmann::json> auto& request) { return ask(request.dump()); }

/// In a process of its own: the configuration is read once.
template <class Body>
void in_child(std::initializer_list<std::pair<const char*, std::string>> environment, Body body) {
  const pid_t child = fork_child([&] {
    for (const auto& [key, value] : environment) setenv(key, value.c_str(), 1);
    body();
    return 0;
  });
  EXPECT_EQ(end_of(child), 0);
}

}  // namespace espalier::testing
