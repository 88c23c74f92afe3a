// Makes up inputs where there is no libFuzzer: frames that are nearly right, in pieces, some of them damaged.
// random_main SECONDS [SEED]
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>

#include "sharp/frame.hpp"

using namespace espalier::sharp;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

std::mt19937_64 engine;
std::uint64_t below(std::uint64_t n) { return engine() % n; }

Frame hello() {
  Frame frame;
  frame.kind = Kind::hello;
  frame.role = static_cast<Role>(below(2));
  frame.job = 1;
  frame.size = 16;
  const char* names[] = {"", "a1", "a2", "a9"};
  frame.set_text(std::string("sixteen letters!") + (frame.role == Role::node ? names[below(4)] : ""));
  return frame;
}

Frame any_frame() {
  if (below(6) == 0) return hello();
  Frame frame;
  frame.kind = static_cast<Kind>(1 + below(11));
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
void play_along(std::vector<std::vector<std::byte>>& streams) {
  const auto members = static_cast<std::uint32_t>(1 + below(4));
  const std::uint64_t group = below(3), operations = below(12);
  for (std::uint32_t rank = 0; rank < members; ++rank) {
    append(streams[rank], hello());
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

std::vector<std::uint8_t> made_up() {
  std::vector<std::vector<std::byte>> streams(6);
  if (below(2)) play_along(streams);
  for (auto& stream : streams)
    for (std::uint64_t frames = below(8); frames > 0; --frames) append(stream, any_frame());
  for (auto& stream : streams)
    for (std::uint64_t damage = below(3) == 0 ? below(4) : 0; damage > 0 && !stream.empty(); --damage)
      stream[below(stream.size())] ^= static_cast<std::byte>(1u << below(8));
  std::vector<std::uint8_t> input = {static_cast<std::uint8_t>(below(3))};
  std::vector<std::size_t> read(streams.size());
  for (int tries = 0; tries < 200; ++tries) {
    const std::size_t from = below(streams.size());
    const std::size_t length = std::min<std::size_t>(below(256), streams[from].size() - read[from]);
    input.push_back(static_cast<std::uint8_t>(below(100) == 0 ? 252 + from % 4 : from));
    input.push_back(static_cast<std::uint8_t>(length));
    const auto* first = reinterpret_cast<const std::uint8_t*>(streams[from].data()) + read[from];
    input.insert(input.end(), first, first + length);
    read[from] += length;
  }
  return input;
}

}  // namespace

int main(int argc, char** argv) {
  using Clock = std::chrono::steady_clock;
  const double seconds = argc > 1 ? std::atof(argv[1]) : 10;
  engine.seed(argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1);
  const auto until = Clock::now() + std::chrono::duration<double>(seconds);
  unsigned long inputs = 0;
  for (; Clock::now() < until; ++inputs) {
    const auto input = made_up();
    LLVMFuzzerTestOneInput(input.data(), input.size());
  }
  std::printf("%lu inputs, nothing found\n", inputs);
}
