// Windows on one node, between processes that share nothing but a board.
#include "runtime/window/window.hpp"

#include <sys/mman.h>

#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "base/error.hpp"
#include "runtime/multinode/communicator_bootstrap.hpp"
#include "tests/memory/children.hpp"
#include "tests/runtime/bootstrap.hpp"

namespace espalier::runtime {
namespace {

using testing::Board;
using testing::bootstrap_of;
using testing::run_ranks;

/// A window that is closed at the end, like a program's.
struct Open {
  Open(const Bootstrap& bootstrap, const WindowRequest& request)
      : window(Window::create(bootstrap, request)) {}
  ~Open() { window->close(); }
  network::NodeWindow* operator->() const { return &**window; }
  std::unique_ptr<Window> window;
};

TEST(Window, RanksOfANodeShareItsSegmentAndItsNotifications) {
  const testing::ShmWatch names;
  for (const int ranks : {1, 2, 5}) {
    Board board(ranks);
    run_ranks(ranks, [&](int rank) {
      const Open window(bootstrap_of(board, rank), {1000, 65536, nullptr});
      EXPECT_EQ(window.window->transport(), network::WindowTransport::memory);
      EXPECT_EQ(window->nodes(), 1);
      EXPECT_EQ(window->local()[999], std::byte{0});
      const std::uint64_t number = 42;
      if (rank == 0) window->put_notify(0, 8, &number, sizeof number, 65535, 7);
      EXPECT_EQ(window->wait_some(65000, 536), 65535);
      EXPECT_EQ(std::memcmp(window->local() + 8, &number, sizeof number), 0);
      std::uint64_t got = 0;
      window->get(0, 8, &got, sizeof got);
      EXPECT_EQ(got, number);
      EXPECT_EQ(window->fetch_add(0, 16, 5) % 5, 0U);
      board.meet();
      EXPECT_EQ(window->compare_swap(0, 16, 1, 9), static_cast<std::uint64_t>(5 * ranks));
    });
  }
  EXPECT_EQ(names.left_behind(), std::vector<std::string>());
}

TEST(Window, ChildProcessesShareItAndNoDescriptorStays) {
  Board board(2);
  run_ranks(2, [&](int rank) {
    const Open window(bootstrap_of(board, rank), {100000, 16, nullptr});
    int memory_files = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
      std::error_code gone;
      const auto target = std::filesystem::read_symlink(entry.path(), gone);
      memory_files += target.string().find("memfd:espalier") != std::string::npos;
    }
    EXPECT_EQ(memory_files, 2) << "the arena and the heap";
    if (rank == 0) window->local()[99999] = std::byte{1};
    board.meet();
    const pid_t child = testing::fork_child([&] {
      EXPECT_EQ(window->local()[99999], std::byte{1});
      window->local()[rank] = std::byte{7};
      return 0;
    });
    EXPECT_EQ(testing::end_of(child), 0);
    board.meet();
    EXPECT_EQ(window->local()[0], std::byte{7});
    EXPECT_EQ(window->local()[1], std::byte{7});
    board.meet();
  });
}

// Each rank gives to the next; ids wrap around, every payload is looked at.
TEST(Window, AMillionNotifications) {
  constexpr int ranks = 2, ids = 512;
  constexpr std::uint32_t each = 500000;
  Board board(ranks);
  run_ranks(ranks, [&](int rank) {
    const Open window(bootstrap_of(board, rank), {ranks * ids * 8, 2 * ranks * ids, nullptr});
    const int to = (rank + 1) % ranks;
    const auto data = [&](int of, std::uint32_t n) { return of * ids + static_cast<int>(n % ids); };
    const auto credit = [&](int of, std::uint32_t n) { return ranks * ids + data(of, n); };
    std::uint32_t wrong = 0;
    for (std::uint32_t sent = 0, received = 0; received < each;) {
      for (; sent < each && sent < received + ids; ++sent) {
        if (sent >= ids) {
          window->wait_some(credit(to, sent), 1);
          wrong += window->reset(credit(to, sent)) != sent - ids + 1;
        }
        const std::uint64_t number = sent * 0x9e3779b97f4a7c15ull + static_cast<unsigned>(rank);
        window->put_notify(0, static_cast<std::size_t>(data(to, sent)) * 8, &number, sizeof number,
                           data(to, sent), sent + 1);
      }
      for (; received < sent; ++received) {
        window->wait_some(data(rank, received), 1);
        const std::uint64_t number = received * 0x9e3779b97f4a7c15ull + static_cast<unsigned>(to);
        wrong += std::memcmp(window->local() + data(rank, received) * 8, &number, sizeof number) != 0;
        wrong += window->reset(data(rank, received)) != received + 1;
        window->notify(0, credit(rank, received), received + 1);
      }
    }
    EXPECT_EQ(wrong, 0U);
    board.meet();
  });
}

TEST(Window, DifferentRequestsAreRefusedOnAllRanks) {
  Board board(3);
  run_ranks(3, [&](int rank) {
    try {
      Window::create(bootstrap_of(board, rank), {100, rank == 2 ? 5 : 4, nullptr});
      ADD_FAILURE() << "created";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("rank 2 asks for 100 bytes and 5 notifications"),
                std::string::npos)
          << error.what();
    }
  });
}

