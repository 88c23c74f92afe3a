// What a collective returns, and the thread that does those that are not waited for at once.
#pragma once

#include <ATen/core/ivalue.h>
#include <torch/csrc/distributed/c10d/Work.hpp>

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "hooks.hpp"

namespace espalier_torch {

using Results = std::vector<at::Tensor>;

class Work final : public c10d::Work {
 public:
  Work(int rank, c10d::OpType type, const char* title, Results results)
      : c10d::Work(rank, type, title), results_(std::move(results)) {}

  /// Does it, on any thread, once.
  template <class Body>
  void perform(Body&& body) {
    std::exception_ptr problem;
    try {
      body();
    } catch (...) {
      problem = std::current_exception();
    }
    c10::intrusive_ptr<c10::ivalue::Future> future;
    {
      const std::lock_guard lock(future_mutex_);
      over_ = true;
      future = future_;
    }
    finish(problem);
    if (future) complete(*future);
  }

  std::vector<at::Tensor> result() override { return results_; }
  /// By which torch's flight recorder knows it.
  std::uint64_t key() const { return key_; }
#ifdef C10D_BACKEND_HAS_HOOKS
  std::uint64_t getCompletionKey() const override { return key_; }
#endif

  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override {
    bool over = false;
    {
      const std::lock_guard lock(future_mutex_);
      if (future_) return future_;
      future_ = c10::make_intrusive<c10::ivalue::Future>(c10::ListType::create(c10::TensorType::get()));
      over = over_;
    }
    if (over) {
      wait_quietly();
      complete(*future_);
    }
    return future_;
  }

  /// Until it is over; says nothing of how.
  void wait_quietly() {
    std::unique_lock lock(mutex_);
    cv_.wait(lock, [this] { return completed_; });
  }

 private:
  void complete(c10::ivalue::Future& future) {
    if (const std::exception_ptr problem = exception())
      future.setError(problem);
    else
      future.markCompleted(c10::IValue(results_));
  }

  Results results_;
  const std::uint64_t key_ = next_completion_key();
  std::mutex future_mutex_;
  bool over_ = false;
  c10::intrusive_ptr<c10::ivalue::Future> future_;
};

/// Does works in the order in which they come. Its thread is made by the first of them.
class Worker {
 public:
  using Task = std::function<void()>;
  Worker() = default;
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker() { end(); }

  void add(Task task) {
    const std::lock_guard lock(mutex_);
    if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
    tasks_.push_back(std::move(task));
    ++open_;
    changed_.notify_all();
  }

  /// Until all that has come is done.
  void drain() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return open_ == 0; });
  }

  void end() {
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
      changed_.notify_all();
    }
    if (thread_.joinable()) thread_.join();
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return ends_ || !tasks_.empty(); });
      if (tasks_.empty()) return;
      const Task task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
      lock.lock();
      --open_;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> tasks_;
  int open_ = 0;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace espalier_torch
