#include "sharp/library/link.hpp"

#include <sharp/api/sharp_coll.h>

#include "base/format.hpp"
#include "sharp/aggregation_node.hpp"
#include "sharp/library/problem.hpp"
#include "sharp/session.hpp"

namespace espalier::sharp {
namespace {

using namespace std::chrono_literals;
constexpr auto patience = 5s;  // to connect and be let in

}  // namespace

Link::Link(const TreeNode& node, const Hello& hello, std::function<void()> meanwhile)
    : name_(formatted("aggregation node {} ({}:{})", node.name, node.host, node.port)), chunk_(65536) {
  connect(node);
  heard_ = asked_ = Clock::now();
  greet(hello, meanwhile);
}

void Link::connect(const TreeNode& node) {
  asio::error_code error = asio::error::timed_out;
  asio::ip::tcp::resolver resolver(context_);
  asio::error_code unknown;
  const auto found = resolver.resolve(node.host, node.port, unknown);
  if (unknown)
    throw Problem(SHARP_COLL_ECONN_TREE, formatted("{}: no such host ({})", name_, unknown.message()));
  asio::async_connect(socket_, found,
                      [&](const asio::error_code& e, const asio::ip::tcp::endpoint&) { error = e; });
  context_.run_for(patience);
  if (error)
    throw Problem(SHARP_COLL_ECONN_TREE, formatted("{} cannot be reached ({}); does espalier-aggd run there?",
                                                   name_, error.message()));
  socket_.non_blocking(true);
  tune(socket_, 20);
}

void Link::greet(const Hello& hello, const std::function<void()>& meanwhile) {
  Frame frame;
  frame.kind = Kind::hello;
  frame.job = hello.job;
  frame.rank = hello.rank;
  frame.size = static_cast<std::uint32_t>(hello.token.size());
  frame.set_text(hello.token);
  send(frame);
  bool is_in = false;
  const auto until = Clock::now() + patience;
  while (!is_in) {
    poll(false, [&](const Frame& answer) {
      if (answer.kind == Kind::refused)
        throw Problem(answer.code, formatted("{} refuses this process: {}", name_, answer.text()));
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
  Frame question;
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
  asio::error_code ignored;
  socket_.close(ignored);
  throw Problem(SHARP_COLL_ECONN_TREE, broken_);
}

void Link::cut() {
  if (broken_.empty()) broken_ = name_ + ": the connection was cut on demand";
  asio::error_code ignored;
  socket_.close(ignored);
}

void Link::send(const Frame& frame) {
  if (!broken_.empty()) throw Problem(SHARP_COLL_ECONN_TREE, broken_);
  append(out_, frame);
  flush();
}

void Link::flush() {
  while (!out_.empty()) {
    asio::error_code error;
    const std::size_t sent = socket_.write_some(asio::buffer(out_), error);
    out_.erase(out_.begin(), out_.begin() + static_cast<std::ptrdiff_t>(sent));
    if (error == asio::error::would_block) return;
    if (error) break_off(formatted("the connection ended ({})", error.message()));
  }
}

bool Link::read() {
  asio::error_code error;
  const std::size_t bytes = socket_.read_some(asio::buffer(chunk_), error);
  if (error == asio::error::would_block) return false;
  if (error) break_off(formatted("the connection ended ({})", error.message()));
  heard_ = Clock::now();
  reader_.feed({chunk_.data(), bytes});
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
  // Nothing was owed before; or this process itself has not looked for long, being stopped.
  if (!waits || !waited_ || now - watched_ > silence / 4) heard_ = asked_ = now;
  waited_ = waits;
  watched_ = now;
  if (!waits) return;
  if (now - heard_ > silence) break_off(formatted("no sign of life for {} s", limits_.silence_seconds));
  if (now - heard_ < silence / 4 || now - asked_ < silence / 4) return;
  asked_ = now;
  send(Frame{});
}

}  // namespace espalier::sharp
