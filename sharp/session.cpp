#include "sharp/session.hpp"

#include <algorithm>

namespace espalier::sharp {
namespace {

constexpr std::size_t longest_hello = 1024;

}  // namespace

Session::Session(asio::ip::tcp::socket socket, std::size_t longest, std::size_t most_queued, Owner owner)
    : socket_(std::move(socket)),
      longest_(std::max(longest, longest_hello)),
      reader_(longest_hello),
      most_queued_(most_queued),
      owner_(std::move(owner)) {}

void Session::read() {
  socket_.async_read_some(asio::buffer(chunk_),
                          [self = shared_from_this()](const asio::error_code& error, std::size_t bytes) {
                            if (error) return self->end();
                            self->take(bytes);
                          });
}

void Session::take(std::size_t bytes) {
  // What a peer sends after close() is read, so that the end of its connection is noticed, but not kept.
  if (is_closing_) {
    if (!has_ended_) read();
    return;
  }
  try {
    reader_.feed({chunk_.data(), bytes});
    while (!has_ended_ && !is_closing_) {
      auto frame = reader_.next();
      if (!frame) break;
      reader_.allow(longest_);
      owner_.received(std::move(*frame));
    }
  } catch (const ProtocolError&) {
    return end();
  }
  if (!has_ended_) read();
}

void Session::send(const Frame& frame) {
  if (has_ended_ || is_closing_) return;
  append(queued_, frame);
  if (queued_.size() > most_queued_) return end();
  if (under_way_.empty()) write();
}

void Session::write() {
  std::swap(under_way_, queued_);
  asio::async_write(socket_, asio::buffer(under_way_),
                    [self = shared_from_this()](const asio::error_code& error, std::size_t) {
                      self->under_way_.clear();
                      if (error || (self->is_closing_ && self->queued_.empty())) return self->end();
                      if (!self->queued_.empty()) self->write();
                    });
}

void Session::close() {
  is_closing_ = true;
  if (under_way_.empty()) end();
}

void Session::end() {
  if (has_ended_) return;
  has_ended_ = true;
  asio::error_code ignored;
  static_cast<void>(socket_.shutdown(asio::ip::tcp::socket::shutdown_both, ignored));
  static_cast<void>(socket_.close(ignored));
  owner_.ended();
}

}  // namespace espalier::sharp
