#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "base/format.hpp"
#include "topology/topology.hpp"

namespace espalier::topology {

namespace {

void append(std::string& text, const Domain& domain) {
  text += formatted("({} {}", to_string(domain.level), domain.cpus.to_string());
  for (const Domain& child : domain.children) {
    text += ' ';
    append(text, child);
  }
  text += ')';
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Domain domain(int depth = 0) {
    // Real machines nest a handful of levels; the bound keeps a broken text from exhausting the stack.
    if (!take('(') || depth > 64) fail("a domain such as (core 0)");
    Domain result;
    std::string_view name = word();
    auto level = find_level(name);
    if (!level) fail("the name of a level");
    result.level = *level;
    if (!take(' ')) fail("a blank and a CPU list");
    result.cpus = CpuSet::parse(word());
    while (take(' ')) {
      Domain child = domain(depth + 1);
      if (!result.cpus.contains(child.cpus)) fail("a child within the CPUs of its parent");
      result.children.push_back(std::move(child));
    }
    if (!take(')')) fail("a blank or a closing bracket");
    return result;
  }

  std::string rest() {
    if (at_ < text_.size() && !take(' ')) fail("a blank and the source");
    return std::string(text_.substr(at_));
  }

 private:
  std::string_view word() {
    std::size_t end = std::min(text_.find_first_of(" ()", at_), text_.size());
    std::string_view result = text_.substr(at_, end - at_);
    at_ = end;
    return result;
  }

  bool take(char c) {
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  [[noreturn]] void fail(const char* wanted) const {
    throw Error(formatted(
        "topology text: column {} should have {}; hand over the text of one espalier build as it is", at_ + 1,
        wanted));
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::string print(const Topology& topology) {
  std::string text;
  append(text, topology.machine);
  if (!topology.source.empty()) text += ' ' + topology.source;
  return text;
}

Topology parse_topology(std::string_view text) {
  Reader reader(text);
  Topology result;
  result.machine = reader.domain();
  result.source = reader.rest();
  return result;
}

}  // namespace espalier::topology
