#include "simulation/fiber/fiber.hpp"

#include <gtest/gtest.h>

#include <array>
#include <exception>
#include <stdexcept>
#include <string>

#include "simulation/fiber/stacks.hpp"

namespace espalier::simulation {
namespace {

// The first to catch is the first to leave its handler: the runtime's own stack of exceptions has it the other way round.
TEST(Fiber, EachHandlesItsOwnException) {
  Stacks stacks(2, 256 * 1024);
  std::array<Fiber, 2> fibers;
  std::array<std::string, 2> caught;
  for (std::size_t i = 0; i < fibers.size(); ++i)
    fibers[i].start(stacks.at(i), [&, i] {
      try {
        throw std::runtime_error("the exception of fiber " + std::to_string(i));
      } catch (const std::exception&) {
        fibers[i].pause();
        try {
          throw;
        } catch (const std::exception& again) {
          caught[i] = again.what();
        }
      }
    });
  for (int turn = 0; turn < 2; ++turn)
    for (Fiber& fiber : fibers) fiber.resume();
  EXPECT_EQ(caught[0], "the exception of fiber 0");
  EXPECT_EQ(caught[1], "the exception of fiber 1");
  EXPECT_FALSE(std::current_exception());
}

/// Frames with arrays, the last of which may throw past all others.
[[gnu::noinline]] int sum_below(int depth, bool throws) {
  std::array<volatile int, 40> room{};
  for (volatile int& place : room) place = depth;
  if (depth == 0 && throws) throw std::runtime_error("from the last frame");
  return depth == 0 ? 0 : sum_below(depth - 1, throws) + room[static_cast<std::size_t>(depth)];
}

// A sanitizer reports the later frames where marks of those that the exception left are still on the stack.
TEST(Fiber, FramesLieWhereAnExceptionLeftOthers) {
  const Stacks stacks(2, 64 * 1024 * StackSwitch::frame_factor);
  std::array<Fiber, 2> fibers;
  std::array<int, 2> caught{}, sums{};
  for (int round = 0; round < 3; ++round) {  // on the stacks of fibers that have ended
    for (std::size_t i = 0; i < fibers.size(); ++i)
      fibers[i].start(stacks.at(i), [&, i] {
        try {
          sum_below(20, true);
        } catch (const std::runtime_error&) {
          ++caught[i];
        }
        fibers[i].pause();
        sums[i] += sum_below(15, false);
      });
    for (Fiber& fiber : fibers) fiber.resume();
    EXPECT_FALSE(fibers[0].is_done());
    for (Fiber& fiber : fibers) fiber.resume();
    EXPECT_TRUE(fibers[0].is_done() && fibers[1].is_done());
  }
  EXPECT_EQ(caught, (std::array{3, 3}));
  EXPECT_EQ(sums, (std::array{360, 360}));
  EXPECT_TRUE(stacks.is_intact(0) && stacks.is_intact(1));
}

}  // namespace
}  // namespace espalier::simulation
