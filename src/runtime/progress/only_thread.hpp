// Whether one thread alone makes MPI calls. Then a call needs no lock: an instruction that locks waits until
// all that was stored before it has left the core, so between a rank's flag and its look at another's it costs
// as much as the flag's way there.
#pragma once

#include <pthread.h>

#include <atomic>
#include <mutex>

namespace espalier::runtime {

class OnlyThread {
 public:
  /// This thread alone makes MPI calls from now on (MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED).
  static void is_this_one() {
    thread_ = pthread_self();
    exists_.store(true, std::memory_order_release);
  }
  static void is_none() { exists_.store(false, std::memory_order_release); }
  static bool exists() { return exists_.load(std::memory_order_acquire); }
  /// Threads of Espalier's C API wait, too, and drive what is under way: but not what is another thread's alone.
  static bool may_be_this_one() { return !exists() || pthread_equal(thread_, pthread_self()) != 0; }

 private:
  inline static std::atomic<bool> exists_{false};
  inline static pthread_t thread_{};
};

/// Holds a lock that calls take, if there are other threads to keep out.
class CallLock {
 public:
  explicit CallLock(std::mutex& mutex) : held_(OnlyThread::exists() ? nullptr : &mutex) {
    if (held_) held_->lock();
  }
  CallLock(std::mutex& mutex, std::try_to_lock_t)
      : held_(OnlyThread::exists() ? nullptr : &mutex),
        owns_(held_ ? held_->try_lock() : OnlyThread::may_be_this_one()) {}
  ~CallLock() {
    if (held_ && owns_) held_->unlock();
  }
  CallLock(const CallLock&) = delete;
  CallLock& operator=(const CallLock&) = delete;
  explicit operator bool() const { return owns_; }

 private:
  std::mutex* held_;
  bool owns_ = true;
};

/// Adds to a number that only threads which make MPI calls change; the sum.
template <class T>
T add_in_call(std::atomic<T>& number, T by) {
  if (!OnlyThread::exists()) return number.fetch_add(by, std::memory_order_acq_rel) + by;
  const T sum = number.load(std::memory_order_relaxed) + by;
  number.store(sum, std::memory_order_relaxed);
  return sum;
}
/// Puts `next` in the place of a pointer that only such threads change; what was there.
template <class T>
T* exchange_in_call(std::atomic<T*>& pointer, T* next) {
  if (!OnlyThread::exists()) return pointer.exchange(next, std::memory_order_acq_rel);
  T* const before = pointer.load(std::memory_order_relaxed);
  pointer.store(next, std::memory_order_relaxed);
  return before;
}

}  // namespace espalier::runtime
