// A collective that is prepared once and started again and again: what stands behind one persistent request.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "collective/schedule/schedule.hpp"
#include "machine/host_machine.hpp"
#include "memory/arena.hpp"
#include "runtime/failure/mismatch_detection.hpp"

namespace espalier::runtime {

namespace statistics {
struct Row;
}

class PersistentAside;

/// This rank's part. It has memory of the node's arena, flags among it, to itself, and needs its communicator
/// no more. Used by one thread at a time, beside which the progress thread may advance long ones. Made by
/// Communicator::prepare().
class Persistent {
 public:
  /// `prepared` refers to buffers that the caller keeps, and to the share.
  Persistent(memory::Arena& arena, memory::Share share, const machine::Layout& layout, int rank,
             machine::WaitPolicy policy, collective::Schedule schedule, const machine::CallFacts& call);
  /// Local: the share goes back when the last rank has left. What other ranks have started may still be under
  /// way.
  ~Persistent();
  Persistent(const Persistent&) = delete;
  Persistent& operator=(const Persistent&) = delete;

  /// Local: waits for no rank. Only when it is not active. Throws OutOfStep, as MismatchDetection does.
  void start();
  bool active() const { return active_; }
  /// Whether complete() would return or throw at once; if not, what must go on meanwhile has been driven.
  /// Only when it is active.
  bool is_ready();
  /// Waits, while the host and all else is driven, until this rank's part is done. Only when it is active.
  /// Throws OutOfStep when a rank is gone that has not started it.
  void complete();

 private:
  memory::Arena& arena_;
  memory::Share share_;
  machine::Layout layout_;
  machine::CallFacts call_;
  MismatchDetection mismatch_detection_;
  machine::HostMachine machine_;
  collective::Schedule schedule_;
  collective::Epoch epoch_;
  bool active_ = false;
  statistics::Row* row_;                    ///< where its epochs are counted; null when statistics are off
  std::shared_ptr<PersistentAside> aside_;  ///< null: no other thread advances it
};

}  // namespace espalier::runtime
