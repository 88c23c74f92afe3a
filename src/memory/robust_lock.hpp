// A lock that processes share, and that survives the death of the one that holds it.
#pragma once

#include <pthread.h>

#include <cerrno>
#include <chrono>
#include <thread>

namespace espalier::memory {

/// Whatever a process that died was about to change must be whole enough for the next one: it goes on. The
/// lock is tried again and again, not waited for: where a filter of system calls refuses futex(),
/// pthread_mutex_lock() ends the program. It is held for microseconds.
class RobustLock {
 public:
  explicit RobustLock(pthread_mutex_t& mutex) : mutex_(mutex) {
    constexpr int most_yields = 64;  // a sleep takes as long as some hundred of them
    for (int tries = 0;; ++tries) {
      const int status = pthread_mutex_trylock(&mutex_);
      if (status == EOWNERDEAD) pthread_mutex_consistent(&mutex_);
      if (status != EBUSY) return;
      if (tries < most_yields)
        std::this_thread::yield();
      else
        std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  }
  ~RobustLock() { pthread_mutex_unlock(&mutex_); }
  RobustLock(const RobustLock&) = delete;
  RobustLock& operator=(const RobustLock&) = delete;

  static void initialise(pthread_mutex_t& mutex) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&mutex, &attributes);
    pthread_mutexattr_destroy(&attributes);
  }

 private:
  pthread_mutex_t& mutex_;
};

}  // namespace espalier::memory
