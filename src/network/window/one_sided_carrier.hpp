// Puts by the host's one-sided calls; atomic operations and the end of the window by messages.
#pragma once

#include <memory>

#include "network/window/carrier.hpp"
#include "network/window/message_carrier.hpp"
#include "network/window/one_sided.hpp"

namespace espalier::network {

/// Atomic operations go by messages, because a host's are atomic among themselves only, and not with those
/// that the ranks of the target's node do with their processor.
class OneSidedCarrier final : public Carrier {
 public:
  /// `messages`: of the same window.
  OneSidedCarrier(std::unique_ptr<OneSided> one_sided, std::unique_ptr<MessageCarrier> messages,
                  const WindowTeam& team)
      : one_sided_(std::move(one_sided)), messages_(std::move(messages)), team_(team) {}

  void put(int node, std::size_t offset, const void* source, std::size_t bytes, int id,
           std::uint32_t value) override {
    one_sided_->put(target(node), offset, source, bytes, id, value);
  }
  void get(int node, std::size_t offset, void* place, std::size_t bytes) override {
    one_sided_->get(target(node), offset, place, bytes);
  }
  void store(int node, std::size_t offset, std::uint64_t value) override {
    messages_->store(node, offset, value);
  }
  void fetch_add(int node, std::size_t offset, std::uint64_t value, std::uint64_t* old) override {
    messages_->fetch_add(node, offset, value, old);
  }
  void compare_swap(int node, std::size_t offset, std::uint64_t expected, std::uint64_t desired,
                    std::uint64_t* old) override {
    messages_->compare_swap(node, offset, expected, desired, old);
  }
  bool settled() override {
    one_sided_->complete();
    return messages_->settled();
  }
  bool drive() override {
    const bool any = one_sided_->drive();
    return messages_->drive() || any;
  }
  bool has_left() override {
    drive();
    return one_sided_->arrived() && messages_->has_left();
  }
  /// Said in at_rest(): a message could overtake what is still under way.
  void say_goodbye() override {}
  bool at_rest() override {
    drive();
    if (!said_goodbye_) {
      if (!one_sided_->arrived()) return false;
      messages_->say_goodbye();
      said_goodbye_ = true;
    }
    return messages_->at_rest() && one_sided_->close();
  }

 private:
  int target(int node) const {
    return team_.ranks[static_cast<std::size_t>(node)][static_cast<std::size_t>(team_.aim(node))];
  }

  std::unique_ptr<OneSided> one_sided_;
  std::unique_ptr<MessageCarrier> messages_;
  const WindowTeam& team_;
  bool said_goodbye_ = false;
};

}  // namespace espalier::network
