// Gather(v) and scatter(v): one rank has something for, or wants something from, every other.
#include "runtime/communicator_state.hpp"

namespace espalier::runtime {

bool Communicator::gather(const void* send, void* receive, std::size_t bytes, int root) {
  if (state_) return false;
  if (active_) copy_alone(receive, send, bytes);
  return active_;
}

bool Communicator::gatherv(const void* send, std::size_t bytes, void* receive, const Blocks& blocks,
                           int root) {
  if (state_) return false;
  if (active_) copy_alone(at_offset(receive, blocks.offsets[0]), send, bytes);
  return active_;
}

bool Communicator::scatter(const void* send, void* receive, std::size_t bytes, int root) {
  if (state_) return false;
  if (active_) copy_alone(receive, send, bytes);
  return active_;
}

bool Communicator::scatterv(const void* send, const Blocks& blocks, void* receive, std::size_t bytes,
                            int root) {
  if (state_) return false;
  if (active_ && receive != in_place) copy_alone(receive, at_offset(send, blocks.offsets[0]), bytes);
  return active_;
}

}  // namespace espalier::runtime
