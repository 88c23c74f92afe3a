// A thread of this process that advances long nonblocking and persistent collectives while the program computes
// (ESPALIER_PROGRESS=thread, docs/overlap.md). It makes no call of the host MPI and runs no function of the program.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>

namespace espalier::runtime {

/// A start of a collective of so many bytes is left to the thread. Of 64 KiB nothing was gained: what it takes to wake it and
/// to hear of it is as much.
inline constexpr std::size_t left_to_thread_from = 128 * 1024;

/// One per process. Thread-safe.
class ProgressThread {
 public:
  /// What the thread does over and over. False: there is nothing to do until wake().
  using Work = bool (*)();
  /// Called by the thread when it begins. It may move it to another core, and says how long the thread is to look without
  /// a pause for what has not come.
  using Settle = std::chrono::microseconds (*)();

  static ProgressThread& instance();
  /// Whether the user wants it. Then several threads work on a communicator, whatever the program does.
  static bool is_wanted();

  /// Whether the thread runs: it is made when it is wanted and does not run yet. False, too, where the system gives no
  /// thread: the ranks do without.
  bool start(Work work, Settle settle);
  /// There is something to do.
  void wake();
  /// Waits until the thread has ended. A later start() makes another.
  void stop();

 private:
  ProgressThread() = default;
  void run(Work work, std::chrono::microseconds looks_for);
  void work_until_done(Work work, std::chrono::microseconds looks_for);

  std::mutex mutex_;  // of thread_
  std::thread thread_;
  std::atomic<bool> is_stopping_{false};
  std::atomic<std::uint32_t> wakes_{0};
};

}  // namespace espalier::runtime
