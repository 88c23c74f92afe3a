// What a host's one-sided calls do for a window.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "network/window/choice.hpp"
#include "network/window/memory.hpp"

namespace espalier::network {

/// Direct access to the memory of the ranks of a window, which are numbered as in its communicator. Used by
/// one thread at a time. All calls throw Error when the host fails.
class OneSided {
 public:
  virtual ~OneSided() = default;

  /// Starts to write; then sets the notification, unless `value` is 0. May wait for the target's host.
  virtual void put(int rank, std::size_t offset, const void* source, std::size_t bytes, int id,
                   std::uint32_t value) = 0;
  virtual void get(int rank, std::size_t offset, void* target, std::size_t bytes) = 0;
  /// Until all sources and targets belong to this rank again.
  virtual void complete() = 0;
  /// Sees to what arrives here, where the host does not do all of it; true if there was something.
  virtual bool drive() { return false; }
  /// Whether all that this rank has put has arrived, notifications included; drives.
  virtual bool arrived() = 0;
  /// Collective, in steps: called until it is true, after arrived() was, and nothing else is called any more.
  virtual bool close() = 0;
};

/// Who opens them: the host MPI.
class OneSidedHost {
 public:
  struct Spec {
    WindowTransport kind = WindowTransport::rma;
    std::vector<int> processes;  ///< by rank, as the transport numbers them
    int rank = 0;
    int tag = 0;  ///< of the window's own, for what its ranks must tell each other
    const WindowMemory* memory = nullptr;
  };
  virtual ~OneSidedHost() = default;
  /// What this process's host has.
  virtual WindowMeans means() const = 0;
  /// Collective over the ranks. Throws Error.
  virtual std::unique_ptr<OneSided> open(const Spec& spec) = 0;
};

}  // namespace espalier::network
