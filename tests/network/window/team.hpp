// Ranks of several nodes in one test process: threads over a hostile network, and their windows.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "network/window/message_carrier.hpp"
#include "network/window/window.hpp"
#include "tests/network/mailboxes.hpp"

namespace espalier::testing {

/// The memory of one node.
struct NodeMemory {
  NodeMemory(std::size_t bytes, int ids) : data(bytes / 8 + 1), values(static_cast<std::size_t>(ids)) {}
  network::WindowMemory view(std::size_t bytes) {
    return {reinterpret_cast<std::byte*>(data.data()), bytes,
            network::Notifications(values.data(), static_cast<int>(values.size()))};
  }
  std::vector<std::uint64_t> data;
  std::vector<network::Notifications::Value> values;
};

/// Nodes of given sizes; processes are numbered through them.
class WindowWorld {
 public:
  WindowWorld(const std::vector<int>& sizes, std::size_t bytes, int ids, std::uint64_t seed = 1)
      : boxes(count(sizes), seed) {
    int process = 0;
    for (const int size : sizes) {
      memories_.push_back(std::make_unique<NodeMemory>(bytes, ids));
      processes_.emplace_back();
      for (int local = 0; local < size; ++local) processes_.back().push_back(process++);
    }
    for (int node = 0; node < static_cast<int>(sizes.size()); ++node)
      for (int local = 0; local < sizes[static_cast<std::size_t>(node)]; ++local) add(node, local, bytes);
  }

  network::NodeWindow& of(int process) { return *windows_[static_cast<std::size_t>(process)]; }
  int ranks() const { return static_cast<int>(windows_.size()); }

  /// body(window, process) on a thread each, then the end of the window.
  template <class Body>
  void run(Body body) {
    std::vector<std::thread> threads;
    for (int process = 0; process < ranks(); ++process)
      threads.emplace_back([this, process, &body] {
        try {
          body(of(process), process);
          of(process).close();
        } catch (const std::exception& error) {
          ADD_FAILURE() << "process " << process << ": " << error.what();
        }
      });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(boxes.complaints(), std::vector<std::string>());
  }

  Mailboxes boxes;

 private:
  static int count(const std::vector<int>& sizes) {
    int all = 0;
    for (const int size : sizes) all += size;
    return all;
  }
  void add(int node, int local, std::size_t bytes) {
    const network::WindowTeam team{processes_, processes_, node, local};
    const network::WindowMemory memory = memories_[static_cast<std::size_t>(node)]->view(bytes);
    const network::SpinLimits spin_limits{2, 1 << 30};
    windows_.push_back(
        std::make_unique<network::NodeWindow>(team, memory, network::NodeWindow::Waiting{spin_limits, {}}));
    if (processes_.size() > 1)
      windows_.back()->set_carrier(std::make_unique<network::MessageCarrier>(
          boxes.of(team.process()), 16, windows_.back()->team(), memory, spin_limits));
  }

  std::vector<std::vector<int>> processes_;
  std::vector<std::unique_ptr<NodeMemory>> memories_;
  std::vector<std::unique_ptr<network::NodeWindow>> windows_;
};

inline std::byte window_pattern(int sender, std::size_t i) {
  return static_cast<std::byte>(static_cast<std::size_t>(sender) * 101 + i * 13 + (i >> 8));
}
inline std::vector<std::byte> window_block(int sender, std::size_t bytes) {
  std::vector<std::byte> block(bytes);
  for (std::size_t i = 0; i < bytes; ++i) block[i] = window_pattern(sender, i);
  return block;
}

}  // namespace espalier::testing
