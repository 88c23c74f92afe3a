#include "tree/contiguous.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/format.hpp"

namespace espalier::tree {

namespace {

// Ranks first .. first + size - 1.
struct Range {
  int first;
  int size;
};

// Cuts a range into parts whose sizes differ by at most one; none is empty.
std::vector<Range> cut(Range range, int parts) {
  std::vector<Range> result;
  parts = std::min(parts, range.size);
  for (int part = 0, first = range.first; part < parts; ++part) {
    int size = range.size / parts + (part < range.size % parts ? 1 : 0);
    result.push_back({first, size});
    first += size;
  }
  return result;
}

// How many of the `fan_out` children go to the left of a rank with so many ranks on either side: each goes
// where the parts are still largest.
int children_on_the_left(int left, int right, int fan_out) {
  int of_left = left > 0, of_right = right > 0;
  auto part = [](int ranks, int parts) { return parts == 0 ? 0 : (ranks + parts - 1) / parts; };
  while (of_left + of_right < fan_out) {
    (part(left, of_left) > part(right, of_right) ? of_left : of_right) += 1;
  }
  return of_left;
}

class Builder {
 public:
  Builder(int n, int root, int fan_out)
      : fan_out_(fan_out), result_{unconnected(n, root), std::vector<int>(static_cast<std::size_t>(n), 0)} {}

  ContiguousTree build() {
    int root = result_.tree.root, n = result_.tree.size();
    serve({0, n}, root, children_on_the_left(root, n - 1 - root, fan_out_));
    return std::move(result_);
  }

 private:
  // Makes `head` the parent of all others in the range, by way of one child per part.
  void serve(Range range, int head, int parts_on_the_left) {
    Range below{range.first, head - range.first};
    Range above{head + 1, range.size - below.size - 1};
    auto parts = cut(below, parts_on_the_left);
    result_.left[static_cast<std::size_t>(head)] = static_cast<int>(parts.size());
    for (Range part : cut(above, fan_out_ - parts_on_the_left)) parts.push_back(part);
    for (Range part : parts) attach(result_.tree, head, head_of(part));
    for (Range part : parts) serve(part, head_of(part), fan_out_ / 2);
  }

  // The rank that leaves fan_out / 2 of fan_out equal parts below itself.
  int head_of(Range range) const {
    auto parts = cut({range.first, range.size - 1}, fan_out_);
    auto before = std::min(static_cast<std::size_t>(fan_out_ / 2), parts.size());
    return before == 0 ? range.first : parts[before - 1].first + parts[before - 1].size;
  }

  int fan_out_;
  ContiguousTree result_;
};

}  // namespace

ContiguousTree contiguous(int n, int root, int fan_out) {
  if (n < 1 || root < 0 || root >= n)
    throw Error(formatted("a tree over {} ranks cannot have the root {}", n, root));
  if (fan_out < 2)
    throw Error(formatted("a tree in rank order needs a fan-out of at least 2, not {}", fan_out));
  return Builder(n, root, fan_out).build();
}

}  // namespace espalier::tree
