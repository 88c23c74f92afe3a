// Reads and prints the text of a tree spec.
#include "tree/spec.hpp"

#include <algorithm>
#include <set>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/numbers.hpp"

namespace espalier::tree {

using topology::Level;

namespace {

constexpr std::array hardware_levels = {Level::core, Level::l2, Level::l3, Level::numa, Level::package};

class SpecReader {
 public:
  explicit SpecReader(std::string_view text) : text_(text) {}

  Spec read() {
    constexpr std::string_view blanks = " \t\n";
    for (std::size_t end = 0; (start_ = text_.find_first_not_of(blanks, end)) != std::string_view::npos;) {
      end = std::min(text_.find_first_of(blanks, start_), text_.size());
      word_ = text_.substr(start_, end - start_);
      read_word();
    }
    return spec_;
  }

 private:
  void read_word() {
    std::size_t equals = word_.find('=');
    if (equals == std::string_view::npos) {
      once("");
      spec_.shape = shape(word_, formatted("a shape ({}) or key=value", shape_forms));
      return;
    }
    std::string_view key = word_.substr(0, equals), value = word_.substr(equals + 1);
    if (key == "leaders") {
      once(key);
      spec_.leaders = either(value, "first", "last") ? Leaders::first : Leaders::last;
    } else if (key == "skew") {
      once(key);
      spec_.skew = either(value, "left", "right") ? Skew::left : Skew::right;
    } else if (key == "levels") {
      once(key);
      read_levels(value);
    } else if (auto degree = parse_number<int>(value); key == "virtual" && degree) {
      once("virtual degree");
      if (*degree != 0 && (*degree < 2 || *degree > max_degree))
        refuse("virtual=N with N from 2, or 0 for none");
      spec_.virtual_degree = *degree;
    } else if (auto level = topology::find_level(key)) {
      once(topology::to_string(*level));
      spec_.at(*level) = shape(value, formatted("{}= and a shape ({}{})", key, shape_forms,
                                                key == "virtual" ? "), or a number of domains (from 2" : ""));
    } else {
      refuse(
          "a level (core, l2, l3, numa, package or socket, machine, virtual), levels, leaders or skew before "
          "the =");
    }
  }

  void read_levels(std::string_view list) {
    spec_.levels.emplace();
    if (list == "none") return;
    while (true) {
      std::size_t comma = std::min(list.find(','), list.size());
      auto level = topology::find_level(list.substr(0, comma));
      if (!level ||
          std::find(hardware_levels.begin(), hardware_levels.end(), *level) == hardware_levels.end()) {
        refuse("levels=none, or some of core, l2, l3, numa, package (or socket) with commas between");
      }
      spec_.levels->push_back(*level);
      if (comma == list.size()) break;
      list.remove_prefix(comma + 1);
    }
    std::sort(spec_.levels->begin(), spec_.levels->end());
    spec_.levels->erase(std::unique(spec_.levels->begin(), spec_.levels->end()), spec_.levels->end());
  }

  Shape shape(std::string_view text, const std::string& allowed) {
    try {
      return parse_shape(text);
    } catch (const Error&) {
      refuse(allowed);
    }
  }

  /// Whether `value` is the first of the two allowed words.
  bool either(std::string_view value, std::string_view one, std::string_view other) {
    if (value != one && value != other) refuse(formatted("{} or {} after the =", one, other));
    return value == one;
  }

  /// Refuses a setting that the text has had before.
  void once(std::string_view what) {
    if (!seen_.insert(what).second) refuse("each setting once");
  }

  [[noreturn]] void refuse(std::string_view allowed) const {
    throw Error(formatted("tree \"{}\": cannot read \"{}\" at column {}; allowed there: {}", text_, word_,
                          start_ + 1, allowed));
  }

  std::string_view text_;
  std::string_view word_;
  std::size_t start_ = 0;
  std::set<std::string_view> seen_;
  Spec spec_;
};

}  // namespace

Shape Spec::shape_of(const topology::Group& group) const {
  for (Level level : topology::levels_of(group)) {
    if (at(level)) return *at(level);
  }
  return shape;
}

std::string to_string(const Spec& spec) {
  std::vector<std::string> words;
  if (spec.shape != Shape{}) words.push_back(to_string(spec.shape));
  for (Level level : topology::all_levels) {
    if (spec.at(level))
      words.push_back(formatted("{}={}", topology::to_string(level), to_string(*spec.at(level))));
  }
  if (spec.virtual_degree != 0) words.push_back(formatted("virtual={}", spec.virtual_degree));
  if (spec.levels) {
    std::string names;
    for (Level level : *spec.levels)
      names.append(names.empty() ? "" : ",").append(topology::to_string(level));
    words.push_back("levels=" + (names.empty() ? "none" : names));
  }
  if (spec.leaders == Leaders::last) words.push_back("leaders=last");
  if (spec.skew == Skew::right) words.push_back("skew=right");
  std::string text;
  for (const std::string& word : words) text.append(text.empty() ? "" : " ").append(word);
  return text.empty() ? "flat" : text;
}

Spec parse_spec(std::string_view text) { return SpecReader(text).read(); }

}  // namespace espalier::tree
