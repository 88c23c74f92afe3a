#include "runtime/process/process.hpp"

#include <algorithm>

#include "memory/heap/shared_heap.hpp"
#include "network/endpoint.hpp"
#include "runtime/flight/recorder.hpp"
#include "runtime/process/node.hpp"
#include "runtime/process/tags.hpp"
#include "runtime/process/window_progress.hpp"
#include "runtime/progress/progress_thread.hpp"

namespace espalier::runtime {

Process::Process() : windows_(std::make_unique<WindowProgress>()) {}
Process::~Process() = default;

Process& Process::instance() {
  // Never destroyed: communicators may be freed by the host while the program's own statics go.
  static Process* process = new Process;
  return *process;
}

void Process::set_host_progress(HostProgress progress) { progress_ = progress; }

void Process::decline(std::string why) { declined_ = std::move(why); }

// No rank waits for the lock: the ranks of two communicators, each with the lock of some of its processes,
// would wait for each other. They are all here when they try to take it, so none holds it long in vain.
bool Process::join(const Bootstrap& world) {
  const auto joined = exchange(world, static_cast<std::uint8_t>(node() != nullptr));
  if (std::count(joined.begin(), joined.end(), 0) != world.size) return false;
  const std::unique_lock lock(joining_, std::try_to_lock);
  const bool can_join = lock && !node();
  const auto can = exchange(world, static_cast<std::uint8_t>(can_join));
  if (std::count(can.begin(), can.end(), 0) != 0) return false;
  node_ = NodeState::meet(world, declined_.empty());
  flight::join(node_->flight_record(), {node_->job(), node_->id(), node_->mark().started, world.rank,
                                        world.size, node_->rank(), node_->size()});
  number_.store(world.rank, std::memory_order_relaxed);
  joined_.store(node_.get(), std::memory_order_release);  // pairs with node()
  return true;
}

bool Process::is_joining() { return !std::unique_lock(joining_, std::try_to_lock).owns_lock(); }

bool Process::needs_transport() { return node() && node()->needs_transport(); }

void Process::set_transport(std::unique_ptr<network::Transport> transport) {
  transport_ = std::move(transport);
  const int tags = transport_ ? transport_->tags() : 0;
  tag_marks_ = network::TagMarks::among(tags);
  tags_ = std::make_unique<Tags>(tag_marks_.below(tags) / network::lanes);
}

void Process::set_world(Bootstrap world) { world_ = std::make_unique<Bootstrap>(std::move(world)); }

void Process::set_one_sided(std::unique_ptr<network::OneSidedHost> one_sided) {
  one_sided_ = std::move(one_sided);
}

void Process::make_progress() {
  flight::note_wait();
  drive_host();
  drive_windows();
  // acquire: what the work needs is there.
  if (void (*const work)() = aside_work_.load(std::memory_order_acquire)) work();
}

void Process::drive_windows() { windows_->drive(); }

void Process::set_sharp(std::unique_ptr<network::SharpJob> job,
                        std::unique_ptr<network::OutOfBand> processes) {
  sharp_ = std::move(job);
  out_of_band_ = std::move(processes);
}

void Process::leave() {
  ProgressThread::instance().stop();
  windows_->forget();  // those that the program has not freed: what carries them goes
  world_.reset();
  sharp_.reset();
  out_of_band_.reset();
  flight::leave();                                    // while its memory is there
  joined_.store(nullptr, std::memory_order_relaxed);  // no other thread is in a call any more
  node_.reset();
  memory::SharedHeap::drop_kept();
  tags_.reset();
  one_sided_.reset();
  transport_.reset();
}

}  // namespace espalier::runtime
