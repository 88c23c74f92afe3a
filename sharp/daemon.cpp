#include "sharp/daemon.hpp"

#include <utility>

#include <algorithm>
#include <chrono>

#include "base/format.hpp"
#include "sharp/tcp.hpp"

namespace espalier::sharp {
namespace {

using namespace std::chrono_literals;

Seconds now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

asio::ip::tcp::acceptor listen_on(asio::io_context& context, const TreeNode& node) {
  try {
    asio::ip::tcp::resolver resolver(context);
    const auto found = resolver.resolve(node.host, node.port, asio::ip::tcp::resolver::passive);
    return {context, found.begin()->endpoint(), true};
  } catch (const std::system_error& error) {
    throw Error(formatted("aggregation node {} cannot listen on {}:{} ({})", node.name, node.host, node.port,
                          error.code().message()));
  }
}

}  // namespace

Daemon::Daemon(asio::io_context& context, const TreeFile& tree, int node, std::function<void()> when_ready)
    : context_(context),
      tree_(tree),
      own_(tree.nodes[static_cast<std::size_t>(node)]),
      node_(position_of(tree, node), tree.limits, tree.token),
      shared_(std::make_shared<Session::Shared>(tree.limits.memory / 2)),
      acceptor_(listen_on(context, own_)),
      resolver_(context),
      to_parent_(context),
      timer_(context),
      parent_timer_(context),
      when_ready_(std::move(when_ready)) {
  accept();
  if (own_.parent >= 0) reach_parent();
  tick();
}

void Daemon::accept() {
  acceptor_.async_accept([this](const asio::error_code& error, Tcp::socket socket) {
    if (!error) {
      enter(std::move(socket));
      return accept();
    }
    // Out of descriptors, say: who has not shown that it belongs here makes room.
    if (error == asio::error::no_descriptors && node_.drop_a_stranger()) {
      deliver();
      return accept();
    }
    auto pause = std::make_shared<asio::steady_timer>(context_, 100ms);
    pause->async_wait([this, pause](const asio::error_code&) { accept(); });
  });
}

void Daemon::enter(Tcp::socket socket) {
  const Connection number = ++last_;
  const auto session = open(std::move(socket), number);
  node_.accepted(number, now());
  session->start();
  deliver();
}

// What a peer does not read: all operations of all groups at once, and their ends.
std::size_t Daemon::most_queued() const {
  const Limits& limits = tree_.limits;
  const std::size_t operation = limits.longest_payload() + head_bytes;
  return (1 << 20) + std::size_t{limits.groups} * (limits.slots_per_group + 1) * operation;
}

void Daemon::received(Connection from, Frame frame) {
  node_.received(from, std::move(frame), now());
  if (from == parent_ && node_.knows_parent()) sessions_.at(from)->allow(tree_.limits.longest_payload());
  deliver();
}

std::shared_ptr<Session> Daemon::open(Tcp::socket socket, Connection number) {
  tune(socket.native_handle(), static_cast<int>(tree_.limits.silence_seconds));
  const Session::Owner owner = {[this, number](Frame frame) { received(number, std::move(frame)); },
                                [this, number] {
                                  sessions_.erase(number);
                                  node_.closed(number, now());
                                  if (number == parent_) {
                                    parent_ = no_connection;
                                    parent_timer_.expires_after(500ms);
                                    parent_timer_.async_wait([this](const asio::error_code& e) {
                                      if (!e) reach_parent();
                                    });
                                  }
                                  deliver();
                                }};
  return sessions_[number] = std::make_shared<Session>(std::move(socket), most_queued(), shared_, owner);
}

void Daemon::reach_parent() {
  const TreeNode& parent = tree_.nodes[static_cast<std::size_t>(own_.parent)];
  const auto again = [this] {
    parent_timer_.expires_after(200ms);
    parent_timer_.async_wait([this](const asio::error_code& e) {
      if (!e) reach_parent();
    });
  };
  resolver_.async_resolve(
      parent.host, parent.port, [this, again](const asio::error_code& error, const auto& found) {
        if (error) return again();
        to_parent_ = Tcp::socket(context_);
        asio::async_connect(to_parent_, found,
                            [this, again](const asio::error_code& failure, const Tcp::endpoint&) {
                              if (failure) return again();
                              parent_ = ++last_;
                              const auto session = open(std::move(to_parent_), parent_);
                              node_.reached_parent(parent_, now());
                              session->start();
                              deliver();
                            });
      });
}

void Daemon::tick() {
  node_.tick(now());
  deliver();
  timer_.expires_after(200ms);
  timer_.async_wait([this](const asio::error_code& error) {
    if (!error) tick();
  });
}

void Daemon::send(const AggregationNode::Output& output) {
  const auto found = sessions_.find(output.to);
  if (found == sessions_.end()) return;
  const auto session = found->second;
  if (output.close) return output.at_once ? session->end() : session->close();
  if (output.frame.kind == Kind::welcome) session->allow(tree_.limits.longest_payload());
  session->send(output.frame);
  keep_to_memory();
}

/// Of peers that do not read, the one that has left most unread is given up first.
void Daemon::keep_to_memory() {
  while (shared_->budget.is_exceeded()) {
    const auto most = std::max_element(sessions_.begin(), sessions_.end(), [](const auto& a, const auto& b) {
      return a.second->waiting() < b.second->waiting();
    });
    if (most == sessions_.end() || most->second->waiting() == 0) return;
    const auto session = most->second;
    session->end();
  }
}

/// Sending may end a session, which makes new output: one call at a time empties the list.
void Daemon::deliver() {
  if (is_delivering_) return;
  is_delivering_ = true;
  for (auto output = node_.take_output(); !output.empty(); output = node_.take_output())
    for (const AggregationNode::Output& each : output) send(each);
  is_delivering_ = false;
  if (when_ready_ && node_.reaches_all_above()) std::exchange(when_ready_, {})();
}

}  // namespace espalier::sharp
