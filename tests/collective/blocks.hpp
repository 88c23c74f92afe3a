// Blocks of bytes that depend on everything, the places of unequal ones, and the plans and slots to move them
// with.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <mutex>
#include <vector>

#include "collective/core/blocks.hpp"
#include "machine/host_machine.hpp"
#include "plan/plan.hpp"
#include "tests/collective/ranks.hpp"
#include "tests/full.hpp"

namespace espalier::testing {

using Bytes = std::vector<std::byte>;

constexpr std::byte untouched{0xee};

/// Every bit depends on all of `key` (the finalizer of splitmix64).
inline std::uint64_t mixed(std::uint64_t key) {
  key = (key ^ (key >> 30)) * 0xbf58476d1ce4e5b9u;
  key = (key ^ (key >> 27)) * 0x94d049bb133111ebu;
  return key ^ (key >> 31);
}

/// What `from` has for `to`.
inline Bytes block_of(int from, int to, std::size_t bytes, int round) {
  // Eight bytes at a time, none of which waits for those before: the tests spent most of their own time here.
  const auto unsigned_of = [](int value) { return static_cast<std::uint64_t>(value); };
  const std::uint64_t seed = (unsigned_of(from) << 52) + (unsigned_of(to) << 40) + (unsigned_of(round) << 28);
  Bytes block(bytes);
  for (std::size_t i = 0; i < bytes; i += sizeof seed) {
    const std::uint64_t eight = mixed(seed + i);
    std::memcpy(block.data() + i, &eight, std::min(sizeof eight, bytes - i));
  }
  return block;
}

inline void append(Bytes& all, const Bytes& block) { all.insert(all.end(), block.begin(), block.end()); }

/// One byte, inline or not for few and many ranks, one slot of 4 KiB and just not, several chunks, more than
/// a ring; in small chunks not the largest, which would take long and show little.
inline std::vector<std::size_t> sizes_of_blocks(const plan::Plan& plan) {
  if (plan.chunk < 1000) return {1, 13, 64, 113, 1000, 4097};
  return {1, 4, 8, 13, 16, 56, 64, 100, 112, 113, 1000, 4096, 4097, 9000, 40001};
}

/// Sizes of all magnitudes with zeros between, another pattern in every round; in one of them no rank has
/// anything.
inline std::size_t unequal(int rank, int round) {
  if (round % 12 == 7) return 0;
  static constexpr std::size_t pattern[] = {0, 3, 40000, 0, 112, 1, 5000, 64, 0, 200, 9001};
  return pattern[static_cast<std::size_t>(rank * 5 + round * 3) % std::size(pattern)];
}

/// Unequal blocks in one buffer, in an order that changes, with holes.
struct Spread {
  std::vector<std::size_t> bytes, offsets;
  std::size_t end = 0;

  Spread(int ranks, int round, const std::function<std::size_t(int)>& bytes_of)
      : bytes(static_cast<std::size_t>(ranks)), offsets(static_cast<std::size_t>(ranks)) {
    for (int i = 0; i < ranks; ++i) {
      const auto rank = static_cast<std::size_t>(round % 2 ? ranks - 1 - i : i);
      bytes[rank] = bytes_of(static_cast<int>(rank));
      offsets[rank] = end + 3;
      end += 3 + bytes[rank] + static_cast<std::size_t>(i % 3);
    }
  }
  collective::Blocks blocks() const { return {bytes, offsets}; }
  void put(Bytes& buffer, int rank, const Bytes& block) const {
    std::copy(block.begin(), block.end(),
              buffer.begin() + static_cast<std::ptrdiff_t>(offsets[static_cast<std::size_t>(rank)]));
  }
};

/// Slots to work through: as they are, few, and one.
struct Shape {
  int slots;
  std::size_t slot_bytes;
};
inline const std::vector<Shape> shapes = {{8, 4096}, {2, 4096}, {1, 8192}};

/// `by_turns`: each length of a chunk once, with short blocks inline and not by turns.
inline std::vector<plan::Plan> plans_of(plan::Algorithm algorithm, bool by_turns = false) {
  std::vector<plan::Plan> plans;
  bool turn = true;
  for (const std::size_t chunk :
       {std::size_t{64}, std::size_t{4096}, std::size_t{16384}, std::size_t{1} << 30}) {
    for (const bool inlined : {true, false}) {
      if (chunk == 64 && !inlined) continue;  // slow, and little new
      if (by_turns && inlined != turn) continue;
      plan::Plan plan;
      plan.algorithm = algorithm;
      plan.chunk = chunk;
      plan.inlined = inlined;
      plans.push_back(plan);
    }
    turn = !turn;
  }
  return plans;
}

/// All plans for few ranks on the first slots, else a part of them but in `make test-full`.
inline std::vector<plan::Plan> plans_on(const Shape& shape, plan::Algorithm algorithm, int ranks) {
  return plans_of(algorithm, (ranks > 5 || &shape != &shapes.front()) && !full());
}

/// body(machine, plan) on `ranks` ranks, on slots and plans of all kinds.
template <class Body>
void everywhere(int ranks, plan::Algorithm algorithm, Body body) {
  for (const Shape& shape : shapes) {
    Ranks all(ranks, shape.slots, shape.slot_bytes);
    for (const plan::Plan& plan : plans_on(shape, algorithm, ranks))
      all.run([&](WatchedMachine& m) { body(m, plan); });
    if (ranks == 2 || algorithm != plan::Algorithm::central) continue;
    Ranks pairwise_ranks = Ranks::pairwise(ranks, shape.slots, shape.slot_bytes);
    for (const plan::Plan& plan : plans_on(shape, algorithm, ranks))
      pairwise_ranks.run([&](WatchedMachine& m) { body(m, plan); });
  }
}

/// The same where long blocks are read where they lie, also with a kernel that reads no block.
template <class Body>
void everywhere_by_single_copy(int ranks, Body body) {
  for (const Shape& shape : shapes)
    for (const plan::Plan& plan : plans_on(shape, plan::Algorithm::single_copy, ranks))
      Ranks(ranks, shape.slots, shape.slot_bytes).run([&](WatchedMachine& m) {
        Unreadable watcher;
        WatchedMachine unreadable(m, watcher);
        body(unreadable, plan);
      });
  if (!Ranks::single_copy()) GTEST_SKIP() << "this machine lets no process read memory through the kernel";
  everywhere(ranks, plan::Algorithm::single_copy, body);
}

inline void expect_same(const Bytes& got, const Bytes& wanted, const char* what, const WatchedMachine& m,
                        std::size_t bytes) {
  if (got == wanted) return;
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  std::size_t i = 0;
  while (got[i] == wanted[i]) ++i;
  ADD_FAILURE() << what << " on rank " << m.rank() << " of " << m.size() << ", " << bytes
                << " bytes, differs from byte " << i << " of " << wanted.size();
}

/// "central_5": the algorithm and the number of ranks.
template <class Suite>
std::string name_of_case(const ::testing::TestParamInfo<typename Suite::ParamType>& param) {
  std::string algorithm(plan::to_string(std::get<1>(param.param)));
  std::replace(algorithm.begin(), algorithm.end(), '-', '_');
  return algorithm + "_" + std::to_string(std::get<0>(param.param));
}

}  // namespace espalier::testing

// Beside the function of that name in collective/core/blocks.hpp, which would hide it from tests there.
namespace espalier::collective {
using testing::block_of;
}
