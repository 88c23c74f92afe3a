// Lines of a rules table: the JSON library parses, but does not say where a value stood.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace espalier::plan {

/// Where one element of "rules" stands and how it is written.
struct RulePosition {
  int line = 0;
  std::string text;
  std::map<std::string, int> keys;  ///< line of each key
  int line_of(const std::string& key) const {
    const auto found = keys.find(key);
    return found == keys.end() ? line : found->second;
  }
};

/// The elements of the array "rules" of a text that is known to be valid JSON, in order.
std::vector<RulePosition> rule_positions(std::string_view text);

/// The line of a byte offset, from 1.
int line_at(std::string_view text, std::size_t offset);
/// The line on which a key first stands, 1 when it does not.
int line_of_key(std::string_view text, const std::string& key);
/// The line on which the text stands that a message of the JSON library has in quotes ('1e999'), 1 when there
/// is none.
int line_of_quoted(std::string_view text, std::string_view message);
/// The library's message without its own prefix.
std::string plain_parse_error(std::string_view message);

}  // namespace espalier::plan
