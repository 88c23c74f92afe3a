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

  /// Starts a put; when the data are there, notification `id` gets `value`, unless that is 0. May wait for
  /// the target's host.
  virtual void put(int rank, std::size_t offset, const void* source, std::size_t bytes, int id,
                   std::uint32_t value) = 0;
  virtual void get(int rank, std::size_t offset, void* target, std::size_t bytes) = 0;
  /// Waits until this rank may use all sources and targets again.
  virtual void complete() = 0;
  /// Handles what arrives here, where the host does not do all of it; true if there was something.
  virtual bool drive() { return false; }
  /// Whether all puts of this rank have arrived, notifications included; drives progress.
  virtual bool arrived() = 0;
  /// Collective and non-blocking: each rank repeats it until it returns true. To be called when arrived() has
  /// returned true; no other call may follow.
  virtual bool close() = 0;
};

/// Opens the one-sided access of windows; the binding to the host MPI implements it.
class OneSidedHost {
 public:
  struct Spec {
    WindowTransport kind = WindowTransport::rma;
    std::vector<int> processes;  ///< by rank, as the transport numbers them
    int rank = 0;
    int tag = 0;  ///< for messages between the ranks of this window alone
    const WindowMemory* memory = nullptr;
  };
  virtual ~OneSidedHost() = default;
  /// What the host of this process has.
  virtual WindowMeans means() const = 0;
  /// Collective over the ranks. Throws Error.
  virtual std::unique_ptr<OneSided> open(const Spec& spec) = 0;
};

}  // namespace espalier::network
