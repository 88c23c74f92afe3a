// A request's call over nodes.
#pragma once

#include <memory>
#include <utility>

#include "runtime/across/channel.hpp"
#include "runtime/communicator/separate_call.hpp"
#include "runtime/statistics/sites.hpp"

namespace espalier::runtime::across {

/// Keeps its channel, and with it what of the communicator it needs.
class CallAcross final : public SeparateCall {
 public:
  /// `row`, which this gives back: where its starts are counted; null: they are not.
  CallAcross(std::shared_ptr<Channel> channel, Wanted wanted, statistics::Row* row = nullptr)
      : channel_(std::move(channel)), call_(std::move(wanted)), row_(row), polls_(channel_->spin_limits()) {}
  ~CallAcross() override {
    channel_->forget(call_);
    if (row_) statistics::retire_row(row_);
  }

  bool active() const override { return call_.active; }
  void start() override {
    if (row_) statistics::count_untimed(*row_);
    polls_.begin_anew();
    channel_->start(call_);
  }
  bool is_ready() override {
    if (channel_->is_ready(call_)) return true;
    polls_.pass_poll();
    return false;
  }
  void complete() override { channel_->complete(call_); }

 private:
  std::shared_ptr<Channel> channel_;
  Call call_;
  statistics::Row* row_;
  network::Wait polls_;  // since the start
};

}  // namespace espalier::runtime::across
