// Races that ThreadSanitizer has to find, for what it says of the tests to mean anything (tests/run_tsan). Argument: which.
//   flag      data announced by a flag without release
//   kernel    data that the kernel copies with no flag at all
//   stream    the same, written by streaming stores
#include <unistd.h>

#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "memory/copy/remote_read.hpp"
#include "memory/copy/streaming_copy.hpp"
#include "memory/flag_line.hpp"

namespace {

using espalier::memory::FlagLine;

struct Shared {
  FlagLine line{};
  std::vector<char> data = std::vector<char>(100000, 1);
};

void await(const Shared& shared) {
  while (shared.line.step.load(std::memory_order_acquire) == 0) std::this_thread::yield();
}

void write_and_announce(Shared& shared, bool streaming) {
  const std::vector<char> news(shared.data.size(), 2);
  if (streaming) {
    espalier::memory::stream_copy(shared.data.data(), news.data(), news.size());
    espalier::memory::settle_streams();
  } else {
    std::memcpy(shared.data.data(), news.data(), news.size());
  }
  shared.line.step.store(1, std::memory_order_relaxed);
}

bool read(const Shared& shared, bool by_kernel) {
  std::vector<char> copy(shared.data.size());
  if (by_kernel)
    return espalier::memory::read_by_kernel(getpid(), copy.data(), shared.data.data(), copy.size());
  std::memcpy(copy.data(), shared.data.data(), copy.size());
  return true;
}

}  // namespace

int main(int count, char** arguments) {
  const std::string which = count > 1 ? arguments[1] : "flag";
  Shared shared;
  std::thread writer([&] { write_and_announce(shared, which == "stream"); });
  await(shared);
  const bool was_read = read(shared, which == "kernel");
  writer.join();
  return was_read ? 0 : 1;
}
