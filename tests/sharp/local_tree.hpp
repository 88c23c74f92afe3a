// A real aggregation tree on this machine, its nodes as threads, and a job whose processes are threads, too.
#pragma once

#include <gtest/gtest.h>
#include <sharp/api/sharp_coll.h>
#include <sys/stat.h>

#include <barrier>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <thread>
#include <vector>

#include "sharp/daemon.hpp"
#include "tests/sharp/trees.hpp"

namespace espalier::sharp {

class LocalTree {
 public:
  explicit LocalTree(int leaves, const std::string& limits = "{}")
      : path_(::testing::TempDir() + "/local_tree_" + std::to_string(getpid()) + ".json") {
    // Ports in a row that are free: the rank that takes one in between makes the next try necessary.
    for (int port = 20000 + getpid() % 20000;; port += 50) {
      tree_ = parse_tree_file(tree_text(leaves, limits, port), "local tree");
      try {
        for (std::size_t i = 0; i < tree_.nodes.size(); ++i) start(i);
        break;
      } catch (const Error&) {
        nodes_.clear();
        if (port > 60000) throw;
      }
    }
    std::ofstream(path_) << tree_text(leaves, limits, std::stoi(tree_.nodes[0].port));
    chmod(path_.c_str(), 0600);
    setenv("ESPALIER_AGGREGATION", path_.c_str(), 1);
    // Processes come as soon as the nodes have found each other.
    std::this_thread::sleep_for(std::chrono::milliseconds(leaves > 1 ? 400 : 0));
  }
  ~LocalTree() { std::remove(path_.c_str()); }

  void stop(std::size_t node) { nodes_[node].reset(); }
  void start(std::size_t node) { start(node, tree_); }
  /// As where a firewall is in between: nothing listens where the node looks for its parent.
  void start_without_way_up(std::size_t node) {
    misdirected_ = tree_;
    misdirected_.nodes[static_cast<std::size_t>(tree_.nodes[node].parent)].port = "1";
    start(node, misdirected_);
  }
  const TreeFile& tree() const { return tree_; }

 private:
  struct Running {
    asio::io_context context{1};
    Daemon daemon;
    std::thread thread;
    Running(const TreeFile& tree, int node)
        : daemon(context, tree, node), thread([this] { context.run(); }) {}
    ~Running() {
      context.stop();
      thread.join();
    }
  };
  void start(std::size_t node, const TreeFile& tree) {
    if (nodes_.size() <= node) nodes_.resize(node + 1);
    nodes_[node] = std::make_unique<Running>(tree, static_cast<int>(node));
  }

  std::string path_;
  TreeFile tree_, misdirected_;
  std::vector<std::unique_ptr<Running>> nodes_;
};

/// Threads as the processes of a job or the members of a group.
class RankInfo {
 public:
  explicit RankInfo(int size) : size_(size), barrier_(size), all_(static_cast<std::size_t>(size)) {}
  struct Seat {
    RankInfo* rank_info;
    int rank;
  };
  static sharp_coll_out_of_band_colls callbacks() {
    return {[](void* c, void* data, int bytes, int root) {
              return seat(c).rank_info->bcast(seat(c).rank, data, bytes, root);
            },
            [](void* c) { return seat(c).rank_info->wait(); },
            [](void* c, int root, void* mine, void* all, int bytes) {
              return seat(c).rank_info->gather(seat(c).rank, root, mine, all, bytes);
            }};
  }
  int size() const { return size_; }

 private:
  static Seat& seat(void* context) { return *static_cast<Seat*>(context); }
  int wait() {
    barrier_.arrive_and_wait();
    return 0;
  }
  int bcast(int rank, void* data, int bytes, int root) {
    if (rank == root) shared_ = data;
    wait();
    if (rank != root) std::memcpy(data, shared_, static_cast<std::size_t>(bytes));
    return wait();
  }
  int gather(int rank, int root, void* mine, void* all, int bytes) {
    all_[static_cast<std::size_t>(rank)] = mine;
    wait();
    const auto block = static_cast<std::size_t>(bytes);
    if (rank == root)
      for (std::size_t i = 0; i < all_.size(); ++i)
        std::memcpy(static_cast<std::byte*>(all) + i * block, all_[i], block);
    return wait();
  }
  int size_;
  std::barrier<> barrier_;
  void* shared_ = nullptr;
  std::vector<void*> all_;
};

/// One process of a job whose processes are all members of one group.
struct Member {
  int rank, size;
  sharp_coll_context* context = nullptr;
  sharp_coll_comm* comm = nullptr;
  int init_code = 0, group_code = 0;
  RankInfo::Seat seat;
};

inline int make_group(Member& member) {
  sharp_coll_comm_init_spec group{};
  group.rank = member.rank;
  group.size = member.size;
  group.oob_ctx = &member.seat;
  return member.group_code = sharp_coll_comm_init(member.context, &group, &member.comm);
}

/// Runs body(member) on every process; `faults`: ESPALIER_SHARP_FAULTS.
inline void run_job(int size, const std::function<void(Member&)>& body, const char* faults = "") {
  setenv("ESPALIER_SHARP_FAULTS", faults, 1);
  RankInfo rank_info(size);
  std::vector<std::thread> processes;
  for (int rank = 0; rank < size; ++rank)
    processes.emplace_back([&, rank] {
      Member member{rank, size, nullptr, nullptr, 0, 0, {&rank_info, rank}};
      sharp_coll_init_spec spec{};
      spec.job_id = 4711;
      spec.world_rank = rank;
      spec.world_size = size;
      spec.config = sharp_coll_default_config;
      spec.config.flags = SHARP_COLL_HIDE_ERRORS;
      spec.oob_colls = RankInfo::callbacks();
      spec.oob_ctx = &member.seat;
      member.init_code = sharp_coll_init(&spec, &member.context);
      if (member.init_code == 0) make_group(member);
      body(member);
      if (member.comm) sharp_coll_comm_destroy(member.comm);
      if (member.context) sharp_coll_finalize(member.context);
    });
  for (std::thread& process : processes) process.join();
}

}  // namespace espalier::sharp
