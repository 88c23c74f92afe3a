// One TCP connection of the daemon: frames in, frames out.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "sharp/asio.hpp"
#include "sharp/budget.hpp"
#include "sharp/frame.hpp"

namespace espalier::sharp {

/// Used by one thread. It calls `ended` once, and after that neither function of its owner.
class Session : public std::enable_shared_from_this<Session> {
 public:
  struct Owner {
    std::function<void(Frame)> received;
    std::function<void()> ended;
  };
  /// What all sessions of a thread share.
  struct Shared {
    explicit Shared(std::size_t most) : budget(most), chunk(65536) {}
    Budget budget;  ///< of what waits for peers that do not read
    /// Where bytes that have come are put, until they are taken a moment later: idle peers need none.
    std::vector<std::byte> chunk;
  };
  /// `most_queued`: how many bytes may wait for this peer if it does not read; with more the session ends.
  Session(asio::ip::tcp::socket socket, std::size_t most_queued, std::shared_ptr<Shared> shared, Owner owner);

  void start() { read(); }
  /// Payloads of up to so many bytes from now on. Before it only the short ones of a greeting are taken.
  void allow(std::size_t longest) { reader_.allow(std::max(longest, longest_greeting)); }
  /// Bytes that the peer has not read.
  std::size_t waiting() const { return waiting_; }
  void send(const Frame& frame);
  /// Sends and hands on no further frames. What was sent before still goes out, if the peer reads it; then
  /// the session ends.
  void close();
  /// At once, whatever the peer has not read.
  void end();

 private:
  static constexpr std::size_t longest_greeting = 1024;
  void read();
  void take(std::size_t bytes);
  void write();
  void written();
  void give_back(std::size_t bytes);

  asio::ip::tcp::socket socket_;
  Reader reader_{longest_greeting};
  std::size_t most_queued_;
  std::shared_ptr<Shared> shared_;
  Owner owner_;
  std::vector<std::byte> queued_, under_way_;
  std::size_t waiting_ = 0;  // of the budget
  bool is_closing_ = false, has_ended_ = false;
};

}  // namespace espalier::sharp
