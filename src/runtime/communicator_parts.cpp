// Reduce_scatter(_block), scan and exscan: every rank gets a result of its own.
#include "runtime/communicator_state.hpp"

namespace espalier::runtime {

namespace {

void reduce_alone(const void* send, void* receive, std::size_t count, const reduce::Operation& operation) {
  if (count > 0 && send != Communicator::in_place) operation.kernel(receive, &send, 1, count);
}

}  // namespace

bool Communicator::reduce_scatter_block(const void* send, void* receive, std::size_t count,
                                        const reduce::Operation& operation) {
  if (state_) return false;
  if (active_) reduce_alone(send, receive, count, operation);
  return active_;
}

bool Communicator::reduce_scatter(const void* send, void* receive, std::span<const std::size_t> counts,
                                  const reduce::Operation& operation) {
  if (state_) return false;
  if (active_) reduce_alone(send, receive, counts[0], operation);
  return active_;
}

bool Communicator::scan(const void* send, void* receive, std::size_t count,
                        const reduce::Operation& operation) {
  if (state_) return false;
  if (active_) reduce_alone(send, receive, count, operation);
  return active_;
}

bool Communicator::exscan(const void* send, void* receive, std::size_t count,
                          const reduce::Operation& operation) {
  return state_ ? false : active_;
}

bool Communicator::reduce_scatter_block(const void* send, void* receive, std::size_t bytes,
                                        const UserOperation& operation) {
  if (state_) return false;
  if (active_) copy_alone(receive, send, bytes);
  return active_;
}

bool Communicator::reduce_scatter(const void* send, void* receive, std::span<const std::size_t> bytes,
                                  const UserOperation& operation) {
  if (state_) return false;
  if (active_) copy_alone(receive, send, bytes[0]);
  return active_;
}

bool Communicator::scan(const void* send, void* receive, std::size_t bytes, const UserOperation& operation) {
  if (state_) return false;
  if (active_) copy_alone(receive, send, bytes);
  return active_;
}

bool Communicator::exscan(const void* send, void* receive, std::size_t bytes,
                          const UserOperation& operation) {
  return state_ ? false : active_;
}

}  // namespace espalier::runtime