TEST(Window, AMachineWithoutRoomRefusesOnAllRanks) {
  Board board(2);
  run_ranks(2, [&](int rank) {
    EXPECT_THROW(Window::create(bootstrap_of(board, rank), {std::size_t{1} << 50, 4, nullptr}), Error);
    const Open window(bootstrap_of(board, rank), {100, 4, nullptr});  // and nothing is out of step
    window->notify(0, rank, 1);
    EXPECT_EQ(window->wait_some(1 - rank, 1), 1 - rank);
    board.meet();
  });
}

TEST(Window, BoundMemoryMustBeShared) {
  Board board(2);
  void* shared = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  std::memset(shared, 3, 4096);
  run_ranks(2, [&](int rank) {
    {
      const Open window(bootstrap_of(board, rank), {4096, 4, shared});
      EXPECT_EQ(window->local(), shared);
      EXPECT_EQ(window->local()[0], std::byte{3});
      board.meet();
      if (rank == 0) window->put_notify(0, 0, "x", 1, 0, 1);
      window->wait_some(0, 1);
      EXPECT_EQ(window->local()[0], std::byte{'x'});
      board.meet();
    }
    std::vector<std::byte> own(4096);
    EXPECT_THROW(Window::create(bootstrap_of(board, rank), {4096, 4, own.data()}), Error);
  });
  munmap(shared, 4096);
}

// Two jobs with the same requests at the same time: each has its own memory.
TEST(Window, TwoJobsNeverMeet) {
  Board first(2), second(2);
  run_ranks(4, [&](int process) {
    Board& board = process < 2 ? first : second;
    const int rank = process % 2;
    for (int i = 0; i < 50; ++i) {
      const Open window(bootstrap_of(board, rank), {64, 2, nullptr});
      const char mark = process < 2 ? 'a' : 'b';
      if (rank == 0) window->put_notify(0, 0, &mark, 1, 1, 1);
      EXPECT_EQ(window->wait_some(0, 2), 1);
      EXPECT_EQ(window->local()[0], static_cast<std::byte>(mark));
      board.meet();
    }
  });
}

// The others of a node notice nothing but silence: waits end with their timeout, memory goes with the
// processes.
TEST(Window, AKilledRank) {
  const testing::ShmWatch names;
  Board board(2);
  testing::Job job(2, [&](int rank) {
    const auto window = Window::create(bootstrap_of(board, rank), {64, 2, nullptr});
    if (rank == 1) pause();
    EXPECT_EQ((*window)->wait_some_for(0, 2, std::chrono::milliseconds(300)), -1);
  });
  EXPECT_EQ(job.wait(0), 0);
  EXPECT_EQ(job.end(1), -SIGKILL);
  EXPECT_EQ(names.left_behind(), std::vector<std::string>());
}

TEST(Window, OverACommunicatorsOwnCollectives) {
  Board board(3);
  run_ranks(3, [&](int rank) {
    const auto communicator = Communicator::create(bootstrap_of(board, rank));
    ASSERT_TRUE(communicator->active());
    const Bootstrap bootstrap = bootstrap_of(*communicator);
    std::vector<int> all(3);
    bootstrap.allgather(&rank, all.data(), sizeof rank);
    EXPECT_EQ(all, std::vector<int>({0, 1, 2}));
    const Open window(bootstrap, {64, 3, nullptr});
    window->notify(0, rank, 1);
    for (int other = 0; other < 3; ++other) EXPECT_EQ(window->wait_some(other, 1), other);
    EXPECT_TRUE(communicator->barrier());
  });
}

}  // namespace
}  // namespace espalier::runtime
