// A request's call over nodes.
#pragma once

#include <memory>
#include <utility>

#include "runtime/across/channel.hpp"
#include "runtime/communicator/separate_call.hpp"

namespace espalier::runtime::across {

/// Keeps its channel, and with it what of the communicator it needs.
class CallAcross final : public SeparateCall {
 public:
  CallAcross(std::shared_ptr<Channel> channel, Wanted wanted) : channel_(std::move(channel)) {
    call_.wanted = std::move(wanted);
  }
  ~CallAcross() override { channel_->forget(call_); }

  bool active() const override { return call_.active; }
  void start() override { channel_->start(call_); }
  bool is_ready() override { return channel_->is_ready(call_); }
  void complete() override { channel_->complete(call_); }

 private:
  std::shared_ptr<Channel> channel_;
  Call call_;
};

}  // namespace espalier::runtime::across
