// An aggregation node with sockets and a clock.
#pragma once

#include <functional>
#include <map>
#include <memory>

#include "sharp/aggregation_node.hpp"
#include "sharp/asio.hpp"
#include "sharp/session.hpp"

namespace espalier::sharp {

/// Listens on the address that the tree file gives its node, nowhere else, and keeps up the connection to its
/// parent. Runs as long as the context does; one thread.
class Daemon {
 public:
  /// Throws Error when the address cannot be listened on. `when_ready` is called once: when its parent, if it
  /// has one, has let it in, so that groups can be made.
  Daemon(asio::io_context& context, const TreeFile& tree, int node, std::function<void()> when_ready = {});

 private:
  using Tcp = asio::ip::tcp;
  void accept();
  void enter(Tcp::socket socket);
  void reach_parent();
  std::shared_ptr<Session> open(Tcp::socket socket, Connection number);
  void tick();
  void deliver();
  void received(Connection from, Frame frame);
  void send(const AggregationNode::Output& output);
  void keep_to_memory();
  std::size_t most_queued() const;

  asio::io_context& context_;
  const TreeFile& tree_;
  const TreeNode& own_;
  AggregationNode node_;
  std::shared_ptr<Session::Shared> shared_;
  Tcp::acceptor acceptor_;
  Tcp::resolver resolver_;
  Tcp::socket to_parent_;
  asio::steady_timer timer_, parent_timer_;
  std::map<Connection, std::shared_ptr<Session>> sessions_;
  Connection last_ = no_connection, parent_ = no_connection;
  bool is_delivering_ = false;
  std::function<void()> when_ready_;  // empty when it has been called
};

}  // namespace espalier::sharp
