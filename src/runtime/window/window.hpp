// The life of a window: how ranks agree on it, and how it ends.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "network/window/choice.hpp"
#include "network/window/window.hpp"
#include "runtime/process/bootstrap.hpp"
#include "runtime/window/segment.hpp"

namespace espalier::runtime {

/// What all ranks ask for; equal on all of them but for the address of bound memory.
struct WindowRequest {
  std::size_t bytes = 0;     ///< of each node's segment
  int ids = 0;               ///< notifications of each node
  void* bound = nullptr;     ///< memory of the caller's that the ranks of this node share; null: fresh memory
  bool by_messages = false;  ///< whatever the setting says: for callers that need a message's order
};

/// A window of some ranks of this job. While it lives, every wait of this process in Espalier drives the
/// operations on it.
class Window {
 public:
  /// Collective over the ranks. Throws Error, the same on all ranks: different requests, no shared memory, no
  /// transport. `bootstrap` is not needed any more afterwards.
  static std::unique_ptr<Window> create(const Bootstrap& bootstrap, const WindowRequest& request);
  /// Local. Without close() messages under way are lost, and their tags are not used again.
  ~Window();
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  network::NodeWindow& operator*() { return *view_; }
  network::NodeWindow* operator->() { return view_.get(); }

  network::WindowTransport transport() const { return choice_.transport; }
  /// Why this transport, in words.
  const std::string& why() const { return choice_.why; }
  int rank() const { return rank_; }

  /// Collective: returns when nothing is under way to or from this rank any more.
  void close();
  /// The same for a caller that knows that no operation on this rank is under way or will come. Local where
  /// messages carry the window; collective where the host's own windows do. Throws Error.
  void leave();

 private:
  class Negotiation;
  Window() = default;
  void give_tags_back();

  int rank_ = 0;
  std::unique_ptr<WindowSegment> segment_;
  std::unique_ptr<network::NodeWindow> view_;
  network::WindowChoice choice_;
  int tags_ = -1;  // this window's block of tags
};

}  // namespace espalier::runtime
