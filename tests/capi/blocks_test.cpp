// Blocks and reductions of which each rank gets a part, by the C API.
#include "espalier/espalier.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "tests/capi/met.hpp"

namespace {

using espalier::testing::Met;
using espalier::testing::own_name;
using espalier::testing::run_ranks;

using Bytes = std::vector<char>;

// What `from` has for `to`.
Bytes block_of(int from, int to, std::size_t bytes) {
  Bytes block(bytes);
  for (std::size_t i = 0; i < bytes; ++i)
    block[i] = static_cast<char>(from * 57 + to * 11 + static_cast<int>(i % 101));
  return block;
}
void append(Bytes& all, const Bytes& block) { all.insert(all.end(), block.begin(), block.end()); }
void* in_place_target() { return const_cast<void*>(ESPALIER_IN_PLACE); }

void check_blocks(espalier_comm* comm, std::size_t bytes) {
  const int n = espalier_comm_size(comm), me = espalier_comm_rank(comm);
  const auto ranks = static_cast<std::size_t>(n), own = static_cast<std::size_t>(me) * bytes;
  Bytes from_all, to_me, to_all;
  for (int r = 0; r < n; ++r) {
    append(from_all, block_of(r, 0, bytes));
    append(to_me, block_of(r, me, bytes));
    append(to_all, block_of(me, r, bytes));
  }
  const Bytes mine = block_of(me, 0, bytes);
  Bytes got(bytes * ranks, '?');
  ASSERT_EQ(espalier_allgather(comm, mine.data(), got.data(), bytes), ESPALIER_OK);
  EXPECT_EQ(got, from_all);
  got.assign(got.size(), '?');
  std::copy(mine.begin(), mine.end(), got.begin() + static_cast<std::ptrdiff_t>(own));
  ASSERT_EQ(espalier_allgather(comm, ESPALIER_IN_PLACE, got.data(), bytes), ESPALIER_OK);
  EXPECT_EQ(got, from_all);
  ASSERT_EQ(espalier_alltoall(comm, to_all.data(), got.data(), bytes), ESPALIER_OK);
  EXPECT_EQ(got, to_me);
  got = to_all;
  ASSERT_EQ(espalier_alltoall(comm, ESPALIER_IN_PLACE, got.data(), bytes), ESPALIER_OK);
  EXPECT_EQ(got, to_me);
  for (int root = 0; root < n; ++root) {
    got.assign(bytes * ranks, '?');
    ASSERT_EQ(espalier_gather(comm, mine.data(), me == root ? got.data() : nullptr, bytes, root),
              ESPALIER_OK);
    EXPECT_EQ(got, me == root ? from_all : Bytes(bytes * ranks, '?'));
    Bytes part(bytes, '?');
    ASSERT_EQ(espalier_scatter(comm, me == root ? to_all.data() : nullptr, part.data(), bytes, root),
              ESPALIER_OK);
    EXPECT_EQ(part, block_of(root, me, bytes));
    part.assign(bytes, '?');
    ASSERT_EQ(
        espalier_scatter(comm, to_all.data(), me == root ? in_place_target() : part.data(), bytes, root),
        ESPALIER_OK);
    EXPECT_EQ(part, me == root ? Bytes(bytes, '?') : block_of(root, me, bytes));
  }
}

// Rank r has r * bytes for every rank, each block behind a hole of one byte.
void check_unequal_blocks(espalier_comm* comm, std::size_t bytes) {
  const int n = espalier_comm_size(comm), me = espalier_comm_rank(comm), root = n - 1;
  const auto ranks = static_cast<std::size_t>(n);
  std::vector<std::size_t> sizes(ranks), offsets(ranks), own(ranks, static_cast<std::size_t>(me) * bytes),
      own_offsets(ranks);
  Bytes from_all, to_me, to_all;
  for (int r = 0; r < n; ++r) {
    const auto i = static_cast<std::size_t>(r);
    sizes[i] = i * bytes;
    offsets[i] = from_all.size() + 1;
    own_offsets[i] = to_all.size() + 1;
    for (Bytes* all : {&from_all, &to_me, &to_all}) all->push_back('?');
    append(from_all, block_of(r, 0, sizes[i]));
    append(to_me, block_of(r, me, sizes[i]));
    append(to_all, block_of(me, r, own[i]));
  }
  const Bytes mine = block_of(me, 0, own[0]), untouched(from_all.size(), '?');
  Bytes got = untouched;
  ASSERT_EQ(espalier_allgatherv(comm, mine.data(), got.data(), sizes.data(), offsets.data()), ESPALIER_OK);
  EXPECT_EQ(got, from_all);
  got = untouched;
  ASSERT_EQ(espalier_alltoallv(comm, to_all.data(), own.data(), own_offsets.data(), got.data(), sizes.data(),
                               offsets.data()),
            ESPALIER_OK);
  EXPECT_EQ(got, to_me);
  got = untouched;
  const bool is_root = me == root;
  ASSERT_EQ(espalier_gatherv(comm, mine.data(), mine.size(), is_root ? got.data() : nullptr,
                             is_root ? sizes.data() : nullptr, is_root ? offsets.data() : nullptr, root),
            ESPALIER_OK);
  EXPECT_EQ(got, is_root ? from_all : untouched);
  Bytes part(own[0], '?');
  ASSERT_EQ(espalier_scatterv(comm, is_root ? from_all.data() : nullptr, is_root ? sizes.data() : nullptr,
                              is_root ? offsets.data() : nullptr, part.data(), part.size(), root),
            ESPALIER_OK);
  EXPECT_EQ(part, mine);
}

void check_partial_reductions(espalier_comm* comm, std::size_t count) {
  const int n = espalier_comm_size(comm), me = espalier_comm_rank(comm);
  const auto ranks = static_cast<std::size_t>(n);
  std::vector<std::int64_t> send(count * ranks), part(count, -1), prefix(count * ranks, -1);
  for (std::size_t i = 0; i < send.size(); ++i) send[i] = me + static_cast<std::int64_t>(i);
  const auto expect_sum = [&](const std::vector<std::int64_t>& got, int first_rank, int last_rank,
                              std::size_t begin) {
    for (std::size_t i = 0; i < got.size(); ++i) {
      std::int64_t sum = 0;
      for (int r = first_rank; r <= last_rank; ++r) sum += r + static_cast<std::int64_t>(begin + i);
      ASSERT_EQ(got[i], sum) << i << " of " << got.size();
    }
  };
  ASSERT_EQ(
      espalier_reduce_scatter_block(comm, send.data(), part.data(), count, ESPALIER_INT64, ESPALIER_SUM),
      ESPALIER_OK);
  expect_sum(part, 0, n - 1, static_cast<std::size_t>(me) * count);
  std::vector<std::size_t> counts(ranks, 0);
  counts[ranks - 1] = count;
  part.assign(me == n - 1 ? count : 0, -1);
  ASSERT_EQ(
      espalier_reduce_scatter(comm, send.data(), part.data(), counts.data(), ESPALIER_INT64, ESPALIER_SUM),
      ESPALIER_OK);
  expect_sum(part, 0, n - 1, 0);
  ASSERT_EQ(espalier_scan(comm, send.data(), prefix.data(), prefix.size(), ESPALIER_INT64, ESPALIER_SUM),
            ESPALIER_OK);
  expect_sum(prefix, 0, me, 0);
  ASSERT_EQ(espalier_exscan(comm, send.data(), me == 0 ? nullptr : prefix.data(), prefix.size(),
                            ESPALIER_INT64, ESPALIER_SUM),
            ESPALIER_OK);
  if (me > 0) expect_sum(prefix, 0, me - 1, 0);
}

TEST(Meet, BlocksAndPartialReductionsAreRight) {
  for (const int ranks : {1, 2, 5})
    run_ranks(ranks, [&](int rank) {
      const Met met(own_name("blocks"), rank, ranks);
      for (const std::size_t bytes : {0, 1, 20, 5000, 70000}) {
        check_blocks(met.comm, bytes);
        check_unequal_blocks(met.comm, bytes);
        check_partial_reductions(met.comm, bytes);
      }
    });
}

}  // namespace
