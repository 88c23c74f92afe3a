// One TCP connection of the daemon: frames in, frames out.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <vector>

#include "sharp/asio.hpp"
#include "sharp/frame.hpp"

namespace espalier::sharp {

/// Used by one thread. It calls `ended` once, and after that neither function of its owner.
class Session : public std::enable_shared_from_this<Session> {
 public:
  struct Owner {
    std::function<void(Frame)> received;
    std::function<void()> ended;
  };
  /// `longest`: the longest payload that is accepted, in bytes; the first frame, a hello, must be much
  /// shorter. `most_queued`: how many bytes may wait for a peer that does not read; with more the session
  /// ends.
  Session(asio::ip::tcp::socket socket, std::size_t longest, std::size_t most_queued, Owner owner);

  void start() { read(); }
  void send(const Frame& frame);
  /// Sends and hands on no further frames. What was sent before still goes out, if the peer reads it; then
  /// the session ends.
  void close();

 private:
  void read();
  void take(std::size_t bytes);
  void write();
  void end();

  asio::ip::tcp::socket socket_;
  std::size_t longest_;
  Reader reader_;
  std::size_t most_queued_;
  Owner owner_;
  std::array<std::byte, 65536> chunk_;
  std::vector<std::byte> queued_, under_way_;
  bool is_closing_ = false, has_ended_ = false;
};

}  // namespace espalier::sharp
