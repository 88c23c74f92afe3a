#include "tree/shape.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/numbers.hpp"

namespace espalier::tree {

namespace {

bool has_degree(Shape::Kind kind) { return kind == Shape::Kind::kary || kind == Shape::Kind::knomial; }

bool fits(Shape shape) {
  if (!has_degree(shape.kind)) return shape.degree == 0;
  return shape.degree >= (shape.kind == Shape::Kind::kary ? 1 : 2) && shape.degree <= max_degree;
}

std::string_view name_of(Shape::Kind kind) {
  switch (kind) {
    case Shape::Kind::flat:
      return "flat";
    case Shape::Kind::kary:
      return "kary";
    case Shape::Kind::knomial:
      return "knomial";
    case Shape::Kind::chain:
      return "chain";
  }
  return "?";
}

std::vector<int> children_in_kary(int k, int position, int n) {
  std::vector<int> children;
  long long first = static_cast<long long>(position) * k + 1;
  for (long long child = first; child < n && child < first + k; ++child)
    children.push_back(static_cast<int>(child));
  return children;
}

// In radix k a position's parent is the position without its lowest digit that is not 0. So its children add
// one digit below its own lowest; a child at stride s has s positions below it, so wide strides, served
// first, are deep subtrees.
std::vector<int> children_in_knomial(int k, int position, int n) {
  long long stride = 1;
  while (position == 0 ? stride < n : position / stride % k == 0) stride *= k;
  std::vector<int> children;
  for (stride /= k; stride >= 1; stride /= k) {
    for (int digit = 1; digit < k; ++digit) {
      long long child = position + digit * stride;
      if (child >= n) break;
      children.push_back(static_cast<int>(child));
    }
  }
  return children;
}

std::vector<int> children_of(Shape shape, int position, int n) {
  switch (shape.kind) {
    case Shape::Kind::flat:
      return position == 0 ? children_in_kary(std::max(n, 1), 0, n) : std::vector<int>{};
    case Shape::Kind::kary:
      return children_in_kary(shape.degree, position, n);
    case Shape::Kind::knomial:
      return children_in_knomial(shape.degree, position, n);
    case Shape::Kind::chain:
      return children_in_kary(1, position, n);
  }
  return {};
}

}  // namespace

std::string to_string(Shape shape) {
  if (!has_degree(shape.kind)) return std::string(name_of(shape.kind));
  return formatted("{}:{}", name_of(shape.kind), shape.degree);
}

Shape parse_shape(std::string_view text) {
  std::string_view name = text.substr(0, text.find(':'));
  for (auto kind : {Shape::Kind::flat, Shape::Kind::kary, Shape::Kind::knomial, Shape::Kind::chain}) {
    if (name != name_of(kind)) continue;
    Shape shape{kind, 0};
    if (name.size() == text.size() && !has_degree(kind)) return shape;
    if (name.size() == text.size() || !has_degree(kind)) break;
    shape.degree = parse_number<int>(text.substr(name.size() + 1)).value_or(0);
    if (fits(shape)) return shape;
  }
  throw Error(formatted("\"{}\" is not a shape; shapes are {}", text, shape_forms));
}

std::vector<std::vector<int>> children_by_position(Shape shape, Skew skew, int n) {
  if (!fits(shape))
    throw Error(formatted("a tree cannot have the shape {}; shapes are {}", to_string(shape), shape_forms));
  std::vector<std::vector<int>> children(static_cast<std::size_t>(std::max(n, 0)));
  for (int position = 0; position < n; ++position) {
    auto& own = children[static_cast<std::size_t>(position)];
    own = children_of(shape, position, n);
    if (skew == Skew::right) std::reverse(own.begin(), own.end());
  }
  return children;
}

}  // namespace espalier::tree
