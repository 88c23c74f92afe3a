// Made-up inputs for the fuzz target: random_main SECONDS [SEED] runs them where there is no libFuzzer;
// random_main --write FOLDER NUMBER leaves them there for libFuzzer to begin with.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "tests/fuzz/made_up.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using espalier::sharp::MadeUp;
constexpr const char* token = "sixteen letters!";  // of the tree in aggregation_fuzz.cpp

int write(const std::string& folder, long number) {
  for (long seed = 1; seed <= number; ++seed) {
    const auto input = MadeUp(static_cast<std::uint64_t>(seed), token).input();
    std::ofstream file(folder + "/made-up-" + std::to_string(seed), std::ios::binary);
    file.write(reinterpret_cast<const char*>(input.data()), static_cast<std::streamsize>(input.size()));
    if (!file.flush()) return std::fprintf(stderr, "cannot write to %s\n", folder.c_str()), 1;
  }
  return 0;
}

int run(double seconds, std::uint64_t seed) {
  using Clock = std::chrono::steady_clock;
  const auto until = Clock::now() + std::chrono::duration<double>(seconds);
  MadeUp inputs(seed, token);
  unsigned long number = 0;
  for (; Clock::now() < until; ++number) {
    const auto input = inputs.input();
    LLVMFuzzerTestOneInput(input.data(), input.size());
  }
  std::printf("%lu inputs, nothing found\n", number);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 4 && std::string(argv[1]) == "--write") return write(argv[2], std::atol(argv[3]));
  return run(argc > 1 ? std::atof(argv[1]) : 10, argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1);
}
