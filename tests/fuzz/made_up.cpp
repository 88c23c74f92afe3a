#include "tests/fuzz/made_up.hpp"

#include <algorithm>

#include "sharp/introduction.hpp"

namespace espalier::sharp {

void MadeUp::introduce(Bytes& stream) {
  if (token_.empty()) return;
  const char* names[] = {"", "", "", "a1", "a2", "a9"};
  const std::string token = below(20) == 0 ? "another token !!" : token_;
  const std::string name = names[below(6)];
  const Introduction introduction(token, asked_, name, 1, 0, Nonce{});
  const Examination examination(introduction.hello(), Nonce{});
  append(stream, introduction.hello());
  append(stream, *introduction.answer(examination.challenge(token, asked_)));
}

Frame MadeUp::any_frame() {
  Frame frame;
  frame.kind = static_cast<Kind>(1 + below(13));
  frame.operation = static_cast<Operation>(below(4));
  frame.op = static_cast<std::uint8_t>(below(14));
  frame.type = static_cast<std::uint8_t>(below(14));
  frame.flags = static_cast<std::uint16_t>(below(8) == 0);
  frame.code = -static_cast<int>(below(21));
  frame.rank = static_cast<std::uint32_t>(below(6));
  frame.size = static_cast<std::uint32_t>(below(5));
  frame.root = static_cast<std::uint32_t>(below(6));
  frame.job = 1 + (below(10) == 0);
  frame.group = below(4);
  frame.sequence = below(3);
  frame.payload.resize(below(4) == 0 ? below(80) : frame.size);
  return frame;
}

/// Members of one group that do nearly everything right.
void MadeUp::play_along(std::vector<Bytes>& streams) {
  const auto members = static_cast<std::uint32_t>(1 + below(std::min<std::size_t>(4, streams.size())));
  const std::uint64_t group = below(3), operations = below(12);
  for (std::uint32_t rank = 0; rank < members; ++rank) {
    introduce(streams[rank]);
    Frame frame;
    frame.kind = Kind::join;
    frame.job = 1;
    frame.group = group;
    frame.rank = rank;
    frame.size = members;
    append(streams[rank], frame);
    frame.kind = Kind::contribute;
    frame.operation = Operation::allreduce;
    frame.op = 2;
    frame.type = 1;
    frame.size = 8;
    frame.payload.resize(8);
    for (frame.sequence = 0; frame.sequence < operations; ++frame.sequence) append(streams[rank], frame);
    if (below(2)) {
      frame.kind = Kind::leave;
      append(streams[rank], frame);
    }
  }
}

void MadeUp::damage(Bytes& stream) {
  for (std::uint64_t times = below(3) == 0 ? below(4) : 0; times > 0 && !stream.empty(); --times)
    stream[below(stream.size())] ^= static_cast<std::byte>(1u << below(8));
}

std::vector<MadeUp::Bytes> MadeUp::streams(std::size_t connections) {
  std::vector<Bytes> streams(connections);
  if (below(2)) play_along(streams);
  for (Bytes& stream : streams) {
    if (below(2)) introduce(stream);
    for (std::uint64_t frames = below(8); frames > 0; --frames) append(stream, any_frame());
    damage(stream);
  }
  return streams;
}

std::vector<std::uint8_t> MadeUp::input() {
  const std::uint64_t node = below(3);
  asked_ = "a" + std::to_string(node);
  const std::vector<Bytes> all = streams(6);
  std::vector<std::uint8_t> input = {static_cast<std::uint8_t>(node)};
  std::vector<std::size_t> read(all.size());
  for (int tries = 0; tries < 200; ++tries) {
    const std::size_t from = below(all.size());
    const std::size_t length = std::min<std::size_t>(below(256), all[from].size() - read[from]);
    input.push_back(static_cast<std::uint8_t>(below(100) == 0 ? 252 + from % 4 : from));
    input.push_back(static_cast<std::uint8_t>(length));
    const auto* first = reinterpret_cast<const std::uint8_t*>(all[from].data()) + read[from];
    input.insert(input.end(), first, first + length);
    read[from] += length;
  }
  return input;
}

}  // namespace espalier::sharp
