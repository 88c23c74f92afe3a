#include "runtime/communicator/persistent.hpp"

#include <utility>

#include "machine/host_platform.hpp"
#include "runtime/communicator/share_release.hpp"
#include "runtime/process/missed_tests.hpp"
#include "runtime/process/node.hpp"
#include "runtime/process/process.hpp"
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
                       machine::WaitPolicy policy, collective::Prepared prepared,
                       const machine::CallFacts& call)
    : arena_(arena),
      share_(share),
      layout_(layout),
      call_(call),
      roll_call_(arena.at(share.offset), layout, rank, {}, Process::instance().node()->sees_processes(),
                 Process::instance().poke_in_waits()),
      machine_(arena.at(share.offset), layout, rank, policy, roll_call_.poke()),
      prepared_(std::move(prepared)),
      row_(row_for(call, layout.ranks)) {}

Persistent::~Persistent() {
  if (row_) statistics::retire_row(row_);
  roll_call_.leave();
  if (is_last_to_leave(arena_, share_, layout_)) arena_.free(share_);
}

// The ranks have compared their calls when they prepared them: flags need no fingerprints.
void Persistent::start() {
  roll_call_.begin(call_);
  turn_ = collective::start(machine_, prepared_);
  active_ = true;
}

bool Persistent::is_ready() {
  if (collective::is_ready(machine_, prepared_, turn_)) return true;
  const machine::Poke poke = roll_call_.poke();
  try {
    poke.function(poke.context);
  } catch (const OutOfStep&) {  // complete() meets it again
    return true;
  }
  // Whoever is waited for may need this core.
  if (machine_.waiter().policy().fenced) machine::HostPlatform::yield();
  return false;
}

void Persistent::complete() {
  const statistics::Recorder recorder(row_, machine_.waiter());
  collective::complete(machine_, prepared_, turn_);
  active_ = false;
  asking::note_collective();
}

}  // namespace espalier::runtime
