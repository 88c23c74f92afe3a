// A bootstrap by a communicator's allgather, or by its allreduce.
#include "runtime/multinode/communicator_bootstrap.hpp"

#include <cstring>

#include "base/error.hpp"
#include "reduce/operation.hpp"

namespace espalier::runtime {
namespace {

// An allgather by an allreduce with bitwise or, for a communicator whose rules leave allgathers to the host:
// each rank gives its bytes in its own place, and zeros elsewhere.
bool gather_by_reduction(Communicator& communicator, const void* mine, void* all, std::size_t bytes) {
  const std::size_t total = bytes * static_cast<std::size_t>(communicator.size());
  std::memset(all, 0, total);
  std::memcpy(static_cast<std::byte*>(all) + bytes * static_cast<std::size_t>(communicator.rank()), mine,
              bytes);
  return communicator.allreduce(Communicator::in_place, all, total,
                                *reduce::find(reduce::Op::bor, reduce::Type::uint8));
}

}  // namespace

Bootstrap bootstrap_of(Communicator& communicator) {
  return {
      communicator.rank(), communicator.size(),
      [&communicator](const void* mine, void* all, std::size_t bytes) {
        if (!communicator.allgather(mine, all, bytes) && !gather_by_reduction(communicator, mine, all, bytes))
          throw Error(
              "the ranks cannot agree: rules leave both allgather and allreduce of this communicator to a "
              "host "
              "MPI; see ESPALIER_RULES");
      }};
}

}  // namespace espalier::runtime
