// A communicator and its collectives: what the faces (interposer, C API) call.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "base/collective.hpp"
#include "reduce/operation.hpp"
#include "runtime/bootstrap.hpp"

namespace espalier::runtime {

/// An operator that only the caller can apply (user-defined operators, through MPI_Reduce_local): works on
/// whole vectors in packed form, all ranks alike: right = left op right. Called on the calling thread only.
struct UserOperation {
  void (*combine)(void* context, const void* left, void* right) = nullptr;
  void* context = nullptr;
};

/// The state that the ranks of one communicator share. A communicator is used by one thread at a time, as MPI
/// demands.
///
/// The collectives return true when they have been done, and false when this call is the host's (the
/// communicator was refused, or a rule says `host`): then nothing has been read or written, and all ranks get
/// the same answer, because it depends on (collective, bytes, communicator) only. Buffers may be null when
/// nothing is to be moved. `send == in_place` stands for MPI_IN_PLACE.
class Communicator {
 public:
  /// Collective over the communicator. Never fails for want of a feature: see active().
  static std::unique_ptr<Communicator> create(const Bootstrap& bootstrap);
  /// Local: the arena share is given back when the last rank has left.
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  /// False: every collective of this communicator is the host's; refusal() says why (the same on all ranks).
  bool active() const { return active_; }
  const std::string& refusal() const { return refusal_; }

  bool barrier();
  /// `bytes` of packed data from the root's buffer to everybody's.
  bool bcast(void* buffer, std::size_t bytes, int root);
  /// count elements of operation.extent bytes; `receive` is read and written at the root only.
  bool reduce(const void* send, void* receive, std::size_t count, const reduce::Operation& operation,
              int root);
  bool allreduce(const void* send, void* receive, std::size_t count, const reduce::Operation& operation);
  /// The same for operators that only the caller can apply: `bytes` of packed data.
  bool reduce(const void* send, void* receive, std::size_t bytes, const UserOperation& operation, int root);
  bool allreduce(const void* send, void* receive, std::size_t bytes, const UserOperation& operation);

  static const void* const in_place;

 private:
  struct State;
  Communicator();
  int rank_ = 0;
  int size_ = 1;
  bool active_ = false;
  std::string refusal_;
  std::unique_ptr<State> state_;
};

}  // namespace espalier::runtime
