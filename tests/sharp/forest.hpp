// A whole aggregation tree in one process without sockets: frames travel along links in any order that keeps
// each link's.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include "sharp/aggregation_node.hpp"
#include "tests/sharp/trees.hpp"

namespace espalier::sharp {

/// Ends are numbered: first the tree's nodes, then processes. A link has two of them and a queue each way.
class Forest {
 public:
  static constexpr std::uint64_t job = 77;

  explicit Forest(const TreeFile& tree, unsigned seed = 0) : tree_(tree), random_(seed) {
    for (std::size_t i = 0; i < tree.nodes.size(); ++i)
      nodes_.push_back(
          std::make_unique<AggregationNode>(position_of(tree, static_cast<int>(i)), tree.limits, tree.token));
    for (std::size_t i = 0; i < tree.nodes.size(); ++i)
      if (tree.nodes[i].parent >= 0) connect_up(i);
    settle();
  }

  AggregationNode& node(std::size_t index) { return *nodes_[index]; }
  void connect_up(std::size_t child) {
    const auto parent = static_cast<std::size_t>(tree_.nodes[child].parent);
    const Connection number = link(parent, child);
    nodes_[parent]->accepted(number, now);
    nodes_[child]->reached_parent(number, now);
  }

  /// A process connected to a leaf, which has said hello.
  struct Process {
    Connection number;
    std::vector<Frame> heard;
    bool is_cut = false;
  };
  std::size_t add_process(std::size_t leaf, const std::string& token = test_token) {
    const auto node = static_cast<std::size_t>(tree_.leaves[leaf]);
    processes_.emplace_back();
    const std::size_t index = processes_.size() - 1;
    processes_.back().number = link(node, nodes_.size() + index);
    nodes_[node]->accepted(processes_.back().number, now);
    introduce(node, processes_.back().number, token);
    return index;
  }
  Process& process(std::size_t index) { return processes_[index]; }
  void say(std::size_t process, const Frame& frame) {
    links_.at(processes_[process].number).up.push_back(frame);
  }

  /// Members 0 to n - 1 of a new group, at the leaves where they belong. Returns their processes.
  std::vector<std::size_t> join(std::uint32_t n, std::uint64_t group, std::uint16_t flags = 0) {
    std::vector<std::size_t> members;
    for (std::uint32_t rank = 0; rank < n; ++rank)
      members.push_back(add_process(leaf_of(rank, n, static_cast<std::uint32_t>(tree_.leaves.size()))));
    for (std::uint32_t rank = 0; rank < n; ++rank) say(members[rank], join_frame(n, rank, group, flags));
    settle();
    return members;
  }
  static Frame join_frame(std::uint32_t n, std::uint32_t rank, std::uint64_t group, std::uint16_t flags = 0) {
    Frame frame;
    frame.kind = Kind::join;
    frame.job = job;
    frame.group = group;
    frame.rank = rank;
    frame.size = n;
    frame.flags = flags;
    return frame;
  }

  /// The last thing of this kind that a process has heard.
  std::optional<Frame> heard(std::size_t process, Kind kind) const {
    const auto& all = processes_[process].heard;
    for (auto frame = all.rbegin(); frame != all.rend(); ++frame)
      if (frame->kind == kind) return *frame;
    return std::nullopt;
  }

  void cut(Connection number) {
    const auto found = links_.find(number);
    if (found == links_.end()) return;
    const Link gone = found->second;
    links_.erase(found);
    nodes_[gone.above]->closed(number, now);
    if (gone.below < nodes_.size())
      nodes_[gone.below]->closed(number, now);
    else
      processes_[gone.below - nodes_.size()].is_cut = true;
    collect();
  }
  void cut_process(std::size_t process) { cut(processes_[process].number); }
  Connection link_above(std::size_t node) const {
    for (const auto& [number, link] : links_)
      if (link.below == node) return number;
    return no_connection;
  }

  /// Until nothing is under way.
  void settle() {
    for (collect(); deliver_one(); collect()) {
    }
  }
  /// In steps of a second, so that no rank is silent for long.
  void tick(Seconds later) {
    for (; later > 0; later -= 1) {
      now += 1;
      for (auto& node : nodes_) node->tick(now);
      settle();
    }
  }

  Seconds now = 100;

 private:
  /// The hello is heard at once; the proof is on its way.
  void introduce(std::size_t node, Connection number, const std::string& token) {
    const Introduction introduction(token, tree_.nodes[node].name, "", job, 0, random_nonce());
    nodes_[node]->received(number, introduction.hello(), now);
    collect();
    auto& heard = links_.at(number).down;
    Frame made_up;  // of one that does not know the token
    made_up.kind = Kind::proof;
    made_up.payload.resize(sizeof(Digest));
    links_.at(number).up.push_back(introduction.answer(heard.front()).value_or(made_up));
    heard.pop_front();
  }
  struct Link {
    std::size_t above, below;
    std::deque<Frame> up, down;
  };
  Connection link(std::size_t above, std::size_t below) {
    links_[++last_] = {above, below, {}, {}};
    return last_;
  }
  void collect() {
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      for (const AggregationNode::Output& each : nodes_[i]->take_output()) {
        if (each.close) {
          drain(each.to);
          cut(each.to);
          continue;
        }
        const auto found = links_.find(each.to);
        if (found != links_.end())
          (found->second.above == i ? found->second.down : found->second.up).push_back(each.frame);
      }
  }
  // What was sent before a connection is closed arrives, at processes.
  void drain(Connection number) {
    const auto found = links_.find(number);
    if (found == links_.end() || found->second.below < nodes_.size()) return;
    for (const Frame& frame : found->second.down)
      processes_[found->second.below - nodes_.size()].heard.push_back(frame);
  }
  bool deliver_one() {
    std::vector<std::pair<Connection, bool>> ready;
    for (const auto& [number, link] : links_) {
      if (!link.up.empty()) ready.push_back({number, true});
      if (!link.down.empty()) ready.push_back({number, false});
    }
    if (ready.empty()) return false;
    const auto [number, up] = ready[random_() % ready.size()];
    Link& link = links_.at(number);
    auto& queue = up ? link.up : link.down;
    Frame frame = std::move(queue.front());
    queue.pop_front();
    const std::size_t to = up ? link.above : link.below;
    if (to < nodes_.size())
      nodes_[to]->received(number, std::move(frame), now);
    else
      processes_[to - nodes_.size()].heard.push_back(std::move(frame));
    return true;
  }

  const TreeFile& tree_;
  std::mt19937 random_;
  std::vector<std::unique_ptr<AggregationNode>> nodes_;
  std::vector<Process> processes_;
  std::map<Connection, Link> links_;
  Connection last_ = no_connection;
};

}  // namespace espalier::sharp
