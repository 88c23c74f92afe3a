#include "runtime/progress/progress_thread.hpp"

#include <pthread.h>
#include <sys/prctl.h>

#include <chrono>
#include <csignal>
#include <system_error>

#include "base/config.hpp"
#include "machine/host_platform.hpp"

namespace espalier::runtime {
namespace {

using namespace std::chrono_literals;

/// So long the thread sleeps between two looks.
constexpr auto sleep = 50us;
constexpr int pauses_between_looks = 40;

/// Signals of the program are for its own threads.
class NoSignals {
 public:
  NoSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~NoSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  NoSignals(const NoSignals&) = delete;
  NoSignals& operator=(const NoSignals&) = delete;

 private:
  sigset_t before_;
};

}  // namespace

// Never destroyed, as Process: a program may end without MPI_Finalize while the thread works.
ProgressThread& ProgressThread::instance() {
  static ProgressThread& one = *new ProgressThread;
  return one;
}

bool ProgressThread::is_wanted() { return Config::instance().text("ESPALIER_PROGRESS") == "thread"; }

bool ProgressThread::start(Work work, Settle settle) {
  if (!is_wanted()) return false;
  const std::lock_guard lock(mutex_);
  if (thread_.joinable()) return true;
  is_stopping_.store(false, std::memory_order_relaxed);
  const NoSignals inherited;
  try {
    thread_ = std::thread([this, work, settle] { run(work, settle()); });
  } catch (const std::system_error&) {
    return false;
  }
  return true;
}

// release: pairs with the acquire in run(); what is to be done is there when the thread sees the number.
void ProgressThread::wake() {
  wakes_.fetch_add(1, std::memory_order_release);
  wakes_.notify_one();
}

void ProgressThread::stop() {
  const std::lock_guard lock(mutex_);
  if (!thread_.joinable()) return;
  is_stopping_.store(true, std::memory_order_relaxed);
  wake();
  thread_.join();
}

void ProgressThread::run(Work work, std::chrono::microseconds looks_for) {
  pthread_setname_np(pthread_self(), "espalier");
  prctl(PR_SET_TIMERSLACK, 1UL);  // else such a sleep is twice as long
  while (!is_stopping_.load(std::memory_order_relaxed)) {
    const std::uint32_t seen = wakes_.load(std::memory_order_acquire);
    work_until_done(work, looks_for);
    wakes_.wait(seen, std::memory_order_acquire);
  }
}

// The pauses leave the communicator's lock to the program's threads.
void ProgressThread::work_until_done(Work work, std::chrono::microseconds looks_for) {
  const auto begin = std::chrono::steady_clock::now();
  while (!is_stopping_.load(std::memory_order_relaxed) && work()) {
    if (std::chrono::steady_clock::now() - begin < looks_for)
      for (int i = 0; i < pauses_between_looks; ++i) machine::HostPlatform::pause();
    else
      std::this_thread::sleep_for(sleep);
  }
}

}  // namespace espalier::runtime
