// A persistent collective that this rank has asked for, and the others perhaps not yet.
#pragma once

#include <memory>

namespace espalier::runtime {

/// Why a rank cannot prepare a collective where its caller leaves it to the host to say what is wrong.
inline constexpr const char* bad_arguments = "its arguments are not valid, or not known to Espalier";

/// What the other ranks do where one refuses to prepare.
enum class Refusal {
  untold,        ///< on all ranks alike: they ask in prepare(), and so has this one to
  left_to_host,  ///< they leave the collective to the host
  fails          ///< they get an error when they start it
};

class Persistent;

/// This rank's part. Needs its communicator no more; used by one thread at a time. Destroyed before finish()
/// it waits for no rank.
class PersistentMeeting {
 public:
  virtual ~PersistentMeeting() = default;
  /// Waits until all ranks have asked for it; once. Throws Error on all ranks when they have not asked for the
  /// same, and OutOfStep when one is gone.
  virtual std::unique_ptr<Persistent> finish() = 0;
};

}  // namespace espalier::runtime
