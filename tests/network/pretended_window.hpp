// Windows of made-up nodes in one process, on a hostile network: puts arrive late and in any order, their
// data are read from the source at the last moment, and only a rank that looks makes anything happen.
#pragma once

#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "network/window/concept.hpp"

namespace espalier::testing {

/// The segments and notifications of all nodes.
class PretendedWindows {
 public:
  PretendedWindows(int nodes, std::size_t bytes, int ids, std::uint64_t seed)
      : bytes_(bytes), ids_(ids), random_(seed) {
    for (int node = 0; node < nodes; ++node) {
      segments_.emplace_back(new std::byte[bytes]());
      notifications_.emplace_back(static_cast<std::size_t>(ids));
    }
  }

  /// One rank's view of them.
  class Window {
   public:
    Window(PretendedWindows& all, int node) : all_(&all), node_(node) {}

    int nodes() const { return static_cast<int>(all_->segments_.size()); }
    int node() const { return node_; }
    std::size_t bytes() const { return all_->bytes_; }
    int ids() const { return all_->ids_; }
    std::byte* local() { return all_->segments_[static_cast<std::size_t>(node_)].get(); }

    void put_notify(int node, std::size_t offset, const void* source, std::size_t bytes, int id,
                    std::uint32_t value) {
      mine_.fetch_add(1, std::memory_order_relaxed);
      const std::lock_guard lock(all_->mutex_);
      all_->under_way_.push_back({node, offset, source, bytes, id, value, &mine_});
    }
    // Acquire: pairs with the release in deliver(): what the network read of the source was read before.
    void flush() {
      while (mine_.load(std::memory_order_acquire) > 0) all_->deliver_some();
    }
    bool claim(std::size_t offset, std::uint32_t value) {
      return std::atomic_ref(*reinterpret_cast<std::uint32_t*>(local() + offset)).exchange(value) != value;
    }
    std::uint32_t test(int id) {
      all_->deliver_some();
      return at(id).load(std::memory_order_acquire);
    }
    std::uint32_t peek(int id) { return at(id).load(std::memory_order_acquire); }
    template <class Done>
    void drive_until(Done done) {
      while (!done()) {
        all_->deliver_some();
        std::this_thread::yield();
      }
    }
    std::uint32_t reset(int id) { return at(id).exchange(0, std::memory_order_acq_rel); }
    int wait_some(int first, int count) {
      for (;;) {
        for (int id = first; id < first + count; ++id)
          if (test(id) != 0) return id;
        std::this_thread::yield();
      }
    }

   private:
    std::atomic<std::uint32_t>& at(int id) {
      return all_->notifications_[static_cast<std::size_t>(node_)][static_cast<std::size_t>(id)];
    }
    PretendedWindows* all_;
    int node_;
    std::atomic<int> mine_{0};  // puts of this rank under way
  };

  bool is_quiet() {
    const std::lock_guard lock(mutex_);
    return under_way_.empty();
  }

 private:
  struct Put {
    int node;
    std::size_t offset;
    const void* source;
    std::size_t bytes;
    int id;
    std::uint32_t value;
    std::atomic<int>* of_sender;
  };

  void deliver_some() {
    const std::lock_guard lock(mutex_);
    while (!under_way_.empty() && random_() % 3 != 0) {
      const std::size_t which = random_() % under_way_.size();
      deliver(under_way_[which]);
      under_way_[which] = under_way_.back();
      under_way_.pop_back();
    }
  }
  void deliver(const Put& put) {
    const auto node = static_cast<std::size_t>(put.node);
    if (put.bytes > 0) std::memcpy(segments_[node].get() + put.offset, put.source, put.bytes);
    // Release: the data come before the notification.
    notifications_[node][static_cast<std::size_t>(put.id)].store(put.value, std::memory_order_release);
    put.of_sender->fetch_sub(1, std::memory_order_release);
  }

  std::size_t bytes_;
  int ids_;
  std::mutex mutex_;
  std::mt19937_64 random_;
  std::vector<Put> under_way_;
  std::vector<std::unique_ptr<std::byte[]>> segments_;
  std::vector<std::vector<std::atomic<std::uint32_t>>> notifications_;
};

static_assert(network::Window<PretendedWindows::Window>);

}  // namespace espalier::testing
