// The file that lists the aggregation nodes and the parent of each.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sharp/limits.hpp"

namespace espalier::sharp {

struct TreeNode {
  std::string name, host, port;
  int parent = -1;                    ///< index; -1: the root
  std::vector<int> children;          ///< in the order of the file
  int first_leaf = 0, last_leaf = 0;  ///< it covers the leaves [first_leaf, last_leaf)
};

/// Immutable. Leaves, the nodes that processes connect to, are numbered from left to right.
struct TreeFile {
  std::string token;  ///< the secret that both ends of each connection must know
  Limits limits;
  std::vector<TreeNode> nodes;
  std::vector<int> leaves;  ///< their indices

  int root() const;
  int find(std::string_view name) const;  ///< -1: there is none
};

/// The members of a group go to the leaves in contiguous blocks, so that a fold over the leaves from left to
/// right is in rank order: the first member of a leaf, and the leaf of a member.
std::uint32_t first_member(std::uint32_t leaf, std::uint32_t members, std::uint32_t leaves);
std::uint32_t leaf_of(std::uint32_t member, std::uint32_t members, std::uint32_t leaves);

/// {"schema": 1, "token": "...", "limits": {"groups": 32, ...}, "nodes": [{"name", "address": "host:port",
/// "parent"}]} Throws Error that names `file` for everything else: no token, two roots, cycles, limits out of
/// range.
TreeFile parse_tree_file(std::string_view text, const std::string& file);
/// The text of such a file. Throws Error for one that other users may read or write: it holds the token.
std::string read_tree_text(const std::string& path);
/// read_tree_text(), then parse_tree_file().
TreeFile read_tree_file(const std::string& path);

}  // namespace espalier::sharp
