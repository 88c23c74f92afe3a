#include "sharp/library/link.hpp"

#include <sharp/api/sharp_coll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "base/format.hpp"
#include "sharp/aggregation_node.hpp"
#include "sharp/library/problem.hpp"
#include "sharp/tcp.hpp"

namespace espalier::sharp {
namespace {

using namespace std::chrono_literals;
constexpr auto patience = 5s;  // for each: the connection, the welcome, the answer to a question

bool would_block() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

}  // namespace

Link::Link(const TreeNode& node, const Hello& hello, const std::function<void()>& meanwhile)
    : node_(node.name),
      name_(formatted("aggregation node {} ({}:{})", node.name, node.host, node.port)),
      chunk_(65536) {
  connect(node);
  heard_ = asked_ = Clock::now();
  greet(hello, meanwhile);
}

void Link::connect(const TreeNode& node) {
  std::string why;
  socket_ = connected_to(node.host, node.port, patience, why);
  if (!socket_)
    throw Problem(SHARP_COLL_ECONN_TREE, formatted("{}: {}; does espalier-aggd run there?", name_, why));
  tune(socket_.get(), 20);
}

void Link::greet(const Hello& hello, const std::function<void()>& meanwhile) {
  const Introduction introduction(hello.token, node_, "", hello.job, hello.rank, random_nonce());
  send(introduction.hello());
  bool is_in = false, has_answered = false;
  const auto until = Clock::now() + patience;
  while (!is_in) {
    poll(false, [&](const Frame& answer) {
      if (answer.kind == Kind::refused)
        throw Problem(answer.code, formatted("{} refuses this process: {}", name_, answer.text()));
      if (!has_answered) {
        const auto proof = introduction.answer(answer);
        if (!proof) break_off("what listens there does not know the tree's token");
        has_answered = true;
        return send(*proof);
      }
      if (answer.kind != Kind::welcome) return;
      limits_ = unpack_limits(answer.payload);
      is_in = true;
    });
    if (Clock::now() > until) throw Problem(SHARP_COLL_ECONN_TREE, formatted("{} does not answer", name_));
    meanwhile();
  }
  reader_.allow(std::max<std::size_t>(limits_.longest_payload(), 1024));
}

void Link::await_way_up(const std::function<void(const Frame&)>& take,
                        const std::function<void()>& meanwhile) {
  Frame question;  // a ping
  question.sequence = ++questions_;
  send(question);
  bool has_answered = false;
  const auto until = Clock::now() + patience;
  while (!has_answered) {
    poll(false, [&](const Frame& frame) {
      if (frame.kind != Kind::pong) return take(frame);
      if (frame.sequence != questions_) return;
      if (frame.code != 0)
        throw Problem(SHARP_COLL_ECONN_TREE, formatted("{} does not reach the root of the tree", name_));
      has_answered = true;
    });
    if (Clock::now() > until) throw Problem(SHARP_COLL_ECONN_TREE, formatted("{} does not answer", name_));
    meanwhile();
  }
}

void Link::break_off(const std::string& why) {
  if (broken_.empty()) broken_ = formatted("{}: {}", name_, why);
  socket_.close();
  throw Problem(SHARP_COLL_ECONN_TREE, broken_);
}

void Link::cut() {
  if (broken_.empty()) broken_ = name_ + ": the connection was cut on demand";
  socket_.close();
}

void Link::send(const Frame& frame) {
  if (!broken_.empty()) throw Problem(SHARP_COLL_ECONN_TREE, broken_);
  append(out_, frame);
  flush();
}

void Link::flush() {
  while (!out_.empty()) {
    const ssize_t sent = ::send(socket_.get(), out_.data(), out_.size(), MSG_NOSIGNAL);
    if (sent < 0 && would_block()) return;
    if (sent < 0) break_off(formatted("the connection ended ({})", std::strerror(errno)));
    out_.erase(out_.begin(), out_.begin() + sent);
  }
}

bool Link::read() {
  const ssize_t bytes = recv(socket_.get(), chunk_.data(), chunk_.size(), 0);
  if (bytes < 0 && would_block()) return false;
  if (bytes <= 0)
    break_off(formatted("the connection ended ({})", bytes == 0 ? "closed there" : std::strerror(errno)));
  heard_ = Clock::now();
  reader_.feed({chunk_.data(), static_cast<std::size_t>(bytes)});
  return true;
}

void Link::poll(bool waits, const std::function<void(const Frame&)>& take) {
  if (!broken_.empty()) throw Problem(SHARP_COLL_ECONN_TREE, broken_);
  flush();
  if (!read()) return watch(waits);
  try {
    while (const auto frame = reader_.next()) take(*frame);
  } catch (const ProtocolError& error) {
    break_off(error.what());
  }
}

/// An aggregation node that lives answers a ping, however long the other members take.
void Link::watch(bool waits) {
  const auto now = Clock::now();
  const auto silence = std::chrono::seconds(limits_.silence_seconds);
  // The silence begins now if no answer was owed before, or if this process has not polled for long: it may
  // have been stopped.
  if (!waits || !waited_ || now - watched_ > silence / 4) heard_ = asked_ = now;
  waited_ = waits;
  watched_ = now;
  if (!waits) return;
  if (now - heard_ > silence) break_off(formatted("no sign of life for {} s", limits_.silence_seconds));
  if (now - heard_ < silence / 4 || now - asked_ < silence / 4) return;
  asked_ = now;
  send(Frame{});  // a ping
}

}  // namespace espalier::sharp
