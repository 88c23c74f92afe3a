// Many notifications on few ids, each payload checked; and what becomes of them while a rank is busy.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <string>

#include "checks.hpp"

// Every rank sends to its counterpart on the next node and receives from the previous one. The ids wrap
// around: the receiver resets one and gives it back by a notification of its own, after which it is used
// again.
void test_stream(espalier_comm* comm, long notifications, int ids, std::size_t bytes) {
  int smallest = ranks();
  {
    const Window probe(comm, 0, 1);
    for (int node = 0; node < probe.nodes(); ++node)
      smallest = std::min(smallest, espalier_window_local_size(probe, node));
  }
  const auto streams = static_cast<std::size_t>(smallest);
  const std::size_t room = bytes * static_cast<std::size_t>(ids);
  const Window window(comm, room * streams, 2 * ids * smallest);
  const int me = window.local_rank();
  const int next = (window.node() + 1) % window.nodes();
  const int previous = (window.node() + window.nodes() - 1) % window.nodes();
  if (me < smallest) {
    const int data = me * ids, credits = (smallest + me) * ids;
    const std::size_t base = static_cast<std::size_t>(me) * room;
    std::vector<unsigned char> sources(room);
    long sent = 0, received = 0;
    const auto slot = [&](long n) { return static_cast<std::size_t>(n % ids) * bytes; };
    while (sent < notifications || received < notifications) {
      // A full round of ids goes out, as far as they have come back.
      for (int i = 0; i < ids && sent < notifications; ++i, ++sent) {
        const int id = static_cast<int>(sent % ids);
        if (sent >= ids) {
          CHECK(window.wait(credits + id, 1) == credits + id);
          CHECK(window.reset(credits + id) == static_cast<std::uint32_t>(sent - ids + 1));
        }
        if (i == 0) DO(espalier_window_flush(window));
        fill(sources.data() + slot(sent), bytes, window.node() * 64 + me, static_cast<std::uint64_t>(sent));
        DO(espalier_window_put_notify(window, next, base + slot(sent), sources.data() + slot(sent), bytes,
                                      data + id, static_cast<std::uint32_t>(sent + 1)));
      }
      for (int i = 0; i < ids && received < notifications; ++i, ++received) {
        const int id = static_cast<int>(received % ids);
        CHECK(window.wait(data + id, 1) == data + id);
        CHECK(window.reset(data + id) == static_cast<std::uint32_t>(received + 1));
        CHECK(holds(window.memory() + base + slot(received), bytes, previous * 64 + me,
                    static_cast<std::uint64_t>(received)));
        DO(espalier_window_notify(window, previous, credits + id, static_cast<std::uint32_t>(received + 1)));
      }
    }
    DO(espalier_window_flush(window));  // the sources go
  }
  DO(espalier_barrier(comm));
}

namespace {

// Something for the ranks of one machine to look at without MPI and without Espalier.
struct Board {
  std::atomic<int>* flags;
  Board() {
    int id = my_rank() == 0 ? static_cast<int>(getpid()) : 0;
    MPI_Bcast(&id, 1, MPI_INT, 0, MPI_COMM_WORLD);
    const std::string name = "/espalier-test-board-" + std::to_string(id);
    const int file = shm_open(name.c_str(), O_RDWR | O_CREAT, 0600);
    CHECK(file >= 0 && ftruncate(file, 4096) == 0);
    void* memory = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    CHECK(memory != MAP_FAILED);
    close(file);
    flags = static_cast<std::atomic<int>*>(memory);
    MPI_Barrier(MPI_COMM_WORLD);
    if (my_rank() == 0) shm_unlink(name.c_str());
  }
  ~Board() { munmap(flags, 4096); }
  void compute_until(int flag) const {
    for (int i = 0; flags[flag].load() == 0; ++i) {
      CHECK(i < 60000);
      usleep(1000);
    }
  }
};

}  // namespace

// The last rank of node 0 computes until all others have finished without it: nothing is aimed at it, so its
// node receives all the same, and it finds everything there with a plain look. The first rank of node 1
// computes while something is aimed at it: its sender can go on, and it comes when that rank looks.
void test_busy_target(espalier_comm* comm) {
  const Window window(comm, 4096, 64);
  const Board board;
  CHECK(window.nodes() >= 2 && espalier_window_local_size(window, 0) >= 2);
  const bool messages = std::strcmp(espalier_window_transport(window), "message") == 0;
  const bool sends = window.node() == 1 && window.local_rank() == 0;
  const bool busy = window.node() == 0 && window.local_rank() == window.local_size() - 1;
  unsigned char mine[1000];
  if (sends) {
    for (int id = 0; id < 4; ++id) {
      fill(mine, sizeof mine, 0, static_cast<unsigned>(id));
      DO(espalier_window_put_notify(window, 0, static_cast<std::size_t>(id) * sizeof mine, mine, sizeof mine,
                                    id, 7));
      DO(espalier_window_flush(window));
    }
  }
  if (window.node() == 0 && window.local_rank() == 0) {
    for (int id = 0; id < 4; ++id) CHECK(window.wait(id, 1) == id);
    board.flags[0].store(1);
  }
  if (busy) {
    board.compute_until(0);
    for (int id = 0; id < 4; ++id) {
      int found = -1;
      DO(espalier_window_notify_waitsome(window, id, 1, 0, &found));
      CHECK(holds(window.memory() + static_cast<std::size_t>(id) * sizeof mine, sizeof mine, 0,
                  static_cast<unsigned>(id)));
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  // Now the other way: node 1's first rank computes until its sender, a message away, has gone on.
  if (window.node() == 0 && window.local_rank() == 0) {
    fill(mine, sizeof mine, 1, 1);
    if (!messages) board.flags[1].store(1);  // host RMA may take the target's help to complete
    DO(espalier_window_put_notify(window, 1, 0, mine, sizeof mine, 9, 11));
    DO(espalier_window_flush(window));
    board.flags[1].store(1);
  }
  if (sends) board.compute_until(1);
  if (window.node() == 1) {
    CHECK(window.wait(9, 1) == 9);
    CHECK(holds(window.memory(), sizeof mine, 1, 1));
  }
  DO(espalier_barrier(comm));
}

// A rank that waits in a collective drives what is aimed at it, though it waits for something else.
void test_waits_of_others_drive(espalier_comm* comm) {
  const Window window(comm, 1 << 20, 8);
  if (window.nodes() < 2) return;
  std::vector<unsigned char> got(1 << 20);
  if (window.local_rank() == 0 && window.node() != 0) {
    fill(window.memory(), got.size(), window.node(), 4);
  }
  DO(espalier_barrier(comm));
  // The ranks of node 0 read from the others, which are in the barrier below already or come to it.
  if (window.node() == 0)
    for (int node = 1; node < window.nodes(); ++node) {
      DO(espalier_window_get(window, node, 0, got.data(), got.size()));
      DO(espalier_window_flush(window));
      CHECK(holds(got.data(), got.size(), node, 4));
    }
  DO(espalier_barrier(comm));
}
