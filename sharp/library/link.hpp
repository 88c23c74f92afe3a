// A process's connection to an aggregation node. No threads: it moves when it is polled.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "base/descriptor.hpp"
#include "sharp/introduction.hpp"
#include "sharp/tree_file.hpp"

namespace espalier::sharp {

class Link {
 public:
  struct Hello {
    const std::string& token;
    std::uint64_t job;
    std::uint32_t rank;
  };
  /// Connects and is let in, within some seconds; throws Problem.
  Link(const TreeNode& node, const Hello& hello, const std::function<void()>& meanwhile);

  const Limits& limits() const { return limits_; }
  void send(const Frame& frame);
  /// Hands every frame that has come to `take`. `waits`: an answer is owed, so that silence means something.
  /// Throws Problem when the connection has ended, now and ever after.
  void poll(bool waits, const std::function<void(const Frame&)>& take);
  /// Returns when the node has said that it reaches the root; throws Problem if it does not.
  void await_way_up(const std::function<void(const Frame&)>& take, const std::function<void()>& meanwhile);
  void cut();
  bool is_broken() const { return !broken_.empty(); }

 private:
  using Clock = std::chrono::steady_clock;
  void connect(const TreeNode& node);
  void greet(const Hello& hello, const std::function<void()>& meanwhile);
  bool read();
  void flush();
  void watch(bool waits);
  [[noreturn]] void break_off(const std::string& why);

  std::string node_, name_;
  Descriptor socket_;
  Limits limits_;
  Reader reader_{1024};
  std::vector<std::byte> out_, chunk_;
  std::string broken_;  // why; empty: it is not
  Clock::time_point heard_, asked_, watched_;
  bool waited_ = false;
  std::uint64_t questions_ = 0;
};

}  // namespace espalier::sharp
