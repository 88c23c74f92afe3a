// A c10d::Backend whose collectives on CPU tensors go through Espalier, and all else through an inner backend, which is gloo.
#pragma once

#include <Python.h>
#include <torch/csrc/distributed/c10d/Backend.hpp>

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "elements.hpp"
#include "hooks.hpp"
#include "library.hpp"
#include "memory.hpp"
#include "work.hpp"

namespace espalier_torch {

using Inner = c10::intrusive_ptr<c10d::Backend>;
using WorkPointer = c10::intrusive_ptr<c10d::Work>;
/// Whose thread does a collective.
enum class By { program, worker };

/// Behind a group in Python torch's dispatcher has the interpreter's lock, which other threads, and torch's flight recorder
/// when it writes, need while this one waits.
class WithoutInterpreter {
 public:
  WithoutInterpreter() : state_(Py_IsInitialized() && PyGILState_Check() ? PyEval_SaveThread() : nullptr) {}
  ~WithoutInterpreter() {
    if (state_) PyEval_RestoreThread(state_);
  }
  WithoutInterpreter(const WithoutInterpreter&) = delete;
  WithoutInterpreter& operator=(const WithoutInterpreter&) = delete;

 private:
  PyThreadState* state_;
};

/// Collectives are begun in the order in which the program calls them, on the calling thread where the program waits for
/// each, else on the backend's own. Thread-safe: one collective at a time.
class Backend final : public c10d::Backend {
 public:
  /// `comm` is an espalier_comm of these ranks, and this object's from now on. `whose`: what is added to errors. `recorded`:
  /// its calls come through torch's dispatcher, where torch's flight recorder listens.
  Backend(const std::string& library, std::uintptr_t comm, Inner inner, std::string name, std::string whose,
          std::chrono::milliseconds timeout, bool recorded);
  ~Backend() override;

  const std::string getBackendName() const override { return name_; }
  bool supportsSplitting() const override { return true; }  // by split_group() of the group in Python
  void set_timeout(std::chrono::milliseconds timeout);
  void free();
  /// In place, on the calling thread, after all that has come; without what torch's dispatcher adds to a call.
  /// `how`: type, operator and label, as elements.py packs them.
  void allreduce_now(std::uintptr_t data, std::size_t count, unsigned how);
  /// The same for a tensor. False, and nothing is done, where the call has to go through the group.
  bool allreduce_directly(const at::Tensor& tensor, const c10d::ReduceOp& op);

  WorkPointer broadcast(Tensors& tensors, const c10d::BroadcastOptions& opts) override;
  WorkPointer allreduce(Tensors& tensors, const c10d::AllreduceOptions& opts) override;
  WorkPointer allreduce_sparse(Tensors& tensors, const c10d::AllreduceOptions& opts) override;
  WorkPointer allreduce_coalesced(Tensors& tensors, const c10d::AllreduceCoalescedOptions& opts) override;
  WorkPointer reduce(Tensors& tensors, const c10d::ReduceOptions& opts) override;
  WorkPointer allgather(std::vector<Tensors>& outputs, Tensors& inputs,
                        const c10d::AllgatherOptions& opts) override;
  WorkPointer _allgather_base(at::Tensor& output, at::Tensor& input,
                              const c10d::AllgatherOptions& opts) override;
  WorkPointer allgather_coalesced(std::vector<Tensors>& outputs, Tensors& inputs,
                                  const c10d::AllgatherOptions& opts) override;
  WorkPointer allgather_into_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                              const c10d::AllgatherOptions& opts) override;
  WorkPointer gather(std::vector<Tensors>& outputs, Tensors& inputs,
                     const c10d::GatherOptions& opts) override;
  WorkPointer scatter(Tensors& outputs, std::vector<Tensors>& inputs,
                      const c10d::ScatterOptions& opts) override;
  WorkPointer reduce_scatter(Tensors& outputs, std::vector<Tensors>& inputs,
                             const c10d::ReduceScatterOptions& opts) override;
  WorkPointer _reduce_scatter_base(at::Tensor& output, at::Tensor& input,
                                   const c10d::ReduceScatterOptions& opts) override;
  WorkPointer reduce_scatter_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                              const c10d::ReduceScatterOptions& opts) override;
  WorkPointer alltoall_base(at::Tensor& output, at::Tensor& input, std::vector<int64_t>& output_rows,
                            std::vector<int64_t>& input_rows, const c10d::AllToAllOptions& opts) override;
  WorkPointer alltoall(Tensors& outputs, Tensors& inputs, const c10d::AllToAllOptions& opts) override;
  WorkPointer barrier(const c10d::BarrierOptions& opts) override;

