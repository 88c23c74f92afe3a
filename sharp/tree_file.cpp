#include "sharp/tree_file.hpp"

#include <sys/stat.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/format.hpp"

namespace espalier::sharp {
namespace {

using nlohmann::json;

constexpr int most_nodes = 4096;
constexpr std::size_t shortest_token = 16, longest_token = 256, longest_name = 255;

class TreeReader {
 public:
  TreeReader(const json& document, const std::string& file) : document_(document), file_(file) {}

  TreeFile read() {
    if (!document_.is_object() || document_.value("schema", json()) != 1)
      fail("is no aggregation tree of \"schema\": 1");
    read_token();
    if (document_.contains("limits")) read_limits(document_["limits"]);
    read_nodes();
    number_leaves(tree_.root(), 0);
    return std::move(tree_);
  }

 private:
  [[noreturn]] void fail(const std::string& problem) const {
    throw Error(formatted("{}: {}; `espalier aggregate` writes such a file", file_, problem));
  }

  std::string text(const json& object, const char* key) const {
    const json& value = object.value(key, json());
    if (!value.is_string() || value.get<std::string>().empty())
      fail(formatted("\"{}\" is missing or no text", key));
    return value;
  }

  void read_token() {
    tree_.token = text(document_, "token");
    if (tree_.token.size() < shortest_token || tree_.token.size() > longest_token)
      fail(formatted("\"token\" must have {} to {} characters", shortest_token, longest_token));
  }

  template <class Number>
  void take(const json& limits, const char* key, Number& into, std::uint64_t least,
            std::uint64_t most) const {
    if (!limits.contains(key)) return;
    const json& value = limits[key];
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() < least ||
        value.get<std::uint64_t>() > most)
      fail(formatted("\"{}\" is {}; it may be a number from {} to {}", key, value.dump(), least, most));
    into = value.get<Number>();
  }

  void read_limits(const json& limits) {
    constexpr std::uint64_t longest = 16 << 20;  // bounds what one frame may make a node hold
    Limits& l = tree_.limits;
    take(limits, "groups", l.groups, 0, 65536);
    take(limits, "slots", l.slots, 0, 1 << 20);
    take(limits, "slots_per_group", l.slots_per_group, 1, 1024);
    take(limits, "payload", l.payload, 64, longest);
    take(limits, "locked_payload", l.locked_payload, 0, longest);
    take(limits, "members", l.members, 1, 1 << 24);
    take(limits, "connections", l.connections, 1, 65536);
    take(limits, "join_seconds", l.join_seconds, 1, 3600);
    take(limits, "silence_seconds", l.silence_seconds, 1, 3600);
    take(limits, "memory", l.memory, 1 << 20, std::uint64_t{1} << 40);
    take(limits, "types", l.types, 0, 0xdff);
    take(limits, "ops", l.ops, 0, 0x3ff);
  }

  void read_nodes() {
    const json& nodes = document_.value("nodes", json());
    if (!nodes.is_array() || nodes.empty() || nodes.size() > most_nodes)
      fail(formatted("\"nodes\" must list 1 to {} aggregation nodes", most_nodes));
    for (const json& node : nodes) read_node(node);
    for (std::size_t i = 0; i < nodes.size(); ++i) find_parent(nodes[i], static_cast<int>(i));
    check_shape();
  }

  void read_node(const json& object) {
    if (!object.is_object()) fail("\"nodes\" holds something that is no object");
    TreeNode node;
    node.name = text(object, "name");
    if (node.name.size() > longest_name)
      fail(formatted("the name of a node has more than {} characters", longest_name));
    if (tree_.find(node.name) >= 0) fail(formatted("two nodes are called {}", node.name));
    const std::string address = text(object, "address");
    const std::size_t colon = address.rfind(':');
    if (colon == std::string::npos || colon == 0 || colon + 1 == address.size())
      fail(formatted("the \"address\" {} of node {} is not host:port", address, node.name));
    node.host = address.substr(0, colon);
    node.port = address.substr(colon + 1);
    tree_.nodes.push_back(std::move(node));
  }

  void find_parent(const json& object, int index) {
    const json& parent = object.value("parent", json());
    if (parent.is_null()) return;
    const int found = parent.is_string() ? tree_.find(parent.get<std::string>()) : -1;
    if (found < 0) fail(formatted("the parent {} is no node of this file", parent.dump()));
    tree_.nodes[static_cast<std::size_t>(index)].parent = found;
    tree_.nodes[static_cast<std::size_t>(found)].children.push_back(index);
  }

  void check_shape() const {
    int roots = 0;
    for (const TreeNode& node : tree_.nodes) roots += node.parent < 0;
    if (roots != 1) fail(formatted("{} nodes have no parent; a tree has one root", roots));
    for (std::size_t i = 0; i < tree_.nodes.size(); ++i) {
      int up = static_cast<int>(i);
      for (std::size_t steps = 0; up >= 0; ++steps, up = tree_.nodes[static_cast<std::size_t>(up)].parent)
        if (steps > tree_.nodes.size()) fail(formatted("node {} is above itself", tree_.nodes[i].name));
    }
  }

  int number_leaves(int index, int next) {
    TreeNode& node = tree_.nodes[static_cast<std::size_t>(index)];
    node.first_leaf = next;
    if (node.children.empty()) {
      tree_.leaves.push_back(index);
      ++next;
    }
    for (const int child : node.children) next = number_leaves(child, next);
    node.last_leaf = next;
    return next;
  }

  const json& document_;
  const std::string& file_;
  TreeFile tree_;
};

}  // namespace

int TreeFile::root() const {
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (nodes[i].parent < 0) return static_cast<int>(i);
  return -1;
}

int TreeFile::find(std::string_view name) const {
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (nodes[i].name == name) return static_cast<int>(i);
  return -1;
}

std::uint32_t first_member(std::uint32_t leaf, std::uint32_t members, std::uint32_t leaves) {
  return static_cast<std::uint32_t>(std::uint64_t{leaf} * members / leaves);
}

std::uint32_t leaf_of(std::uint32_t member, std::uint32_t members, std::uint32_t leaves) {
  return static_cast<std::uint32_t>(((std::uint64_t{member} + 1) * leaves - 1) / members);
}

TreeFile parse_tree_file(std::string_view text, const std::string& file) {
  json document;
  try {
    document = json::parse(text);
  } catch (const json::exception& error) {
    throw Error(formatted("{}: not JSON: {}", file, error.what()));
  }
  return TreeReader(document, file).read();
}

std::string read_tree_text(const std::string& path) {
  struct stat about;
  std::string why;
  auto text = read_file(path, why);
  if (!text || stat(path.c_str(), &about) != 0)
    throw Error(
        formatted("cannot read the aggregation tree {}: {}; ESPALIER_AGGREGATION names it", path, why));
  if ((about.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    throw Error(
        formatted("{} holds a token, and others than its owner may use it: chmod 600 {}", path, path));
  return *std::move(text);
}

TreeFile read_tree_file(const std::string& path) { return parse_tree_file(read_tree_text(path), path); }

}  // namespace espalier::sharp
