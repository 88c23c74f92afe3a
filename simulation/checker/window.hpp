// A window of an execution's ranks: the text of windows over checked memory and messages.
#pragma once

#include <source_location>
#include <utility>

#include "network/window/message_carrier.hpp"
#include "network/window/window.hpp"
#include "simulation/checker/platform.hpp"

namespace espalier::network {
extern template class BasicMessageCarrier<simulation::checker::Platform>;
extern template class BasicNodeWindow<simulation::checker::Platform>;
}  // namespace espalier::network

namespace espalier::simulation::checker {

using WindowMemory = network::BasicWindowMemory<Platform>;
using Notifications = network::BasicNotifications<Platform>;
using Landings = network::BasicLandings<Platform>;

/// One rank's window over messages, whose waits a mutant may leave out. It lies in its node's area, and goes
/// on in all waits of its rank.
class Window {
  using Where = std::source_location;
  using Checked = network::BasicNodeWindow<Platform>;

 public:
  /// `landings`: a host's stores are to be looked for, too.
  Window(const network::WindowTeam& team, std::size_t bytes, int ids, bool landings = false);
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;
  ~Window();

  /// Of the area, that a window of this size takes.
  static std::size_t area_bytes(std::size_t bytes, int ids, bool landings = false);

  int nodes() const { return window_.nodes(); }
  int node() const { return window_.node(); }
  std::size_t bytes() const { return window_.bytes(); }
  int ids() const { return window_.ids(); }
  std::byte* local() const { return window_.local(); }
  const WindowMemory& memory() const { return memory_; }

  void put(int node, std::size_t offset, const void* source, std::size_t bytes) {
    window_.put(node, offset, source, bytes);
  }
  void put_notify(int node, std::size_t offset, const void* source, std::size_t bytes, int id,
                  std::uint32_t value) {
    window_.put_notify(node, offset, source, bytes, id, value);
  }
  void notify(int node, int id, std::uint32_t value) { window_.notify(node, id, value); }
  void get(int node, std::size_t offset, void* target, std::size_t bytes) {
    window_.get(node, offset, target, bytes);
  }
  void store(int node, std::size_t offset, std::uint64_t value) { window_.store(node, offset, value); }
  std::uint64_t fetch_add(int node, std::size_t offset, std::uint64_t value) {
    return window_.fetch_add(node, offset, value);
  }
  std::uint64_t compare_swap(int node, std::size_t offset, std::uint64_t expected, std::uint64_t desired) {
    return window_.compare_swap(node, offset, expected, desired);
  }
  std::uint32_t test(int id) { return window_.test(id); }
  std::uint32_t peek(int id) const { return window_.peek(id); }
  std::uint32_t reset(int id) { return window_.reset(id); }
  bool claim(std::size_t offset, std::uint32_t value) { return window_.claim(offset, value); }
  /// From another wait of this rank.
  void drive_aside() { window_.drive_aside(); }

  void flush(Where where = Where::current()) {
    if (is_kept(where)) window_.flush();
  }
  int wait_some(int first, int count, Where where = Where::current()) {
    return is_kept(where) ? window_.wait_some(first, count) : first;
  }
  template <class Done>
  void drive_until(Done done, Where where = Where::current()) {
    if (is_kept(where)) window_.drive_until(done);
  }
  void drain(Where where = Where::current()) {
    if (is_kept(where)) window_.drain();
  }
  void close(Where where = Where::current()) {
    if (is_kept(where)) window_.close();
  }

 private:
  static bool is_kept(const Where& where) {
    return Execution::current().at(where, Operation::drive) != Change::removed;
  }
  WindowMemory memory_;
  Checked window_;
};

static_assert(network::Window<Window>);

}  // namespace espalier::simulation::checker
