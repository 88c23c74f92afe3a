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

}  // namespace
}  // namespace espalier::simulation
