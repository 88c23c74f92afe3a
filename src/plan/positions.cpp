#include "plan/positions.hpp"

#include <algorithm>

namespace espalier::plan {
namespace {

/// Walks over valid JSON text, keeping count of depth and line; strings are seen whole.
class Walker {
 public:
  explicit Walker(std::string_view text) : text_(text) {}

  std::vector<RulePosition> rules() {
    for (; at_ < text_.size(); ++at_) step(text_[at_]);
    return std::move(rules_);
  }

 private:
  // Depth 1 is the table, 2 the array "rules", 3 inside a rule.
  void step(char c) {
    if (c == '\n')
      ++line_;
    else if (c == '"')
      take_string();
    else if (c == '{' || c == '[')
      open();
    else if (c == '}' || c == ']')
      close();
  }

  void open() {
    ++depth_;
    if (depth_ == 2) in_rules_ = text_[at_] == '[' && last_string_ == "rules";
    if (depth_ == 3 && in_rules_) {
      start_ = at_;
      rules_.push_back({line_, "", {}});
    }
  }

  void close() {
    if (depth_ == 3 && in_rules_) rules_.back().text = std::string(text_.substr(start_, at_ - start_ + 1));
    --depth_;
  }

  void take_string() {
    const std::size_t begin = ++at_;
    while (text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    last_string_ = std::string(text_.substr(begin, at_ - begin));
    const std::size_t next = text_.find_first_not_of(" \t\r\n", at_ + 1);
    const bool is_key = next != std::string_view::npos && text_[next] == ':';
    if (is_key && depth_ == 3 && in_rules_) rules_.back().keys.emplace(last_string_, line_);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t start_ = 0;
  int depth_ = 0;
  int line_ = 1;
  bool in_rules_ = false;
  std::string last_string_;
  std::vector<RulePosition> rules_;
};

}  // namespace

std::vector<RulePosition> rule_positions(std::string_view text) { return Walker(text).rules(); }

int line_at(std::string_view text, std::size_t offset) {
  return 1 + static_cast<int>(std::count(
                 text.begin(), text.begin() + static_cast<long>(std::min(offset, text.size())), '\n'));
}

int line_of_key(std::string_view text, const std::string& key) {
  const auto found = text.find('"' + key + '"');
  return found == std::string_view::npos ? 1 : line_at(text, found);
}

int line_of_quoted(std::string_view text, std::string_view message) {
  const auto first = message.find('\''), last = message.rfind('\'');
  if (first == last) return 1;
  const auto found = text.find(message.substr(first + 1, last - first - 1));
  return found == std::string_view::npos ? 1 : line_at(text, found);
}

std::string plain_parse_error(std::string_view message) {
  const auto colon = message.find(": ");
  return std::string(colon == std::string_view::npos ? message : message.substr(colon + 2));
}

}  // namespace espalier::plan
