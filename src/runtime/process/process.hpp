// This process's part of a node: its arena, its place on the machine, what it does while it waits.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "machine/wait.hpp"
#include "network/out_of_band.hpp"
#include "network/sharp_client.hpp"
#include "network/tag_marks.hpp"
#include "network/transport.hpp"
#include "network/window/one_sided.hpp"
#include "runtime/process/bootstrap.hpp"
#include "runtime/progress/progress_needs.hpp"

namespace espalier::runtime {

/// Drives the host MPI's progress once, without blocking. A rank that waits in Espalier calls it, so that the
/// host's own messages go on (docs/design.md, invariant 2). May be called from any thread that waits in a
/// collective.
struct HostProgress {
  void (*drive)(void* context) = nullptr;
  void* context = nullptr;
};

class WindowProgress;
class NodeState;
class Tags;

/// One per process. Thread-safe: communicators may be created and used by several threads.
class Process {
 public:
  static Process& instance();

  /// What drives the host while ranks wait. Call before `join`.
  void set_host_progress(HostProgress progress);
  /// What carries messages between nodes, for as long as ranks are joined; null: communicators that span
  /// nodes are the host's. The same on all processes of the job. Call when needs_transport() returns true.
  void set_transport(std::unique_ptr<network::Transport> transport);
  /// All ranks of the job, as the host knows them; until leave().
  void set_world(Bootstrap world);
  /// Null where there is no host.
  const Bootstrap* world() const { return world_.get(); }
  /// The host's one-sided calls, for windows that span nodes; null: it has none.
  void set_one_sided(std::unique_ptr<network::OneSidedHost> one_sided);
  /// From now on this process takes part in agreements but never takes a call over (a spawned child, say);
  /// `why` is what `explain` and the statistics print.
  void decline(std::string why);

  /// Collective over all ranks of the job (MPI_COMM_WORLD): the ranks of each node meet in one arena. Never
  /// fails for want of a feature: a node without an arena leaves its communicators to the host. In MPI
  /// sessions there is no MPI_COMM_WORLD, so the ranks of the first communicator join when it is created.
  /// A process joins once. If some of the ranks have joined before, join() returns false on all of them, and
  /// the others cannot join any more. It returns false, too, while another thread joins with other ranks
  /// (gathering.hpp).
  bool join(const Bootstrap& world);
  /// Whether a thread of this process is in join(): what node() says may change.
  bool is_joining();
  /// The aggregation nodes of the job, with what they were reached by; or why it has none. The same on all
  /// processes.
  void set_sharp(std::unique_ptr<network::SharpJob> job, std::unique_ptr<network::OutOfBand> processes);
  void set_no_sharp(std::string why) { no_sharp_ = std::move(why); }
  /// Gives the arena back (MPI_Finalize). Communicators must be gone.
  void leave();

  /// Null: this process has not joined. Acquire: pairs with the release in join(), which another thread may
  /// be in.
  NodeState* node() { return joined_.load(std::memory_order_acquire); }
  /// Whether the job needs a transport: the same on all processes that met in join().
  bool needs_transport();
  network::Transport* transport() { return transport_.get(); }
  network::SharpJob* sharp() { return sharp_.get(); }
  /// Why the job has no aggregation nodes; empty: it has some, or none of its processes wants them.
  const std::string& no_sharp() const { return no_sharp_; }
  Tags* tags() { return tags_.get(); }
  /// What the transport's tags have besides.
  network::TagMarks tag_marks() const { return tag_marks_; }
  /// This process in the numbering of the transport.
  int number() const { return number_.load(std::memory_order_relaxed); }
  const std::string& declined() const { return declined_; }
  network::OneSidedHost* one_sided() { return one_sided_.get(); }

  /// Drives the host and the windows. Every wait of this process calls it now and then.
  void make_progress();
  machine::ProgressHook hook_in_waits() {
    return {[](void* process) { static_cast<Process*>(process)->make_progress(); }, this,
            progress_in_waits()};
  }
  machine::Progress progress_in_waits() {
    return {&progress_needs, [](void* process) { static_cast<Process*>(process)->drive_host(); }, this};
  }
  void drive_host() {
    if (progress_.drive) progress_.drive(progress_.context);
  }
  void drive_windows();
  /// What else goes on in waits, from now on. Null: nothing.
  void set_aside_work(void (*work)()) { aside_work_.store(work, std::memory_order_release); }
  WindowProgress& windows() { return *windows_; }

 private:
  Process();
  ~Process();
  std::mutex joining_;  // held by the thread that is in join()
  std::unique_ptr<NodeState> node_;
  std::atomic<NodeState*> joined_{nullptr};  // node_, once it is whole
  std::unique_ptr<network::Transport> transport_;
  std::unique_ptr<Tags> tags_;
  network::TagMarks tag_marks_;
  std::unique_ptr<network::OneSidedHost> one_sided_;
  std::unique_ptr<WindowProgress> windows_;
  std::unique_ptr<Bootstrap> world_;
  std::unique_ptr<network::OutOfBand> out_of_band_;  // as long as the job
  std::unique_ptr<network::SharpJob> sharp_;
  std::string no_sharp_;
  std::atomic<int> number_{0};  // relaxed: of interest only once node() is there
  HostProgress progress_;
  std::atomic<void (*)()> aside_work_{nullptr};
  std::string declined_;
};

}  // namespace espalier::runtime
