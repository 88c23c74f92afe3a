// The machine that the tests of the algorithms run on. One type for all of them: each further one would compile the
// algorithms' templates once more.
#pragma once

#include <gtest/gtest.h>

#include "machine/host_machine.hpp"

namespace espalier::testing {

using machine::HostMachine;

/// Sees what an algorithm asks of one rank's machine, and may refuse it.
class Watcher {
 public:
  virtual ~Watcher() = default;
  virtual bool may_expose(bool by_kernel) { return true; }
  virtual void pulls(const void* source, std::size_t bytes) {}
  virtual void views() {}
  virtual void takes_cell() {}
  virtual void writes_slot(std::size_t bytes) {}
};

/// The host machine, which tells a watcher if it has one.
class WatchedMachine : public HostMachine {
 public:
  using HostMachine::HostMachine;
  WatchedMachine(const WatchedMachine& m, Watcher& watcher) : HostMachine(m), watcher_(&watcher) {}

  bool can_expose(const void* source, std::size_t bytes, bool by_kernel) {
    if (watcher_ && !watcher_->may_expose(by_kernel)) return false;
    return HostMachine::can_expose(source, bytes, by_kernel);
  }
  void pull(int peer, void* target, const void* source, std::size_t bytes) {
    if (watcher_) watcher_->pulls(source, bytes);
    HostMachine::pull(peer, target, source, bytes);
  }
  const void* view(int peer, const void* source, std::size_t bytes) {
    if (watcher_) watcher_->views();
    return HostMachine::view(peer, source, bytes);
  }
  std::byte* pairwise_cell(int writer, int reader, const machine::Steps& steps) {
    if (watcher_) watcher_->takes_cell();
    return HostMachine::pairwise_cell(writer, reader, steps);
  }
  using HostMachine::write_slot;
  void write_slot(void* target, const void* source, std::size_t bytes, const void* read_next = nullptr) {
    if (watcher_) watcher_->writes_slot(bytes);
    HostMachine::write_slot(target, source, bytes, read_next);
  }

 private:
  Watcher* watcher_ = nullptr;
};

/// Of a rank whose buffers the kernel does not copy from: all goes through the slots.
class Unreadable : public Watcher {
  bool may_expose(bool) override { return false; }
  void pulls(const void*, std::size_t) override { ADD_FAILURE() << "no rank may try"; }
};

}  // namespace espalier::testing
