#include "runtime/persistent.hpp"

#include <utility>

#include "machine/host_platform.hpp"
#include "runtime/process.hpp"
#include "runtime/share_life.hpp"

namespace espalier::runtime {

Persistent::Persistent(memory::Arena& arena, memory::Share share, const machine::Layout& layout, int rank,
                       machine::WaitPolicy policy, collective::Prepared prepared,
                       const statistics::Call& call)
    : arena_(arena),
      share_(share),
      layout_(layout),
      machine_(arena.at(share.offset), layout, rank, policy, Process::instance().poke_in_waits()),
      prepared_(std::move(prepared)),
      call_(call) {}

Persistent::~Persistent() {
  if (is_last_to_leave(arena_, share_, layout_)) arena_.free(share_);
}

void Persistent::start() {
  turn_ = collective::start(machine_, prepared_);
  active_ = true;
}

bool Persistent::is_ready() {
  if (collective::is_ready(machine_, prepared_, turn_)) return true;
  Process::instance().poke();
  // Whoever is waited for may need this core.
  if (machine_.waiter().policy().fenced) machine::HostPlatform::yield();
  return false;
}

void Persistent::complete() {
  const statistics::Recorder recorder(call_, machine_.waiter());
  collective::complete(machine_, prepared_, turn_);
  active_ = false;
}

}  // namespace espalier::runtime
