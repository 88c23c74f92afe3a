// Reads groups in brackets.
#include <algorithm>
#include <string>

#include "base/error.hpp"
#include "base/format.hpp"
#include "topology/topology.hpp"
#include "tree/levels.hpp"

namespace espalier::tree {
namespace {

using topology::Group;

constexpr int deepest = 64;

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Group read() {
    skip_spaces();
    Group group = read_group(0, topology::Level::machine);
    if (at_ != text_.size()) fail("the end");
    return group;
  }

 private:
  Group read_group(int depth, topology::Level level) {
    Group group{level, {}, {}, {}};
    read_levels(group);
    if (depth == deepest || !take('(')) fail("'('");
    while (!take(')')) {
      if (at_ < text_.size() && (text_[at_] == '(' || is_letter()))
        group.groups.push_back(read_group(depth + 1, topology::Level::virtual_domain));
      else
        group.ranks.push_back(read_rank());
    }
    if (group.groups.empty() && group.ranks.empty()) fail("a group that is not empty");
    return group;
  }

  bool is_letter() const { return at_ < text_.size() && text_[at_] >= 'a' && text_[at_] <= 'z'; }

  // "l3" or "l3/package", from the inside out.
  void read_levels(Group& group) {
    for (bool first = true; is_letter(); first = false) {
      const std::size_t end = std::min(text_.find_first_of("/( )", at_), text_.size());
      const auto level = topology::find_level(text_.substr(at_, end - at_));
      if (!level) fail("a level's name, '(' or a rank");
      if (first)
        group.level = *level;
      else
        group.outer.push_back(*level);
      at_ = end;
      if (at_ < text_.size() && text_[at_] == '/') ++at_;
    }
  }

  int read_rank() {
    constexpr int most_digits = 8;
    const std::size_t begin = at_;
    int rank = 0;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9' && at_ - begin < most_digits)
      rank = rank * 10 + (text_[at_++] - '0');
    if (at_ == begin) fail("a rank, '(' or ')'");
    if (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') fail("a smaller rank");
    skip_spaces();
    return rank;
  }

  bool take(char wanted) {
    if (at_ == text_.size() || text_[at_] != wanted) return false;
    ++at_;
    skip_spaces();
    return true;
  }

  void skip_spaces() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }

  [[noreturn]] void fail(const char* wanted) const {
    throw Error(formatted("groups \"{}\": need {} at column {}", text_, wanted, at_ + 1));
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

Group parse_some_groups(std::string_view text) { return Reader(text).read(); }

Group parse_groups(std::string_view text, int size) {
  Group group = parse_some_groups(text);
  const std::vector<int> ranks = topology::members(group);
  for (int rank = 0; rank < size; ++rank)
    if (std::count(ranks.begin(), ranks.end(), rank) != 1)
      throw Error(formatted("groups \"{}\": rank {} is missing, or comes twice", text, rank));
  if (ranks.size() != static_cast<std::size_t>(size))
    throw Error(formatted("groups \"{}\": the ranks are 0 to {}", text, size - 1));
  return group;
}

}  // namespace espalier::tree
