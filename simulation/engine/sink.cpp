#include "simulation/engine/sink.hpp"

namespace espalier::simulation {
namespace {

const reduce::Operation& real_sum() { return *reduce::find(reduce::Op::sum, reduce::Type::uint64); }

void sum_and_tell(void* target, const void* const* sources, int count, std::size_t elements) noexcept {
  Sink& sink = Sink::current();
  if (sink.moves_data()) real_sum().kernel(target, sources, count, elements);
  sink.folded(target, sources, count, elements * 8);
}

}  // namespace

const reduce::Operation& simulated_sum() {
  static const reduce::Operation operation{sum_and_tell, reduce::Op::sum, reduce::Type::uint64,
                                           reduce::no_operation, 8};
  return operation;
}

}  // namespace espalier::simulation
