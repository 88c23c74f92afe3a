// Alltoallv of blocks in pieces, by all ways that it goes; beside ranks whose blocks are dense; and what a rank
// has for itself.
#include "collective/pieces/piece_blocks.hpp"

#include <tuple>

#include "collective/node/all_to_all/alltoallv.hpp"
#include "tests/collective/pieces/scattered.hpp"

namespace espalier::collective {
namespace {

using testing::WatchedMachine;
using namespace testing;
using plan::Algorithm;

class Pieces : public ::testing::TestWithParam<std::tuple<int, Algorithm>> {
 protected:
  template <class Body>
  void everywhere(Body body) {
    const auto [n, algorithm] = GetParam();
    if (algorithm == Algorithm::single_copy)
      testing::everywhere_by_single_copy(n, body);
    else
      testing::everywhere(n, algorithm, body);
  }
};

TEST_P(Pieces, OfAllLengths) {
  everywhere([](auto& m, const Plan& plan) {
    if (!alltoallv_fits(m)) return;
    for (int round = 0; round < 9; ++round) {
      Bytes got, wanted;
      exchange_scattered(
          m, round, [&](int from, int to) { return unequal(from * m.size() + to, round); },
          [&](const Scattered& out, const Scattered& in) { alltoallv(m, out.blocks(), in.blocks(), plan); },
          got, wanted);
      expect_same(got, wanted, "pieces", m, wanted.size());
    }
  });
}

// Whether data are dense a rank knows of its own alone: both kinds are one call.
TEST_P(Pieces, BesideDenseBlocks) {
  everywhere([](auto& m, const Plan& plan) {
    if (!alltoallv_fits(m)) return;
    for (int round = 0; round < 9; ++round) {
      const auto bytes_of = [&](int from, int to) { return unequal(from * m.size() + to, round); };
      if ((m.rank() + round) % 2 == 0) {
        Bytes got, wanted;
        exchange_scattered(
            m, round, bytes_of,
            [&](const Scattered& out, const Scattered& in) { alltoallv(m, out.blocks(), in.blocks(), plan); },
            got, wanted);
        expect_same(got, wanted, "pieces", m, wanted.size());
        continue;
      }
      const Spread out(m.size(), round, [&](int to) { return bytes_of(m.rank(), to); });
      const Spread in(m.size(), round, [&](int from) { return bytes_of(from, m.rank()); });
      Bytes send(out.end, untouched), wanted(in.end, untouched), got = wanted;
      for (int r = 0; r < m.size(); ++r) {
        out.put(send, r, block_of(m.rank(), r, out.bytes[static_cast<std::size_t>(r)], round));
        in.put(wanted, r, block_of(r, m.rank(), in.bytes[static_cast<std::size_t>(r)], round));
      }
      alltoallv(m, send.data(), out.blocks(), got.data(), in.blocks(), plan);
      expect_same(got, wanted, "dense", m, out.end);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Ranks, Pieces,
                         ::testing::Combine(::testing::Values(2, 3, 5),
                                            ::testing::Values(Algorithm::exchange, Algorithm::central,
                                                              Algorithm::single_copy)),
                         name_of_case<Pieces>);

struct Copies {
  static void copy(void* target, const void* source, std::size_t bytes) {
    std::memcpy(target, source, bytes);
  }
  static void copy_runs(void* target, std::ptrdiff_t target_step, const void* source,
                        std::ptrdiff_t source_step, std::size_t bytes, std::size_t count) {
    memory::copy_runs(target, target_step, source, source_step, bytes, count);
  }
};

TEST(PieceBlocks, OwnBlocksGoFromPiecesToPieces) {
  for (int seed = 0; seed < 12; ++seed)
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{12}, std::size_t{100}, std::size_t{30000}}) {
      Scattered out(1, seed, [&](int) { return bytes; }), in(1, seed * 3 + 1, [&](int) { return bytes; });
      const Bytes block = block_of(0, 0, bytes, seed);
      out.put(out.memory, 0, block);
      Bytes wanted = in.memory;
      in.put(wanted, 0, block);
      Copies copies;
      copy_own(copies, in.blocks().block(0), out.blocks().block(0), Part{0, bytes});
      EXPECT_EQ(in.memory, wanted) << "seed " << seed << ", " << bytes << " bytes";
    }
}

}  // namespace
}  // namespace espalier::collective
