// Feeds bytes to the parser and what comes out of it to an aggregation node: nothing may crash, hang or grow
// without end. With clang a libFuzzer target; elsewhere random_main.cpp makes up the bytes.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "sharp/aggregation_node.hpp"

using namespace espalier::sharp;

namespace {

constexpr const char* tree_text =
    R"({"schema": 1, "token": "sixteen letters!", "limits": {"groups": 3, "slots": 16,
  "payload": 64, "locked_payload": 128, "members": 16, "connections": 8},
  "nodes": [{"name": "a0", "address": "h:1"}, {"name": "a1", "address": "h:2", "parent": "a0"},
            {"name": "a2", "address": "h:3", "parent": "a0"}]})";

const TreeFile& tree() {
  static const TreeFile file = parse_tree_file(tree_text, "fuzz");
  return file;
}

/// A node of the tree, with connections that say what the bytes say.
class Target {
 public:
  explicit Target(int which)
      : which_(which),
        node_(position_of(tree(), which), tree().limits, tree().token, [] { return Nonce{}; }) {
    for (Connection number = 1; number <= connections; ++number) {
      node_.accepted(number, now_);
      readers_.emplace_back(tree().limits.longest_payload());
    }
    if (which != 0) node_.reached_parent(parent, now_);
    readers_.emplace_back(tree().limits.longest_payload());
  }

  void feed(Connection from, std::span<const std::byte> bytes) {
    Reader& reader = readers_[from - 1];
    try {
      reader.feed(bytes);
      while (auto frame = reader.next()) {
        node_.received(from, std::move(*frame), now_);
        settle();
      }
    } catch (const ProtocolError&) {
      reader = Reader(tree().limits.longest_payload());
      come_again(from);
    }
    settle();
  }

  void wait(double seconds) {
    now_ += seconds;
    node_.tick(now_);
    settle();
  }

  static constexpr Connection connections = 5, parent = connections + 1;

 private:
  void come_again(Connection number) {
    node_.closed(number, now_);
    if (number != parent)
      node_.accepted(number, now_);
    else if (which_ != 0)
      node_.reached_parent(parent, now_);
  }
  void settle() {
    for (const auto& each : node_.take_output())
      if (each.close) come_again(each.to);
    if (node_.held() > tree().limits.memory || node_.groups() > tree().limits.groups ||
        node_.connections() > connections)
      std::abort();
  }

  int which_;
  AggregationNode node_;
  std::vector<Reader> readers_;
  double now_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  Target target(data[0] % 3);
  // Each piece begins with who says it and how long it is.
  for (std::size_t at = 1; at + 2 <= size;) {
    const Connection from = data[at] % (Target::connections + 1) + 1;
    const std::size_t length = std::min<std::size_t>(data[at + 1], size - at - 2);
    if (data[at] >= 250) target.wait(7);
    target.feed(from, {reinterpret_cast<const std::byte*>(data) + at + 2, length});
    at += 2 + length;
  }
  return 0;
}
