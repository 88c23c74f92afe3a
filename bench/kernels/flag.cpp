// How long a flag takes from one core to another.
#include "two_threads.hpp"

namespace espalier::bench {

namespace {

constexpr int exchanges = 2000;

// Both write, then both wait: what a barrier of two needs at least.
void exchange(int self, int first, int count) {
  for (int i = first; i < first + count; ++i) {
    publish(self, i);
    await(1 - self, i);
  }
}

// One writes, the other answers.
void there_and_back(int self, int first, int count) {
  for (int i = first; i < first + count; ++i) {
    if (self == 0) publish(0, i);
    await(1 - self, i);
    if (self == 1) publish(1, i);
  }
}

}  // namespace

void add_flags() {
  add_for_two("flag/exchange", exchanges, 0, exchange);
  add_for_two("flag/there_and_back", exchanges, 0, there_and_back);
}

}  // namespace espalier::bench
