#include "sharp/session.hpp"

#include <gtest/gtest.h>
#include <malloc.h>

#include <optional>

namespace espalier::sharp {
namespace {

/// The daemon's end of a connection, and the other as a plain socket.
struct Connected {
  Connected() {
    asio::ip::tcp::acceptor acceptor(context, {asio::ip::make_address("127.0.0.1"), 0});
    peer.connect(acceptor.local_endpoint());
    peer.non_blocking(true);
    session =
        std::make_shared<Session>(acceptor.accept(), std::size_t{64} << 20, shared,
                                  Session::Owner{[this](Frame) { ++frames; }, [this] { has_ended = true; }});
    session->start();
  }
  /// Lets the session work until it has nothing to do.
  void settle() {
    context.restart();
    while (context.poll() > 0) {
    }
  }

  asio::io_context context{1};
  std::shared_ptr<Session::Shared> shared = std::make_shared<Session::Shared>(std::size_t{1} << 30);
  asio::ip::tcp::socket peer{context};
  std::shared_ptr<Session> session;
  int frames = 0;
  bool has_ended = false;
};

Frame long_frame() {
  Frame frame;
  frame.kind = Kind::result;
  frame.payload.resize(1 << 20);
  return frame;
}

TEST(Session, of_what_comes_when_it_is_closing_it_keeps_nothing) {
  Connected connected;
  // More than the kernel takes from a peer that does not read: what was sent before the end waits.
  for (int i = 0; i < 32; ++i) connected.session->send(long_frame());
  connected.session->close();
  connected.settle();
  ASSERT_FALSE(connected.has_ended);
  const std::vector<std::byte> garbage(1 << 16);
  const std::size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
  for (std::size_t said = 0; said < std::size_t{64} << 20;) {
    asio::error_code error;
    said += connected.peer.write_some(asio::buffer(garbage), error);
    ASSERT_TRUE(!error || error == asio::error::would_block) << error.message();
    connected.settle();
  }
  EXPECT_LT(mallinfo2().uordblks + mallinfo2().hblkhd, before + (std::size_t{8} << 20));
  EXPECT_EQ(connected.frames, 0);
}

TEST(Session, gives_up_a_peer_that_does_not_read) {
  Connected connected;
  for (int i = 0; i < 100 && !connected.has_ended; ++i) connected.session->send(long_frame());
  EXPECT_TRUE(connected.has_ended) << "more than 64 MiB wait for it";
}

TEST(Session, ends_once_its_peer_has_gone) {
  Connected connected;
  connected.peer.close();
  for (int tries = 0; tries < 1000 && !connected.has_ended; ++tries) {
    connected.context.restart();
    connected.context.run_for(std::chrono::milliseconds(10));
  }
  EXPECT_TRUE(connected.has_ended);
}

}  // namespace
}  // namespace espalier::sharp
