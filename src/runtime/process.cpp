#include "runtime/process.hpp"

#include <algorithm>

#include "network/endpoint.hpp"
#include "runtime/driven_windows.hpp"
#include "runtime/kept_windows.hpp"
#include "runtime/node.hpp"
#include "runtime/standing.hpp"
#include "runtime/tags.hpp"

namespace espalier::runtime {

Process::Process()
    : windows_(std::make_unique<DrivenWindows>()), kept_windows_(std::make_unique<KeptWindows>()) {}
Process::~Process() = default;

Process& Process::instance() {
  // Never destroyed: communicators may be freed by the host while the program's own statics go.
  static Process* process = new Process;
  return *process;
}

void Process::set_host_progress(HostProgress progress) { progress_ = progress; }

void Process::decline(std::string why) { declined_ = std::move(why); }

bool Process::join(const Bootstrap& world) {
  const auto joined = exchange(world, static_cast<std::uint8_t>(node_ != nullptr));
  if (std::count(joined.begin(), joined.end(), 0) != world.size) return false;
  node_ = NodeState::meet(world, declined_.empty());
  number_ = world.rank;
  return true;
}

bool Process::needs_transport() const { return node_ && node_->needs_transport(); }

void Process::set_transport(std::unique_ptr<network::Transport> transport) {
  transport_ = std::move(transport);
  tags_ = std::make_unique<Tags>(transport_ ? transport_->tags() / network::lanes : 0);
}

void Process::set_world(Bootstrap world) { world_ = std::make_unique<Bootstrap>(std::move(world)); }

void Process::set_one_sided(std::unique_ptr<network::OneSidedHost> one_sided) {
  one_sided_ = std::move(one_sided);
}

void Process::poke() {
  poke_host();
  drive_windows();
}

void Process::drive_windows() { windows_->drive(); }

void Process::set_sharp(std::unique_ptr<network::SharpJob> job,
                        std::unique_ptr<network::OutOfBand> processes) {
  sharp_ = std::move(job);
  out_of_band_ = std::move(processes);
}

void Process::leave() {
  windows_->forget();  // those that the program has not freed: what carries them goes
  world_.reset();
  sharp_.reset();
  out_of_band_.reset();
  node_.reset();
  tags_.reset();
  one_sided_.reset();
  transport_.reset();
}

}  // namespace espalier::runtime
