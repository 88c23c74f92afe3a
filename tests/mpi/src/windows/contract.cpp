// Data before notifications, on every rank of the node, whichever of them the put went through.
#include "checks.hpp"

namespace {

// Rank r writes block r of every node's segment and notifies with id r; all ranks of all nodes look.
void round_of_puts(const Window& window, std::size_t bytes, std::uint32_t round) {
  std::vector<unsigned char> mine(bytes);
  fill(mine.data(), bytes, my_rank(), round);
  for (int node = 0; node < window.nodes(); ++node)
    DO(espalier_window_put_notify(window, node, static_cast<std::size_t>(my_rank()) * bytes, mine.data(),
                                  bytes, my_rank(), round));
  for (int sender = 0; sender < ranks(); ++sender) {
    CHECK(window.wait(sender, 1) == sender);
    std::uint32_t value = 0;
    DO(espalier_window_notify_test(window, sender, &value));
    CHECK(value == round);
    CHECK(holds(window.memory() + static_cast<std::size_t>(sender) * bytes, bytes, sender, round));
  }
  DO(espalier_window_flush(window));
  fill(mine.data(), bytes, my_rank(), round + 1);  // the source is this rank's own again
}

// Every rank has looked before any rank resets; every rank has reset before any rank puts again.
void clear(const Window& window, espalier_comm* comm) {
  DO(espalier_barrier(comm));
  if (window.local_rank() == 0)
    for (int sender = 0; sender < ranks(); ++sender) CHECK(window.reset(sender) != 0);
  DO(espalier_barrier(comm));
}

}  // namespace

void test_all_ranks_to_every_node(espalier_comm* comm) {
  for (const std::size_t bytes : {0, 1, 8, 1000, 8000, 8192, 70000}) {
    const Window window(comm, bytes * static_cast<std::size_t>(ranks()), ranks());
    for (int rank = 0; rank < ranks(); ++rank) CHECK(espalier_window_node_of(window, rank) >= 0);
    CHECK(espalier_window_node_of(window, my_rank()) == window.node());
    CHECK(window.local_rank() < window.local_size());
    for (std::uint32_t round = 1; round <= 3; ++round) {
      round_of_puts(window, bytes, round);
      clear(window, comm);
    }
  }
}

void test_long_puts_and_gets(espalier_comm* comm) {
  const std::size_t bytes = 3 << 20;
  const Window window(comm, bytes, 65536);
  const int next = (window.node() + 1) % window.nodes();
  if (window.local_rank() == 0) {
    std::vector<unsigned char> mine(bytes), back(bytes);
    fill(mine.data(), bytes, window.node(), 9);
    // The last id, and without a notification; the second lands somewhere in the first, with the same bytes.
    DO(espalier_window_put_notify(window, next, 0, mine.data(), bytes, 65535, 0xffffffffu));
    DO(espalier_window_put(window, next, 12345, mine.data() + 12345, 100000));
    DO(espalier_window_flush(window));
    DO(espalier_window_get(window, window.node(), 7, back.data(), 0));
  }
  CHECK(window.wait(0, 65536) == 65535);
  const int previous = (window.node() + window.nodes() - 1) % window.nodes();
  CHECK(holds(window.memory(), bytes, previous, 9));
  DO(espalier_barrier(comm));
  // Every rank reads what lies at the next node, some of it in short pieces.
  std::vector<unsigned char> got(bytes);
  DO(espalier_window_get(window, next, 0, got.data(), 2 << 20));
  for (std::size_t at = 2 << 20; at < bytes; at += 65536)
    DO(espalier_window_get(window, next, at, got.data() + at, 65536));
  DO(espalier_window_flush(window));
  CHECK(holds(got.data(), bytes, window.node(), 9));
}

void test_atomic_operations(espalier_comm* comm) {
  const Window window(comm, 64, 1);
  const int times = 50;
  std::uint64_t old = 0;
  std::uint64_t last = 0;
  for (int i = 0; i < times; ++i)
    for (int node = 0; node < window.nodes(); ++node) {
      DO(espalier_window_fetch_add(window, node, 8, 3, &old));
      CHECK(old % 3 == 0);
      if (node == 0 && i > 0) CHECK(old > last);
      if (node == 0) last = old;
    }
  // A word of node 0 that every rank raises by one, as a program without fetch_add would.
  std::uint64_t seen = 0;
  for (int i = 0; i < times;) {
    DO(espalier_window_compare_swap(window, 0, 16, seen, seen + 1, &old));
    if (old == seen) ++i;
    seen = old == seen ? seen + 1 : old;
  }
  DO(espalier_barrier(comm));
  const auto* words = reinterpret_cast<const std::uint64_t*>(window.memory());
  CHECK(words[1] == static_cast<std::uint64_t>(3 * times) * static_cast<unsigned>(ranks()));
  if (window.node() == 0)
    CHECK(words[2] == static_cast<std::uint64_t>(times) * static_cast<unsigned>(ranks()));
  CHECK(words[0] == 0 && words[3] == 0);
  DO(espalier_barrier(comm));
}

void test_reset_has_one_winner(espalier_comm* comm) {
  const Window window(comm, 8, 4);
  const int times = 60;
  std::uint64_t mine = 0;
  for (std::uint32_t round = 1; round <= times; ++round) {
    DO(espalier_barrier(comm));
    // Node n is notified by the lowest rank of the next.
    if (window.local_rank() == 0)
      DO(espalier_window_notify(window, (window.node() + 1) % window.nodes(), 2, round));
    // All ranks of the node at once; who loses goes on when the winner's trace is there.
    for (std::uint64_t traces = 0; traces < round;) {
      const std::uint32_t value = window.reset(2);
      if (value != 0) {
        CHECK(value == round);
        ++mine;
        DO(espalier_window_fetch_add(window, window.node(), 0, 1, &traces));
      }
      DO(espalier_window_fetch_add(window, window.node(), 0, 0, &traces));
      CHECK(traces <= round);
    }
  }
  DO(espalier_barrier(comm));
  long total = 0, own = static_cast<long>(mine);
  MPI_Allreduce(&own, &total, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  CHECK(total == static_cast<long>(times) * window.nodes());
}

void test_many_windows(espalier_comm* comm) {
  for (int i = 0; i < 10; ++i) {
    const Window a(comm, 100, 3), b(comm, 200, 2);
    const int next = (a.node() + 1) % a.nodes();
    unsigned char mine[100];
    fill(mine, sizeof mine, a.node(), static_cast<unsigned>(i));
    if (a.local_rank() == a.local_size() - 1) {
      DO(espalier_window_put_notify(b, next, 100, mine, sizeof mine, 1, 5));
      DO(espalier_window_put_notify(a, next, 0, mine, sizeof mine, 1, 6));
    }
    const int previous = (a.node() + a.nodes() - 1) % a.nodes();
    CHECK(a.wait(0, 3) == 1);
    CHECK(b.wait(0, 2) == 1);
    CHECK(holds(a.memory(), sizeof mine, previous, static_cast<unsigned>(i)));
    CHECK(holds(b.memory() + 100, sizeof mine, previous, static_cast<unsigned>(i)));
  }
}
