#include "runtime/process.hpp"

#include "runtime/node.hpp"

namespace espalier::runtime {

Process::Process() = default;
Process::~Process() = default;

Process& Process::instance() {
  // Never destroyed: communicators may be freed by the host while the program's own statics go.
  static Process* process = new Process;
  return *process;
}

void Process::set_host_progress(HostProgress progress) { progress_ = progress; }

void Process::decline(std::string why) { declined_ = std::move(why); }

void Process::join(const Bootstrap& world) {
  if (!node_) node_ = NodeState::meet(world, declined_.empty());
}

void Process::leave() { node_.reset(); }

}  // namespace espalier::runtime
