// What an allgatherv puts together once on a node, and lends to its ranks.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "espalier/espalier.h"
#include "tests/capi/seat.hpp"
#include "tests/runtime/processes.hpp"

namespace shared_result {

using espalier::testing::Board;
using espalier::testing::gather_on_board;
using espalier::testing::run_ranks;
using espalier::testing::Seat;
using Bytes = std::vector<unsigned char>;

struct Member {
  Seat seat;
  espalier_comm* comm = nullptr;
  Member(Board& board, int rank) : seat{&board, rank} {
    EXPECT_EQ(espalier_comm_create(rank, board.size(), gather_on_board, &seat, &comm), ESPALIER_OK)
        << espalier_error_text();
  }
  ~Member() { espalier_comm_free(comm); }
};

Bytes block_of(int rank, std::size_t bytes, int round) {
  Bytes block(bytes);
  for (std::size_t i = 0; i < bytes; ++i)
    block[i] = static_cast<unsigned char>(static_cast<std::size_t>(rank) * 57 + i * 13 + i / 255 +
                                          static_cast<std::size_t>(round) * 29);
  return block;
}

/// What a call has exposed.
struct SharedResult {
  std::vector<std::size_t> bytes, offsets;
  const unsigned char* whole = nullptr;
  std::size_t total() const { return std::accumulate(bytes.begin(), bytes.end(), std::size_t{0}); }
};

// Rank r has r * unit.
SharedResult borrow(const Member& me, std::size_t unit, int round) {
  const auto ranks = static_cast<std::size_t>(espalier_comm_size(me.comm));
  SharedResult shared_result{std::vector<std::size_t>(ranks), std::vector<std::size_t>(ranks, 12345)};
  for (std::size_t r = 0; r < ranks; ++r) shared_result.bytes[r] = r * unit;
  Bytes own = block_of(me.seat.rank, shared_result.bytes[static_cast<std::size_t>(me.seat.rank)], round);
  const void* whole = &own;
  EXPECT_EQ(espalier_allgatherv_lent(me.comm, own.data(), shared_result.bytes.data(), &whole,
                                     shared_result.offsets.data()),
            ESPALIER_OK)
      << espalier_error_text();
  shared_result.whole = static_cast<const unsigned char*>(whole);
  return shared_result;  // own goes: it belongs to the caller again
}

void expect_right(const SharedResult& shared_result, int round) {
  std::size_t end = 0;
  for (std::size_t r = 0; r < shared_result.bytes.size(); end += shared_result.bytes[r++]) {
    EXPECT_EQ(shared_result.offsets[r], end);
    const Bytes block = block_of(static_cast<int>(r), shared_result.bytes[r], round);
    if (!block.empty()) {
      ASSERT_EQ(std::memcmp(shared_result.whole + end, block.data(), block.size()), 0) << "block " << r;
    }
  }
}

TEST(SharedResult, EveryLengthOnEveryNumberOfRanks) {
  for (const int ranks : {1, 2, 5}) {
    Board board(ranks);
    run_ranks(ranks, [&](int rank) {
      const Member me(board, rank);
      int round = 0;
      for (const std::size_t unit : {20, 0, 1, 5000, 300000, 3, 70000}) {
        ++round;
        expect_right(borrow(me, unit, round), round);
      }
    });
  }
}

// Proved by what no rank may do: one writes there, and the others see it.
TEST(SharedResult, TheRanksOfANodeReadTheSameMemory) {
  Board board(3);
  run_ranks(3, [&](int rank) {
    const Member me(board, rank);
    const SharedResult shared_result = borrow(me, 1000, 1);
    expect_right(shared_result, 1);
    board.meet();
    if (rank == 0) const_cast<unsigned char*>(shared_result.whole)[17] ^= 0xff;
    board.meet();
    EXPECT_EQ(shared_result.whole[17], block_of(1, 1000, 1)[17] ^ 0xff);
  });
}

// It is the program's data, unlike what else lies in the ranks' memory.
TEST(SharedResult, AChildProcessReadsIt) {
  Board board(2);
  run_ranks(2, [&](int rank) {
    const Member me(board, rank);
    const SharedResult shared_result = borrow(me, 100000, 1);
    const pid_t child = espalier::testing::fork_child([&] {
      expect_right(shared_result, 1);
      return 0;
    });
    EXPECT_EQ(espalier::testing::end_of(child), 0);
    expect_right(shared_result, 1);
  });
}

// A rank that takes its time holds the others up in their next such call, and nowhere else; also one that
// needs more memory.
TEST(SharedResult, ItStaysUntilTheRanksOwnNextCall) {
  Board board(3);
  run_ranks(3, [&](int rank) {
    const Member me(board, rank);
    for (int round = 0; round < 12; ++round) {
      const SharedResult shared_result = borrow(me, static_cast<std::size_t>(100 << round), round);
      if (round % 3 == rank) usleep(3000);
      expect_right(shared_result, round);
    }
  });
}

TEST(SharedResult, OtherCollectivesBetween) {
  Board board(4);
  run_ranks(4, [&](int rank) {
    const Member me(board, rank);
    for (int round = 0; round < 50; ++round) {
      expect_right(borrow(me, 3000, round), round);
      std::int64_t one = 1, sum = 0;
      ASSERT_EQ(espalier_allreduce(me.comm, &one, &sum, 1, ESPALIER_INT64, ESPALIER_SUM), ESPALIER_OK);
      EXPECT_EQ(sum, 4);
    }
  });
}

TEST(SharedResult, WithoutMemoryForItEachRankHasItsOwn) {
  Board board(2);
  run_ranks(2, [&](int rank) {
    setenv("ESPALIER_SHM", "2MiB", 1);
    const Member me(board, rank);
    int round = 0;
    for (const std::size_t unit : {100, 4 << 20, 100, 5 << 20}) {
      ++round;
      expect_right(borrow(me, unit, round), round);
    }
  });
}

TEST(SharedResult, BadArgumentsAreNamed) {
  Board board(1);
  run_ranks(1, [&](int rank) {
    const Member me(board, rank);
    const std::size_t bytes = 8;
    std::size_t offset = 0;
    const void* whole = nullptr;
    const auto refused = [&](const void* send, const std::size_t* b, const void** w, std::size_t* o,
                             const std::string& word) {
      EXPECT_EQ(espalier_allgatherv_lent(me.comm, send, b, w, o), ESPALIER_ERR_ARGUMENT);
      EXPECT_NE(std::string(espalier_error_text()).find(word), std::string::npos) << espalier_error_text();
    };
    refused(&bytes, nullptr, &whole, &offset, "must not be NULL");
    refused(&bytes, &bytes, nullptr, &offset, "must not be NULL");
    refused(&bytes, &bytes, &whole, nullptr, "must not be NULL");
    refused(nullptr, &bytes, &whole, &offset, "send is NULL");
    refused(ESPALIER_IN_PLACE, &bytes, &whole, &offset, "ESPALIER_IN_PLACE");
    EXPECT_EQ(whole, nullptr);
  });
}

}  // namespace shared_result
