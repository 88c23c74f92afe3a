// One TCP connection of the daemon: frames in, frames out.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <vector>

#include "sharp/asio.hpp"
#include "sharp/frame.hpp"

namespace espalier::sharp {

/// Used by one thread. Calls nothing any more after it has said that it ended, and says so once.
class Session : public std::enable_shared_from_this<Session> {
 public:
  struct Owner {
    std::function<void(Frame)> received;
    std::function<void()> ended;
  };
  /// `longest`: payload taken; before the first frame, a hello, much less. `most_queued`: bytes that wait for
  /// a peer that does not read, before it is given up.
  Session(asio::ip::tcp::socket socket, std::size_t longest, std::size_t most_queued, Owner owner);

  void start() { read(); }
  void send(const Frame& frame);
  /// What has been sent before still goes out, if the peer takes it.
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
