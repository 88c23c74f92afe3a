// Where there is no libFuzzer: NAME SECONDS [SEED] FILE... runs a target with the files, and with bytes that
// are made of them by chance.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

using Bytes = std::vector<std::uint8_t>;

int main(int argc, char** argv) {
  if (argc < 4) return std::fprintf(stderr, "usage: %s SECONDS SEED FILE...\n", argv[0]), 2;
  std::vector<Bytes> seeds;
  for (int i = 3; i < argc; ++i) {
    std::ifstream file(argv[i], std::ios::binary);
    seeds.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    LLVMFuzzerTestOneInput(seeds.back().data(), seeds.back().size());
  }
  std::mt19937_64 random(std::strtoull(argv[2], nullptr, 10));
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(std::atol(argv[1]));
  unsigned long long inputs = 0;
  for (; std::chrono::steady_clock::now() < end; ++inputs) {
    Bytes bytes = seeds[random() % seeds.size()];
    if (random() % 4 == 0) bytes.resize(random() % 600);
    for (std::uint64_t changes = random() % 16; changes > 0 && !bytes.empty(); --changes)
      bytes[random() % bytes.size()] = static_cast<std::uint8_t>(random() % 4 == 0 ? 255 : random());
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  }
  std::printf("%llu inputs\n", inputs);
}
