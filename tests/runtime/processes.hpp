// Ranks as forked processes that share nothing but a board, as under a launcher.
#pragma once

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>

#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "tests/memory/children.hpp"

namespace espalier::testing {

/// The bootstrap of `size` processes: an allgather over memory that is mapped before they are forked.
class Board {
 public:
  static constexpr std::size_t most_bytes = 64 * 1024;

  explicit Board(int size) : size_(static_cast<std::size_t>(size)) {
    memory_ = mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory_ == MAP_FAILED) throw std::runtime_error("no memory for a board");
    pthread_barrierattr_t attributes;
    pthread_barrierattr_init(&attributes);
    pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(barrier(), &attributes, static_cast<unsigned>(size));
    pthread_barrierattr_destroy(&attributes);
  }
  ~Board() { munmap(memory_, bytes()); }
  Board(const Board&) = delete;
  Board& operator=(const Board&) = delete;

  int size() const { return static_cast<int>(size_); }

  void allgather(int rank, const void* mine, void* all, std::size_t count) {
    if (count > most_bytes) throw std::length_error("too much for a board");
    std::memcpy(place(static_cast<std::size_t>(rank)), mine, count);
    pthread_barrier_wait(barrier());
    for (std::size_t r = 0; r < size_; ++r)
      std::memcpy(static_cast<std::byte*>(all) + r * count, place(r), count);
    pthread_barrier_wait(barrier());  // no rank writes again before all have read
  }

  /// Until all have come.
  void meet() { pthread_barrier_wait(barrier()); }

 private:
  static constexpr std::size_t head = 4096;
  std::size_t bytes() const { return head + size_ * most_bytes; }
  pthread_barrier_t* barrier() const { return static_cast<pthread_barrier_t*>(memory_); }
  std::byte* place(std::size_t rank) const {
    return static_cast<std::byte*>(memory_) + head + rank * most_bytes;
  }

  std::size_t size_;
  void* memory_;
};

/// Forked ranks. The parent must not have asked Espalier anything: its configuration would be the children's.
class Job {
 public:
  template <class Body>
  Job(int ranks, Body body) {
    for (int rank = 0; rank < ranks; ++rank)
      children_.push_back(fork_child([&] {
        body(rank);
        return 0;
      }));
  }
  ~Job() {
    for (std::size_t rank = 0; rank < children_.size(); ++rank) end(static_cast<int>(rank));
  }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  /// kill -9, and wait until the process is gone.
  int end(int rank) {
    pid_t& child = children_[static_cast<std::size_t>(rank)];
    if (child == 0) return 0;
    kill(child, SIGKILL);
    return wait(rank);
  }
  /// The exit code, or minus the signal.
  int wait(int rank) {
    pid_t& child = children_[static_cast<std::size_t>(rank)];
    const int result = end_of(child);
    child = 0;
    return result;
  }
  /// Kills one rank, of which the others are to know what to do.
  void expect_success_without(int rank) {
    EXPECT_EQ(end(rank), -SIGKILL);
    expect_success();
  }
  /// Of all that have not been ended.
  void expect_success() {
    for (std::size_t rank = 0; rank < children_.size(); ++rank) {
      if (children_[rank] == 0) continue;
      EXPECT_EQ(wait(static_cast<int>(rank)), 0)
          << "rank " << rank << " (its own words are above; -14 is a hang)";
    }
  }

 private:
  std::vector<pid_t> children_;
};

template <class Body>
void run_ranks(int ranks, Body body) {
  Job(ranks, body).expect_success();
}

}  // namespace espalier::testing
