// Allgather(v) and alltoall(v): every rank has something for every other.
#include "runtime/communicator_state.hpp"

namespace espalier::runtime {

bool Communicator::allgather(const void* send, void* receive, std::size_t bytes) {
  if (state_) return false;
  if (active_) copy_alone(receive, send, bytes);
  return active_;
}

bool Communicator::allgatherv(const void* send, void* receive, const Blocks& blocks) {
  if (state_) return false;
  if (active_) copy_alone(at_offset(receive, blocks.offsets[0]), send, blocks.bytes[0]);
  return active_;
}

bool Communicator::alltoall(const void* send, void* receive, std::size_t bytes) {
  if (state_) return false;
  if (active_) copy_alone(receive, send, bytes);
  return active_;
}

bool Communicator::alltoallv(const void* send, const Blocks& out, void* receive, const Blocks& in) {
  if (state_) return false;
  if (active_ && send != in_place)
    copy_alone(at_offset(receive, in.offsets[0]), at_offset(send, out.offsets[0]), out.bytes[0]);
  return active_;
}

}  // namespace espalier::runtime