#ifdef C10D_BACKEND_HAS_HOOKS
  bool supportsAbortHooks() const override { return recorded_; }
  void registerAbortHook(std::int64_t number, c10d::AbortHook hook) override {
    hooks_.abort.add(number, std::move(hook));
  }
  void unregisterAbortHook(std::int64_t number) override { hooks_.abort.remove(number); }
  bool supportsCompletionHooks() const override { return recorded_; }
  void registerCompletionHook(std::int64_t number, c10d::CompletionHook hook) override {
    hooks_.completion.add(number, std::move(hook));
  }
  void unregisterCompletionHook(std::int64_t number) override { hooks_.completion.remove(number); }
#endif

  void monitoredBarrier(const c10d::BarrierOptions& opts, bool wait_all_ranks) override {
    worker_.drain();
    inner_->monitoredBarrier(opts, wait_all_ranks);
  }
  WorkPointer send(Tensors& tensors, int to, int tag) override { return inner_->send(tensors, to, tag); }
  WorkPointer recv(Tensors& tensors, int from, int tag) override { return inner_->recv(tensors, from, tag); }
  WorkPointer recvAnysource(Tensors& tensors, int tag) override {
    return inner_->recvAnysource(tensors, tag);
  }

 private:
  /// Has body() done, now or later, as the options say.
  template <class Opts, class Body>
  WorkPointer start(c10d::OpType type, const char* title, const Opts& opts, Results results, Body body);
  void check(int code) const {
    if (code != ESPALIER_OK) [[unlikely]]
      fail(code);
  }
  [[noreturn]] void fail(int code) const;
  /// Beside the program's threads, which compute on its core, the worker's sleeps while it waits for other ranks.
  void wait_as(By by) {
    if (by == waits_as_) [[likely]]
      return;
    check(library_.comm_set_background(comm_, by == By::worker));
    waits_as_ = by;
  }

  /// What the next calls are of, for the other ranks to compare; sticks.
  void label(int label) {
    if (label == label_) [[likely]]
      return;
    check(library_.comm_set_label(comm_, label));
    label_ = label;
  }

  void allreduce_one(const at::Tensor& tensor, const Fold& fold);
  void allgather_one(const at::Tensor& input, char* receive);
  void reduce_scatter_one(const at::Tensor& output, const Tensors& inputs, const Fold& fold);
  void alltoallv(const char* send, const Lengths& sent, char* receive, const Lengths& received) const;

  const Library library_;
  espalier_comm* comm_;
  Inner inner_;
  const std::string name_, whose_;
  std::chrono::milliseconds timeout_;
  std::mutex mutex_;  // a collective at a time
  By waits_as_ = By::program;
  int label_ = 0;
  const bool recorded_;
  Hooks hooks_;
  Worker worker_;
};

template <class Opts>
bool is_async(const Opts& opts) {
  if constexpr (requires { opts.asyncOp; })
    return opts.asyncOp;
  else
    return true;  // of versions whose options do not say it
}

/// The program waits for the call at once; versions whose options do not say it wait for its work.
template <class Opts>
void set_synchronous(Opts& opts) {
  if constexpr (requires { opts.asyncOp; }) opts.asyncOp = false;
}

template <class Opts, class Body>
WorkPointer Backend::start(c10d::OpType type, const char* title, const Opts& opts, Results results,
                           Body body) {
  auto work = c10::make_intrusive<Work>(getRank(), type, title, std::move(results));
  auto alone = [this, key = work->key(), body = std::move(body)](By by) {
    const at::NoGradGuard no_grad;
    hooks_.around(key, [&] {
      const std::lock_guard lock(mutex_);
      wait_as(by);
      body();
    });
  };
  if (is_async(opts)) {
    worker_.add([work, alone = std::move(alone)] { work->perform([&] { alone(By::worker); }); });
    return work;
  }
  const WithoutInterpreter unlocked;
  worker_.drain();
  work->perform([&] { alone(By::program); });
  if (const std::exception_ptr problem = work->exception()) std::rethrow_exception(problem);
  return work;
}

}  // namespace espalier_torch
