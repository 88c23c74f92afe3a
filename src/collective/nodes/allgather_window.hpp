// Allgather(v) around a ring of windows (NOTIFY II-A, algorithm 1): no rank waits for a certain receiver. A
// block is written into the window of the node above and notified there; all its ranks see that, and whoever
// sees it first passes it on. Tested; communicators go around their ring by messages (allgather_between.hpp)
// until they keep windows.
#pragma once

#include <sched.h>

#include <atomic>
#include <vector>

#include "collective/meeting.hpp"
#include "collective/nodes/allgather.hpp"
#include "network/window/concept.hpp"

namespace espalier::collective::nodes {

/// What the ranks of a communicator keep from call to call about their window. Calls take its halves in
/// turns: a node writes into one of them again only after it has heard of this node in the call between, in
/// which all ranks here had left the call before. For that every node sends at least one block, be it empty.
struct WindowUse {
  std::uint32_t calls = 0;  ///< the notifications' value; it wraps around, and 0 is left out
};

/// Where things lie in a node's segment: two halves, each with room for the whole and a mark for each block,
/// which says who passes it on. The ids are halved likewise.
class WindowHalf {
 public:
  using Mark = std::uint32_t;

  WindowHalf(std::size_t segment_bytes, int ids, std::uint32_t call)
      : blocks_(static_cast<std::size_t>(ids) / 2),
        bytes_(segment_bytes / 2 / alignof(Mark) * alignof(Mark)),
        index_(call % 2) {}

  /// How many blocks a call may have, and how many bytes.
  std::size_t most_blocks() const { return blocks_; }
  std::size_t room() const { return bytes_ > marks() ? bytes_ - marks() : 0; }
  std::size_t data() const { return index_ * bytes_ + marks(); }
  std::size_t mark(std::size_t block) const { return index_ * bytes_ + block * sizeof(Mark); }
  int id(std::size_t block) const { return static_cast<int>(index_ * blocks_ + block); }

 private:
  std::size_t marks() const { return blocks_ * sizeof(Mark); }
  std::size_t blocks_, bytes_, index_;
};

/// One rank's part. All ranks of each node take part, in even shares (RingBlocks). The window has more than 4
/// ids for each node, and room() for the whole in each half.
template <Machine M, network::Window W, class B>
class AllgatherWindow {
 public:
  AllgatherWindow(M& m, W& w, WindowUse& use, const Allgather<B>& call, const Plan& node_plan,
                  std::size_t block)
      : m_(m),
        window_(w),
        call_(call),
        meeting_(m, node_plan),
        value_(next(use)),
        half_(w.bytes(), w.ids(), value_),
        blocks_(call.order.edges, std::max(block, least_block()), 1),
        shares_(call.order.edges, blocks_.block_bytes(), m.size()) {}

  void run() {
    show_own();
    const RingBlocks::Share own = shares_.share(window_.node(), m_.rank());
    for (std::size_t i = 0; i < own.count; ++i) send(window_.node(), own.first + i);
    if (blocks_.count(window_.node()) == 0 && m_.rank() == 0) send(window_.node(), 0);
    call_.unpack(whole(), window_.node(), copy_);
    for (int distance = 1; distance < window_.nodes(); ++distance)
      expect(around(window_.node() - distance, window_.nodes()));
    watch();
    for (int distance = 1; distance < window_.nodes(); ++distance)
      call_.unpack(whole(), around(window_.node() - distance, window_.nodes()), copy_);
    window_.flush();
  }

 private:
  struct Expected {
    int node;
    std::size_t index;
  };

  /// So that the numbers suffice: each node may have one block more than its bytes ask for, and one that is
  /// empty.
  std::size_t least_block() const {
    const std::size_t numbers = half_.most_blocks() - 2 * static_cast<std::size_t>(window_.nodes());
    return (call_.order.total() + numbers - 1) / numbers;
  }

  static std::uint32_t next(WindowUse& use) { return use.calls = use.calls + 1 == 0 ? 2 : use.calls + 1; }
  std::byte* whole() const { return window_.local() + half_.data(); }
  int above() const { return around(window_.node() + 1, window_.nodes()); }

  /// Blocks are numbered node by node; each node has a number more than it has blocks, for the empty one.
  std::size_t number(int node, std::size_t index) const {
    return blocks_.first_id(node) + static_cast<std::size_t>(node) + index;
  }
  Stretch stretch(int node, std::size_t index) const {
    return blocks_.count(node) == 0 ? Stretch{0, 0} : blocks_.block(node, index);
  }

  void send(int node, std::size_t index) {
    if (window_.nodes() == 1) return;
    const Stretch s = stretch(node, index);
    window_.put_notify(above(), half_.data() + s.offset, whole() + s.offset, s.bytes,
                       half_.id(number(node, index)), value_);
  }

  void expect(int node) {
    const std::size_t count = std::max<std::size_t>(blocks_.count(node), 1);
    for (std::size_t i = 0; i < count; ++i) expected_.push_back({node, i});
  }

  /// Until all ranks' blocks are in the segment.
  void show_own() {
    if (const std::size_t bytes = call_.blocks.bytes_of(call_.rank); bytes > 0)
      m_.copy(whole() + call_.order.begin_of(call_.rank), call_.own, bytes);
    call_.place_own(copy_);
    const Step step = m_.advance(1);
    meeting_.announce(step);
    for (const int peer : m_.everybody_else()) meeting_.await(peer, step);
    m_.finish(step);
  }

  /// Until everything has come; looking drives the window. Its own wait is of no use, for the ids still have
  /// the values of two calls ago.
  void watch() {
    while (!expected_.empty())
      if (std::erase_if(expected_, [this](const Expected& e) { return has_come(e); }) == 0) sched_yield();
  }

  bool has_come(const Expected& e) {
    if (window_.test(half_.id(number(e.node, e.index))) != value_) return false;
    if (e.node != above() && claim(number(e.node, e.index))) send(e.node, e.index);
    return true;
  }

  bool claim(std::size_t block) {
    auto& mark = *reinterpret_cast<WindowHalf::Mark*>(window_.local() + half_.mark(block));
    // Relaxed: who gets it is all that matters; the data were made visible by the notification.
    return std::atomic_ref(mark).exchange(value_, std::memory_order_relaxed) != value_;
  }

  M& m_;
  W& window_;
  const Allgather<B>& call_;
  Meeting<M> meeting_;
  std::uint32_t value_;
  WindowHalf half_;
  RingBlocks blocks_;  // the same on all nodes, however many ranks they have
  RingBlocks shares_;  // the same blocks, among the ranks of this node
  std::vector<Expected> expected_;
  struct Copy {
    M& m;
    void operator()(void* target, const void* source, std::size_t bytes) const {
      m.copy(target, source, bytes);
    }
  };
  Copy copy_{m_};
};

}  // namespace espalier::collective::nodes
