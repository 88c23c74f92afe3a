#include "runtime/communicator/persistent_aside.hpp"

#include <algorithm>
#include <utility>

#include "runtime/progress/progress_thread.hpp"

namespace espalier::runtime {
namespace {

std::size_t bytes_of(const auto& blocks) {
  std::size_t bytes = 0;
  for (const auto& each : blocks) bytes += each.bytes;
  return bytes;
}

bool is_long(const collective::Schedule& schedule) {
  return std::max({bytes_of(schedule.gives), bytes_of(schedule.takes), schedule.fold.bytes}) >=
         left_to_thread_from;
}

}  // namespace

std::shared_ptr<PersistentAside> PersistentAside::if_wanted(machine::HostMachine& machine,
                                                            const collective::Schedule& schedule) {
  if (!ProgressThread::is_wanted() || !is_long(schedule) || !CollectiveProgress::start_thread())
    return nullptr;
  std::shared_ptr<PersistentAside> made(new PersistentAside(machine, schedule));
  CollectiveProgress::instance().add(made);
  return made;
}

void PersistentAside::start() {
  {
    const std::lock_guard lock(mutex_);
    state_ = State::started;
  }
  CollectiveProgress::wake_thread();
}

void PersistentAside::give() {
  if (state_ != State::started) return;
  epoch_ = collective::start(machine_, schedule_);
  state_ = State::given;
}

// With the lock. What is ready waits for no rank.
bool PersistentAside::step() {
  give();
  if (state_ == State::given && collective::is_ready(machine_, schedule_, epoch_)) {
    collective::complete(machine_, schedule_, epoch_);
    state_ = State::done;
  }
  return state_ == State::done;
}

bool PersistentAside::advance() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  return lock && step();
}

bool PersistentAside::take_over(collective::Epoch& epoch) {
  const std::lock_guard lock(mutex_);
  give();
  epoch = epoch_;
  return std::exchange(state_, State::idle) == State::given;
}

void PersistentAside::leave() {
  const std::lock_guard lock(mutex_);
  state_ = State::idle;
}

void PersistentAside::advance_aside() { advance(); }

bool PersistentAside::advance_in_thread() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return true;
  return state_ != State::idle && state_ != State::done && !step();
}

}  // namespace espalier::runtime
