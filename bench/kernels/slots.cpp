// What it takes two cores to show each other a message: each copies it, chunk by chunk, into the slots of its
// ring, tells the other, and copies the other's chunk out. By the length of the rings, by whether the copy
// into a slot goes past the caches, and by whether a chunk is shown before the one ahead of it is read.
#include <cstring>
#include <string>

#include "memory/copy/streaming_copy.hpp"
#include "two_threads.hpp"

namespace espalier::bench {

namespace {

struct Case {
  std::size_t message, chunk, ring;
  bool streaming, overlap;
};

/// Buffers 0 to 2 are one thread's message, its place for the other's, and its ring; the next three the
/// other's.
char* of(int thread, int which) { return buffer(3 * thread + which, 4 * MiB); }

class Side {
 public:
  Side(int self, const Case& c) : self_(self), c_(c) {}

  void show(std::size_t chunk, int number) {
    const char* const source = of(self_, 0) + chunk % chunks() * c_.chunk;
    if (c_.streaming) {
      memory::stream_copy(slot(self_, chunk), source, c_.chunk);
      memory::settle_streams();
    } else {
      std::memcpy(slot(self_, chunk), source, c_.chunk);
    }
    publish(self_, number);
  }

  void read(std::size_t chunk, int number) {
    await(1 - self_, number);
    std::memcpy(of(self_, 1) + chunk % chunks() * c_.chunk, slot(1 - self_, chunk), c_.chunk);
  }

  std::size_t chunks() const { return c_.message / c_.chunk; }

 private:
  char* slot(int thread, std::size_t chunk) const { return of(thread, 2) + chunk * c_.chunk % c_.ring; }

  int self_;
  Case c_;
};

/// Chunks are counted through, and so are their flags. A slot may be written again, since the other has shown
/// a later chunk of the same way around the ring after reading it: rings hold four chunks or more.
void exchange_messages(const Case& c, int self, int first, int count) {
  Side side(self, c);
  const std::size_t n = side.chunks(), ahead = c.overlap ? 1 : 0;
  for (int turn = first; turn < first + count; ++turn) {
    const std::size_t base = static_cast<std::size_t>(turn - 1) * n;
    const auto number = [&](std::size_t i) { return static_cast<int>(base + i + 1); };
    std::memset(of(self, 0), turn | 1, c.message);  // a program's message is fresh in the sender's cache
    for (std::size_t i = 0; i < n + ahead; ++i) {
      if (i < n) side.show(base + i, number(i));
      if (i >= ahead) side.read(base + i - ahead, number(i - ahead));
    }
  }
}

std::string named(std::size_t bytes) {
  return bytes < MiB ? std::to_string(bytes / KiB) + "K" : std::to_string(bytes / MiB) + "M";
}

void add_case(const Case& c) {
  const std::string name = "slots/" + named(c.message) + "_by_" + named(c.chunk) + "/ring_" + named(c.ring) +
                           (c.streaming ? "/streamed" : "/plain") + (c.overlap ? "/overlapping" : "/in_turn");
  add_for_two(name, static_cast<int>(16 * MiB / c.message), 2 * c.message,
              [c](int self, int first, int count) { exchange_messages(c, self, first, count); });
}

}  // namespace

void add_slots() {
  for (const std::size_t message : {64 * KiB, MiB})
    for (const std::size_t ring : {256 * KiB, 2 * MiB})
      for (const bool streaming : {false, true})
        for (const bool overlap : {false, true}) add_case({message, 32 * KiB, ring, streaming, overlap});
}

}  // namespace espalier::bench
