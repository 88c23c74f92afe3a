// Blocks that are longer or shorter than their receiver expects. Without records of calls the machine says it itself.
#include <vector>

#include "base/error.hpp"
#include "collective/node/all_to_all/alltoallv.hpp"
#include "collective/node/rooted/gatherv.hpp"
#include "collective/node/rooted/scatterv.hpp"
#include "tests/collective/blocks.hpp"
#include "tests/collective/ranks.hpp"

namespace espalier::collective {
namespace {

using plan::Algorithm;
using testing::WatchedMachine;
using namespace testing;

struct Lengths {
  std::size_t sent, expected;
};
// In lines, in a line where a slot is expected, in one slot, in several chunks.
constexpr Lengths shorter[] = {{16, 32}, {0, 40}, {16, 1000}, {1000, 1010}, {9000, 70000}, {70000, 70001}};

class BlockLengths : public ::testing::TestWithParam<int> {
 protected:
  std::size_t ranks() const { return static_cast<std::size_t>(GetParam()); }
  /// Every rank's block is as long, but what the first sends to the last, or the last to the first.
  Spread spread(std::size_t usual, int odd, std::size_t bytes) const {
    return Spread(GetParam(), 0, [&](int rank) { return rank == odd ? bytes : usual; });
  }
  void expect_start(const Bytes& got, const Bytes& sent, std::size_t offset) const {
    for (std::size_t i = 0; i < got.size() - offset && i < 80000; ++i)
      if (got[offset + i] != (i < sent.size() ? sent[i] : untouched)) {
        ADD_FAILURE() << "byte " << i << " of a block of " << sent.size();
        return;
      }
  }
};

Plan plan_of(Algorithm algorithm) {
  Plan plan;
  plan.algorithm = algorithm;
  plan.chunk = 8192;
  return plan;
}

TEST_P(BlockLengths, GathervDeliversLess) {
  Ranks all(GetParam());
  all.run([&](WatchedMachine& m) {
    const Plan plan = plan_of(Algorithm::direct);
    const int last = m.size() - 1;
    for (const auto& [sent, expected] : shorter) {
      if (sent == 0) continue;  // the root would wait
      const Spread in = spread(8, last, expected);
      const Bytes own = block_of(m.rank(), 0, m.rank() == last ? sent : 8, 0);
      Bytes got(in.end + expected, untouched);
      if (m.rank() == 0)
        receive_gatherv(m, own.data(), got.data(), in.blocks(), plan);
      else
        send_gatherv(m, 0, own.data(), own.size(), plan);
      if (m.rank() == 0)
        expect_start(got, block_of(last, 0, sent, 0), in.offsets[static_cast<std::size_t>(last)]);
    }
  });
}

TEST_P(BlockLengths, ScattervDeliversLess) {
  Ranks all(GetParam());
  all.run([&](WatchedMachine& m) {
    const Plan plan = plan_of(Algorithm::direct);
    const int last = m.size() - 1;
    for (const auto& [sent, expected] : shorter) {
      if (sent == 0 && m.size() == 2) continue;  // the receiver would wait
      const Spread out = spread(8, last, sent);
      Bytes send(out.end, untouched), got(m.rank() == last ? expected : 8, untouched);
      for (int r = 0; r < m.size(); ++r) out.put(send, r, block_of(0, r, r == last ? sent : 8, 0));
      if (m.rank() == 0)
        send_scatterv(m, send.data(), got.data(), out.blocks(), plan);
      else
        receive_scatterv(m, 0, got.data(), got.size(), plan);
      if (m.rank() == last) expect_start(got, block_of(0, last, sent, 0), 0);
    }
  });
}

TEST_P(BlockLengths, AlltoallvDeliversLess) {
  for (const Algorithm algorithm : {Algorithm::exchange, Algorithm::central}) {
    Ranks all(GetParam());
    all.run([&](WatchedMachine& m) {
      const Plan plan = plan_of(algorithm);
      const int last = m.size() - 1;
      for (const auto& [sent, expected] : shorter) {
        if (m.size() == 2) continue;  // both go by both lengths
        const Spread in = spread(8, m.rank() == 0 ? last : -1, expected),
                     out = spread(8, m.rank() == last ? 0 : -1, sent);
        Bytes send(out.end, untouched), got(in.end + expected, untouched);
        for (int r = 0; r < m.size(); ++r)
          out.put(send, r, block_of(m.rank(), r, m.rank() == last && r == 0 ? sent : 8, 0));
        alltoallv(m, send.data(), out.blocks(), got.data(), in.blocks(), plan);
        if (m.rank() == 0)
          expect_start(got, block_of(last, 0, sent, 0), in.offsets[static_cast<std::size_t>(last)]);
      }
    });
  }
}

TEST_P(BlockLengths, MoreIsAnErrorOfTheReceiver) {
  for (const auto& [expected, sent] : shorter) {
    if (expected == 0 || sent > 20000) continue;  // what does not fit the slots waits for the root
    Ranks all(GetParam());
    all.run([&](WatchedMachine& m) {
      const Plan plan = plan_of(Algorithm::direct);
      const int last = m.size() - 1;
      const Spread in = spread(8, last, expected);
      const Bytes own = block_of(m.rank(), 0, m.rank() == last ? sent : 8, 0);
      Bytes got(in.end, untouched);
      if (m.rank() == 0)
        EXPECT_THROW(receive_gatherv(m, own.data(), got.data(), in.blocks(), plan), Error) << sent;
      else
        send_gatherv(m, 0, own.data(), own.size(), plan);
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, BlockLengths, ::testing::Values(2, 3, 5));

}  // namespace
}  // namespace espalier::collective
