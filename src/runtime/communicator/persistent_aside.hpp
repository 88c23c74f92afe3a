// A long persistent collective that the progress thread advances while the program computes.
#pragma once

#include <memory>
#include <mutex>

#include "collective/schedule/schedule.hpp"
#include "machine/host_machine.hpp"
#include "runtime/communicator/collective_progress.hpp"

namespace espalier::runtime {

/// One rank's part, of which a request says when it is started and completed. Whichever thread has the lock starts it and
/// completes it. No thread waits with the lock: not the progress thread, which leaves alone what is not ready, nor the
/// program's, which takes it over before it waits. Thread-safe.
class PersistentAside final : public CollectivesUnderWay {
 public:
  /// Null: there is no progress thread, or the collective is short. The two are used until leave().
  static std::shared_ptr<PersistentAside> if_wanted(machine::HostMachine& machine,
                                                    const collective::Schedule& schedule);

  /// The program starts it. It goes on in the thread.
  void start();
  /// Does what can be done at once; whether all is done.
  bool advance();
  /// The program completes it by itself from here on. False: it is done already; else `epoch` says what is to be completed.
  bool take_over(collective::Epoch& epoch);
  /// There is no such collective any more.
  void leave();

  void advance_aside() override;
  bool advance_in_thread() override;

 private:
  enum class State { idle, started, given, done };
  PersistentAside(machine::HostMachine& machine, const collective::Schedule& schedule)
      : machine_(machine), schedule_(schedule) {}
  void give();
  bool step();

  machine::HostMachine& machine_;
  const collective::Schedule& schedule_;
  std::mutex mutex_;  // of what follows, and of the two
  State state_ = State::idle;
  collective::Epoch epoch_;
};

}  // namespace espalier::runtime
