#include "runtime/communicator/persistent.hpp"

#include <utility>

#include "machine/host_platform.hpp"
#include "runtime/communicator/persistent_aside.hpp"
#include "runtime/communicator/share_release.hpp"
#include "runtime/process/node.hpp"
#include "runtime/process/process.hpp"
#include "runtime/progress/missed_tests.hpp"
#include "runtime/statistics/recorder.hpp"
#include "runtime/statistics/statistics.hpp"

namespace espalier::runtime {
namespace {

statistics::Row* row_for(const machine::CallFacts& call, int ranks) {
  if (!statistics::enabled()) return nullptr;
  statistics::Call counted{call.collective, call.bytes, plan::Algorithm::exchange};
  counted.persistent = true;
  return statistics::take_row(counted, ranks);
}

}  // namespace

Persistent::Persistent(memory::Arena& arena, memory::Share share, const machine::Layout& layout, int rank,
                       machine::WaitPolicy policy, collective::Schedule schedule,
                       const machine::CallFacts& call)
    : arena_(arena),
      share_(share),
      layout_(layout),
      call_(call),
      mismatch_detection_(arena.at(share.offset), layout, rank, {},
                          Process::instance().node()->sees_processes(), Process::instance().hook_in_waits()),
      machine_(arena.at(share.offset), layout, rank, policy, mismatch_detection_.hook()),
      schedule_(std::move(schedule)),
      row_(row_for(call, layout.ranks)),
      aside_(PersistentAside::if_wanted(machine_, schedule_)) {}

Persistent::~Persistent() {
  if (aside_) aside_->leave();
  if (row_) statistics::retire_row(row_);
  mismatch_detection_.leave();
  if (is_last_to_leave(arena_, share_, layout_)) arena_.free(share_);
}

// The ranks have compared their calls when they prepared them: flags need no fingerprints.
void Persistent::start() {
  mismatch_detection_.begin(call_);
  if (aside_)
    aside_->start();
  else
    epoch_ = collective::start(machine_, schedule_);
  active_ = true;
}

bool Persistent::is_ready() {
  if (aside_ ? aside_->advance() : collective::is_ready(machine_, schedule_, epoch_)) return true;
  const machine::ProgressHook hook = mismatch_detection_.hook();
  try {
    hook.function(hook.context);
  } catch (const OutOfStep&) {  // complete() meets it again
    return true;
  }
  // The rank that is waited for may need this core.
  if (machine_.waiter().policy().fenced) machine::HostPlatform::yield();
  return false;
}

void Persistent::complete() {
  const statistics::Recorder recorder(row_, machine_.waiter());
  if (!aside_ || aside_->take_over(epoch_)) collective::complete(machine_, schedule_, epoch_);
  active_ = false;
  asking::note_collective();
}

}  // namespace espalier::runtime
