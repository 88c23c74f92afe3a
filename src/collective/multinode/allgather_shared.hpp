// Allgather(v) over nodes that have memory in common (NOTIFY II): the whole is put together once on a node,
// where all its ranks see it, by several of them; each copies it out as it comes.
#pragma once

#include "collective/multinode/allgather.hpp"
#include "collective/multinode/stage/node_ranks.hpp"

namespace espalier::collective::multinode {

/// Memory that all ranks of a node see.
struct SharedArea {
  std::byte* memory = nullptr;
  std::size_t bytes = 0;
  Step last = 0;  ///< no rank reads what is in it once all have finished that step
};

/// One rank's part. `carriers`: its counterparts on the other nodes, who talk to each other if they are among
/// the first `count` ranks of their nodes.
template <Machine M, Network N, class B>
class AllgatherShared {
 public:
  AllgatherShared(M& m, SharedArea& area, N carriers, int count, const Allgather<B>& call,
                  const Plan& node_plan, const plan::NetworkPlan& plan)
      : m_(m),
        area_(area),
        carriers_(carriers),
        count_(count),
        call_(call),
        node_(m, node_plan),
        plan_(plan) {}

  void run() {
    show_own();
    take_steps();
    count_coming();
    Task task;
    if (carries()) {
      task = allgather_between(carriers_, area_.memory, call_.order, count_, m_.rank(), plan_, [this] {
        ++arrived_;
        tell();
      });
      tell();
    }
    call_.unpack(area_.memory, call_.node(), copy_);
    for (std::size_t portion = 0; portion < portions_; ++portion) read(portion, task);
    carriers_.drive_until([&] { return task.done(); });
    m_.finish(area_.last);
  }

 private:
  bool carries() const { return m_.rank() < count_; }
  int nodes() const { return call_.placement.nodes(); }

  /// Until all ranks' blocks are in the area.
  void show_own() {
    for (const int peer : m_.other_ranks()) m_.await_finish(peer, area_.last);
    if (const std::size_t bytes = call_.blocks.bytes_of(call_.rank); bytes > 0)
      m_.copy(area_.memory + call_.order.begin_of(call_.rank), call_.own, bytes);
    call_.place_own(copy_);
    node_.meet();
  }

  // A step for each portion and carrier. With more ranks than cores all comes as one portion, for each time
  // that a rank is switched in costs more than what is copied meanwhile; so it does where nothing comes in
  // parts.
  void take_steps() {
    const bool in_parts = goes_around(plan_, call_.order) && !node_.is_oversubscribed() && nodes() > 1;
    portions_ = in_parts ? static_cast<std::size_t>(nodes()) - 1 : 1;
    first_ = m_.advance(1).first;
    area_.last = first_;
    for (std::size_t i = 1; i < portions_ * static_cast<std::size_t>(count_); ++i)
      area_.last = m_.advance(1).last();
  }
  Step step(std::size_t portion, int carrier) const {
    return first_ + portion * static_cast<std::size_t>(count_) + static_cast<std::size_t>(carrier);
  }

  /// How many blocks have come to this carrier when a portion has.
  void count_coming() {
    if (!carries() || !goes_around(plan_, call_.order)) return;
    const RingBlocks blocks(call_.order.edges, ring_block(plan_), count_);
    std::size_t sum = 0;
    for (int distance = 1; distance < nodes(); ++distance) {
      sum += blocks.share(around(call_.node() - distance, nodes()), m_.rank()).count;
      if (portions_ > 1) needed_.push_back(sum);
    }
    if (portions_ == 1) needed_.push_back(sum);
  }

  /// Publishes each portion that is complete. Also from within a wait: the rank that drives the network gets
  /// here.
  void tell() {
    while (told_ < needed_.size() && arrived_ >= needed_[told_])
      m_.publish(Channel::gather, step(told_++, m_.rank()));
  }

  void read(std::size_t portion, const Task& task) {
    for (int carrier = 0; carrier < count_; ++carrier) {
      if (carrier != m_.rank())
        m_.await(Channel::gather, carrier, step(portion, carrier));
      else
        await_own(portion, task);
    }
    if (portions_ > 1)
      return call_.unpack(area_.memory, around(call_.node() - 1 - static_cast<int>(portion), nodes()), copy_);
    for (int distance = 1; distance < nodes(); ++distance)
      call_.unpack(area_.memory, around(call_.node() - distance, nodes()), copy_);
  }

  void await_own(std::size_t portion, const Task& task) {
    if (goes_around(plan_, call_.order))
      return carriers_.drive_until([&] { return told_ > portion || task.done(); });
    carriers_.drive_until([&] { return task.done(); });
    m_.publish(Channel::gather, step(portion, m_.rank()));
  }

  M& m_;
  SharedArea& area_;
  N carriers_;
  int count_;
  const Allgather<B>& call_;
  NodeRanks<M> node_;
  const plan::NetworkPlan& plan_;
  Step first_ = 0;
  std::size_t portions_ = 1, arrived_ = 0, told_ = 0;
  std::vector<std::size_t> needed_;
  struct Copy {
    M& m;
    void operator()(void* target, const void* source, std::size_t bytes) const {
      m.copy(target, source, bytes);
    }
  };
  Copy copy_{m_};
};

/// The area holds call.order.total() bytes at least.
template <Machine M, Network N, class B>
void allgather_shared(M& m, SharedArea& area, N carriers, int count, const Allgather<B>& call,
                      const Plan& node_plan, const plan::NetworkPlan& plan) {
  AllgatherShared<M, N, B>(m, area, carriers, count, call, node_plan, plan).run();
}

}  // namespace espalier::collective::multinode
