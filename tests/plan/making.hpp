// What the tests of plan/ make up: tables and rules from text, and a wire whose times are easy to add.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <vector>

#include "plan/cost/parameters.hpp"
#include "plan/rules.hpp"
#include "plan/selector.hpp"

namespace espalier::testing {

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// The table of a process with these entries ("ESPALIER_RULES=file") in its environment.
inline plan::Table table_of(std::initializer_list<std::string> entries) {
  std::vector<const char*> list;
  for (const std::string& entry : entries) list.push_back(entry.c_str());
  list.push_back(nullptr);
  return plan::Table(Config(list.data()));
}

/// The rules of a file that calls for no warning.
inline std::vector<plan::Rule> parse_file(const std::string& text) {
  std::vector<std::string> warnings;
  auto rules = plan::parse_rules(text, "t.json", warnings);
  EXPECT_TRUE(warnings.empty()) << warnings.front();
  return rules;
}

// A message of b bytes takes 120 + 2b, the next may follow after 40; folding a byte 1, copying it 0.5.
constexpr plan::Wire wire = {100, 10, 40, 2, 1, 0.5};

}  // namespace espalier::testing
