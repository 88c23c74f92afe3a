// Frames survive any cut of the stream; what is no frame is refused before it is kept.
#include "sharp/frame.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

namespace espalier::sharp {
namespace {

Frame some_frame(std::size_t bytes) {
  Frame frame;
  frame.kind = Kind::contribute;
  frame.operation = Operation::reduce;
  frame.op = 2;
  frame.type = 5;
  frame.role = Role::node;
  frame.flags = 0x1234;
  frame.code = -18;
  frame.rank = 7;
  frame.size = 0xfffffff0;
  frame.root = 3;
  frame.job = 0x0123456789abcdef;
  frame.group = 0xfedcba9876543210;
  frame.sequence = 1ull << 40;
  for (std::size_t i = 0; i < bytes; ++i) frame.payload.push_back(static_cast<std::byte>(i));
  return frame;
}

TEST(Frame, comes_out_as_it_went_in_wherever_the_stream_is_cut) {
  std::vector<std::byte> stream;
  for (const std::size_t bytes : {0, 1, 100}) append(stream, some_frame(bytes));
  for (std::size_t cut = 0; cut <= stream.size(); ++cut) {
    Reader reader(100);
    std::vector<Frame> found;
    const auto take_all = [&] {
      while (auto frame = reader.next()) found.push_back(*frame);
    };
    reader.feed({stream.data(), cut});
    take_all();
    reader.feed({stream.data() + cut, stream.size() - cut});
    take_all();
    ASSERT_EQ(found, (std::vector{some_frame(0), some_frame(1), some_frame(100)})) << cut;
  }
}

TEST(Frame, longer_than_allowed_is_refused_by_its_head_alone) {
  std::vector<std::byte> stream;
  append(stream, some_frame(101));
  Reader reader(100);
  reader.feed({stream.data(), head_bytes});
  EXPECT_THROW(reader.next(), ProtocolError);
}

TEST(Frame, unknown_magic_version_kind_operation_and_role_are_refused) {
  // magic, version, kind, operation, role
  for (const std::size_t at : {0u, 4u, 8u, 9u, 12u}) {
    std::vector<std::byte> stream;
    append(stream, some_frame(0));
    stream[at] = std::byte{200};
    Reader reader(100);
    reader.feed(stream);
    EXPECT_THROW(reader.next(), ProtocolError) << at;
  }
}

TEST(Frame, noise_never_gives_a_frame_or_keeps_anything) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::byte> stream;
    append(stream, some_frame(16));
    for (int flips = 0; flips < 3; ++flips)
      stream[random() % stream.size()] ^= static_cast<std::byte>(1u << random() % 8);
    Reader reader(64);
    reader.feed(stream);
    try {
      while (const auto frame = reader.next()) ASSERT_LE(frame->payload.size(), 64u);
    } catch (const ProtocolError&) {
    }
  }
}

}  // namespace
}  // namespace espalier::sharp
