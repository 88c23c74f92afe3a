// The large-count forms of MPI 4, with counts of any size but the large (those have their own program).
#include "checks.hpp"
#include "harness.hpp"
#include "moves.hpp"
#include "values.hpp"

#include <vector>

namespace checked {

#if MPI_VERSION >= 4

namespace {

void xor_large(void* in, void* inout, MPI_Count* count, MPI_Datatype*) {
  auto* a = static_cast<std::uint32_t*>(in);
  auto* b = static_cast<std::uint32_t*>(inout);
  for (MPI_Count i = 0; i < *count; ++i) b[i] ^= a[i];
}

std::vector<std::uint32_t> own(int rank, long count, std::uint64_t seed) {
  std::vector<std::uint32_t> values(static_cast<std::size_t>(count));
  for (long i = 0; i < count; ++i) values[static_cast<std::size_t>(i)] = word(seed, rank, i);
  return values;
}

}  // namespace

void check_count_forms(const Group& world) {
  std::uint64_t seed = 11000;
  MPI_Op large_op;
  MPI_Op_create_c(xor_large, 1, &large_op);
  for (long count : {0L, 1L, 2L, 100L, 2048L, 30000L}) {
    int root = static_cast<int>(++seed % static_cast<unsigned>(world.size));
    std::vector<std::uint32_t> send = own(world.rank, count, seed), sum(send.size()), bits(send.size());
    for (int rank = 0; rank < world.size; ++rank) {
      std::vector<std::uint32_t> theirs = own(rank, count, seed);
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += theirs[i], bits[i] ^= theirs[i];
    }
    std::vector<std::uint32_t> receive(send.size());
    begin({"MPI_Allreduce_c", &world, -1, count, "MPI_UINT32_T", "MPI_SUM"});
    MPI_Allreduce_c(send.data(), receive.data(), count, MPI_UINT32_T, MPI_SUM, world.comm);
    compare(sum, receive);
    begin({"MPI_Allreduce_c in place", &world, -1, count, "MPI_UINT32_T", "MPI_SUM"});
    receive = send;
    MPI_Allreduce_c(MPI_IN_PLACE, receive.data(), count, MPI_UINT32_T, MPI_SUM, world.comm);
    compare(sum, receive);
    begin({"MPI_Allreduce_c", &world, -1, count, "MPI_UINT32_T", "an operator of MPI_Op_create_c"});
    MPI_Allreduce_c(send.data(), receive.data(), count, MPI_UINT32_T, large_op, world.comm);
    compare(bits, receive);
    begin({"MPI_Reduce_c", &world, root, count, "MPI_UINT32_T", "MPI_SUM"});
    MPI_Reduce_c(send.data(), receive.data(), count, MPI_UINT32_T, MPI_SUM, root, world.comm);
    if (world.rank == root) compare(sum, receive);
    begin({"MPI_Bcast_c", &world, root, count, "MPI_UINT32_T"});
    receive = send;
    MPI_Bcast_c(receive.data(), count, MPI_UINT32_T, root, world.comm);
    compare(own(root, count, seed), receive);
  }
  MPI_Op_free(&large_op);
  for (long count : {0L, 1L, 12L, 1200L}) {
    for (bool in_place : {false, true}) {
      int root = static_cast<int>(++seed % static_cast<unsigned>(world.size));
      Move move{.group = world, .seed = seed, .in_place = in_place, .large = true, .root = root};
      all_moves(move, count);
      if (count % ints_per_item) continue;
      move.unit = ints_per_item;
      move.send = &layouts()[2];
      move.receive = &layouts()[6];
      all_moves(move, count);
    }
    for (int which = 0; which < kinds_of_prefixes; ++which) one_prefix(world, which, count, ++seed, true);
  }
}

#else

void check_count_forms(const Group& world) {
  if (world.rank == 0) std::printf("count forms: this MPI's header is older than MPI 4 and has none\n");
}

#endif

}  // namespace checked
