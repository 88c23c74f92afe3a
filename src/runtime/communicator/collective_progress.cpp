#include "runtime/communicator/collective_progress.hpp"

#include <exception>

#include "base/error.hpp"
#include "runtime/process/process.hpp"
#include "runtime/process/progress_place.hpp"
#include "runtime/progress/progress_thread.hpp"

namespace espalier::runtime {

CollectiveProgress& CollectiveProgress::instance() {
  static CollectiveProgress& list = *new CollectiveProgress;  // never destroyed, as Process
  return list;
}

void CollectiveProgress::add(const std::shared_ptr<CollectivesUnderWay>& one) {
  const std::lock_guard lock(mutex_);
  std::erase_if(all_, [](const auto& each) { return each.expired(); });
  all_.push_back(one);
  Process::instance().set_aside_work([] { instance().drive(); });
}

bool CollectiveProgress::start_thread() {
  const auto work = [] { return instance().drive_in_thread(); };
  return ProgressThread::instance().start(work, settle_on_spare_core);
}

void CollectiveProgress::wake_thread() { ProgressThread::instance().wake(); }

bool CollectiveProgress::find_alive(Alive& alive) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return false;
  for (const auto& each : all_)
    if (auto one = each.lock()) alive.push_back(std::move(one));
  return true;
}

// A call that fails here fails again, and is reported, where the program completes it.
void CollectiveProgress::drive() {
  Alive alive;
  find_alive(alive);
  for (const auto& each : alive) try {
      each->advance_aside();
    } catch (const Error&) {
    }
}

bool CollectiveProgress::drive_in_thread() {
  Alive alive;
  bool again = !find_alive(alive);
  for (const auto& each : alive) try {
      again |= each->advance_in_thread();
    } catch (const std::exception&) {  // out of memory, too: the program's thread does what is left
    }
  return again;
}

}  // namespace espalier::runtime
