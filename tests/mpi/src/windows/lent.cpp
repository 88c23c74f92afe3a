// The whole of an allgatherv, put together once on each node and lent.
#include <algorithm>
#include <numeric>

#include "checks.hpp"

namespace {

// Rank r has: alike, decreasing, all at rank 0 (NOTIFY II-B).
std::vector<std::size_t> sizes(int distribution, std::size_t mean) {
  const auto n = static_cast<std::size_t>(ranks());
  std::vector<std::size_t> bytes(n, distribution == 0 ? mean : 0);
  for (std::size_t r = 0; distribution == 1 && r < n; ++r) bytes[r] = 2 * mean * (n - r) / (n + 1);
  if (distribution == 2) bytes[0] = mean * n;
  return bytes;
}

struct Lent {
  const unsigned char* whole;
  std::vector<std::size_t> bytes, offsets;
};

Lent borrow(espalier_comm* comm, const std::vector<std::size_t>& bytes, std::uint64_t round) {
  Lent lent{nullptr, bytes, std::vector<std::size_t>(bytes.size())};
  std::vector<unsigned char> own(bytes[static_cast<std::size_t>(my_rank())]);
  fill(own.data(), own.size(), my_rank(), round);
  const void* whole = nullptr;
  DO(espalier_allgatherv_lent(comm, own.data(), bytes.data(), &whole, lent.offsets.data()));
  lent.whole = static_cast<const unsigned char*>(whole);
  return lent;
}

bool is_right(const Lent& lent, std::uint64_t round) {
  for (int r = 0; r < ranks(); ++r) {
    const auto i = static_cast<std::size_t>(r);
    if (!holds(lent.whole + lent.offsets[i], lent.bytes[i], r, round)) return false;
  }
  return true;
}

void dawdle(std::uint64_t round) {
  const double until = MPI_Wtime() + 0.002;
  if (static_cast<int>(round % static_cast<unsigned>(ranks())) == my_rank())
    while (MPI_Wtime() < until) continue;
}

// One writes where no rank may, and the others of its node see it.
void test_sharing(espalier_comm* comm, bool shared) {
  int node = 0;
  {
    const Window window(comm, 64, 1);  // says who is where
    node = window.node();
  }
  MPI_Comm neighbours;
  MPI_Comm_split(MPI_COMM_WORLD, node, my_rank(), &neighbours);
  int local = 0, size = 0;
  MPI_Comm_rank(neighbours, &local);
  MPI_Comm_size(neighbours, &size);
  const Lent lent = borrow(comm, sizes(0, 1000), 77);
  const unsigned char before = lent.whole[5];
  MPI_Barrier(neighbours);
  if (local == 0) const_cast<unsigned char*>(lent.whole)[5] = static_cast<unsigned char>(before + 1);
  MPI_Barrier(neighbours);
  CHECK(lent.whole[5] == static_cast<unsigned char>(before + (shared || local == 0 ? 1 : 0)));
  MPI_Comm_free(&neighbours);
}

}  // namespace

void test_lent(espalier_comm* comm, bool shared) {
  std::uint64_t round = 0;
  for (const std::size_t mean : {16, 1000, 0, 50000, 200000, 3})
    for (int distribution = 0; distribution < 3; ++distribution) {
      const Lent lent = borrow(comm, sizes(distribution, mean), ++round);
      dawdle(round);  // the others are in their next call
      CHECK(is_right(lent, round));
    }
  for (; round < 60; ++round) {
    const Lent lent = borrow(comm, sizes(static_cast<int>(round % 3), 700), round);
    dawdle(round);
    CHECK(is_right(lent, round));
    if (round % 5 == 0) DO(espalier_barrier(comm));
  }
  test_sharing(comm, shared);
}
