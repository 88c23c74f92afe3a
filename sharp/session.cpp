#include "sharp/session.hpp"

namespace espalier::sharp {
namespace {

constexpr std::size_t small = 4096;  // a buffer of so many bytes is kept

}  // namespace

Session::Session(asio::ip::tcp::socket socket, std::size_t most_queued, std::shared_ptr<Shared> shared,
                 Owner owner)
    : socket_(std::move(socket)),
      most_queued_(most_queued),
      shared_(std::move(shared)),
      owner_(std::move(owner)) {
  asio::error_code ignored;  // of a peer that is gone already the first read tells
  static_cast<void>(socket_.non_blocking(true, ignored));
}

void Session::read() {
  socket_.async_wait(asio::ip::tcp::socket::wait_read, [self = shared_from_this()](asio::error_code error) {
    if (error) return self->end();
    const std::size_t bytes = self->socket_.read_some(asio::buffer(self->shared_->chunk), error);
    if (error == asio::error::would_block || error == asio::error::try_again) return self->read();
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
    reader_.feed({shared_->chunk.data(), bytes});
    while (!has_ended_ && !is_closing_) {
      auto frame = reader_.next();
      if (!frame) break;
      owner_.received(std::move(*frame));
    }
    reader_.trim();
  } catch (const ProtocolError&) {
    return end();
  }
  if (!has_ended_) read();
}

void Session::send(const Frame& frame) {
  if (has_ended_ || is_closing_) return;
  const std::size_t before = queued_.size();
  append(queued_, frame);
  shared_->budget.take(queued_.size() - before);
  waiting_ += queued_.size() - before;
  if (queued_.size() > most_queued_) return end();
  if (under_way_.empty()) write();
}

void Session::write() {
  std::swap(under_way_, queued_);
  asio::async_write(socket_, asio::buffer(under_way_),
                    [self = shared_from_this()](const asio::error_code& error, std::size_t) {
                      self->written();
                      if (error || (self->is_closing_ && self->queued_.empty())) return self->end();
                      if (!self->queued_.empty()) self->write();
                    });
}

void Session::written() {
  if (!has_ended_) give_back(under_way_.size());
  under_way_.clear();
  if (under_way_.capacity() > small) under_way_ = {};
}

void Session::give_back(std::size_t bytes) {
  shared_->budget.give(bytes);
  waiting_ -= bytes;
}

void Session::close() {
  is_closing_ = true;
  if (under_way_.empty()) end();
}

void Session::end() {
  if (has_ended_) return;
  has_ended_ = true;
  give_back(waiting_);  // what is under way goes as soon as the write has been told
  queued_ = {};
  asio::error_code ignored;
  static_cast<void>(socket_.shutdown(asio::ip::tcp::socket::shutdown_both, ignored));
  static_cast<void>(socket_.close(ignored));
  owner_.ended();
}

}  // namespace espalier::sharp
