#include "simulation/levels/checked_levels.hpp"

#include "machine/levels/segment_operations.hpp"
#include "simulation/checker/platform.hpp"
#include "simulation/levels/ending_operations.hpp"

namespace espalier::simulation::checker {
namespace {

using Operations = machine::BasicSegmentOperations<Platform>;

class CheckedLevels final : public machine::Levels {
 public:
  explicit CheckedLevels(const machine::LevelsLayout& levels_layout)
      : Levels(levels_layout, Execution::current().rank()) {
    take_own([](const machine::GroupSegment& segment, int) {
      std::byte* const base = Execution::current().area() + segment.offset;
      return std::make_unique<EndingOperations>(
          std::make_unique<Operations>(Operations::Memory{base, segment.bytes, {nullptr, 0}}, false, wait));
    });
  }

 private:
  static void wait(const Operations::Done& done) {
    while (!done()) Execution::current().idle(true);
  }
};

}  // namespace

std::unique_ptr<machine::Levels> checked_levels(const machine::LevelsLayout& layout) {
  return std::make_unique<CheckedLevels>(layout);
}

}  // namespace espalier::simulation::checker
