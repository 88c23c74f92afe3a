// A window as one rank sees it.
#pragma once

#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>

#include "base/error.hpp"
#include "network/spin_limits.hpp"
#include "network/window/carrier.hpp"
#include "network/window/concept.hpp"
#include "network/window/memory.hpp"
#include "network/window/team.hpp"

namespace espalier::network {

/// A node, an offset, an id or a value that a window does not have; nothing has been done.
class WindowArgument : public Error {
 public:
  using Error::Error;
};

/// The text is in window_impl.hpp. Within the node plain loads and stores, to other nodes whatever the
/// carrier does; docs/windows.md has the contract and why it holds. One thread at a time uses it, but for
/// drive_aside(). All calls throw WindowArgument, and Error when the network fails.
template <class Platform>
class BasicNodeWindow {
 public:
  using Memory = BasicWindowMemory<Platform>;

  /// How this rank passes the time in a wait.
  struct Waiting {
    SpinLimits spin_limits;
    std::function<void()> hook;  ///< lets what else the process has under way go on; may be empty
  };

  BasicNodeWindow(WindowTeam team, const Memory& memory, Waiting waiting);
  BasicNodeWindow(const BasicNodeWindow&) = delete;
  BasicNodeWindow& operator=(const BasicNodeWindow&) = delete;

  /// Needed where there are other nodes, before the first call; it may refer to team().
  void set_carrier(std::unique_ptr<Carrier> carrier) { carrier_ = std::move(carrier); }

  const WindowTeam& team() const { return team_; }
  int nodes() const { return team_.nodes(); }
  int node() const { return team_.node; }
  std::size_t bytes() const { return memory_.bytes; }
  int ids() const { return memory_.notifications.ids(); }
  std::byte* local() const { return memory_.base; }

  /// put_notify without a notification.
  void put(int node, std::size_t offset, const void* source, std::size_t bytes);
  void put_notify(int node, std::size_t offset, const void* source, std::size_t bytes, int id,
                  std::uint32_t value);
  void notify(int node, int id, std::uint32_t value) { put_notify(node, 0, nullptr, 0, id, value); }
  /// Starts to read; the target holds the data after flush().
  void get(int node, std::size_t offset, void* target, std::size_t bytes);
  /// Writes the 8 bytes at `offset`, a multiple of 8, in one piece. Where messages carry the window, the rank
  /// that sees the value sees this rank's earlier puts to that node of no more than longest_inline bytes.
  void store(int node, std::size_t offset, std::uint64_t value);
  /// On the 8 bytes at `offset`, a multiple of 8; what was there before. All atomic operations on a word of a
  /// window are atomic with each other, wherever they come from. Waits for the target.
  std::uint64_t fetch_add(int node, std::size_t offset, std::uint64_t value);
  std::uint64_t compare_swap(int node, std::size_t offset, std::uint64_t expected, std::uint64_t desired);
  /// Until all sources and targets of this rank's puts and gets are its own again.
  void flush();
  /// The same for so long at most: false when some are not yet. (A transport that can only block for that does.)
  bool flush_for(std::chrono::milliseconds limit);

  /// Of the ranks of this node one is the first to set the mark of 4 bytes at `offset`, a multiple of 4, to
  /// `value`; only claims write there. Orders nothing.
  bool claim(std::size_t offset, std::uint32_t value) { return memory_.claim(offset, value); }

  std::uint32_t test(int id);
  /// Without driving.
  std::uint32_t peek(int id) const {
    check_ids(id, 1);
    return memory_.notifications.test(id);
  }
  std::uint32_t reset(int id);
  int wait_some(int first, int count);
  /// The same for so long at most: -1 when none has come.
  int wait_some_for(int first, int count, std::chrono::milliseconds limit);

  /// Until done() is true: drives, spins, yields and timed sleeps as Waiting says.
  template <class Done>
  void drive_until(Done done) {
    drive_until(done, [](typename Platform::Wait& wait) { wait.pass(); });
  }
  /// The same; pass(wait) passes the time after a look in vain.
  template <class Done, class Pass>
  void drive_until(Done done, const Pass& pass);

  /// From any thread of the process that waits for something else; does nothing while the window is in use.
  void drive_aside() noexcept;

  /// Until all that this rank has started has left it. For a caller who knows that nothing is aimed at this
  /// rank any more, and nothing will be: then it is as good as close(), and no rank need come along.
  void drain();
  /// Collective: until nothing is under way to or from this rank any more. The last call.
  void close();

 private:
  void check_range(int node, std::size_t offset, std::size_t bytes) const;
  void check_word(int node, std::size_t offset) const;
  void check_ids(int first, int count) const;
  void check_failure();
  bool is_here(int node) const { return node == team_.node; }
  void start_put(int node, std::size_t offset, const void* source, std::size_t bytes, int id,
                 std::uint32_t value);
  bool drive();
  template <class Look>
  std::uint32_t poll(Look look);
  void note_poll(bool found);
  template <class Start>
  std::uint64_t ask_for_word(Start start);

  WindowTeam team_;
  Memory memory_;
  Waiting waiting_;
  std::unique_ptr<Carrier> carrier_;
  typename Platform::Wait polls_;  // since the last that found something
  std::mutex mutex_;               // of the carrier
  std::atomic<bool> failed_{false};
  std::exception_ptr failure_;  // of drive_aside(), which can tell no caller
};

// What else the process has under way goes on when this wait begins to yield, and not at every look.
template <class Platform>
template <class Done, class Pass>
void BasicNodeWindow<Platform>::drive_until(Done done, const Pass& pass) {
  constexpr int looks_between_drives = 16;
  typename Platform::Wait wait(waiting_.spin_limits);
  for (int vain = 0; !done();) {
    if (drive()) {
      wait.begin_anew();
      continue;
    }
    pass(wait);
    if (waiting_.hook && (wait.timed_sleeps() || ++vain % looks_between_drives == 0)) waiting_.hook();
  }
}

/// Windows of programs; instantiated in window.cpp.
using NodeWindow = BasicNodeWindow<HostPlatform>;
extern template class BasicNodeWindow<HostPlatform>;

static_assert(Window<NodeWindow>);

}  // namespace espalier::network
