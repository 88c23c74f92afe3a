// What stands behind a request that the schedules of a node alone do not serve.
#pragma once

namespace espalier::runtime {

/// One collective that is started and completed, once or again and again. Used by one thread at a time.
class SeparateCall {
 public:
  SeparateCall() = default;
  virtual ~SeparateCall() = default;
  SeparateCall(const SeparateCall&) = delete;
  SeparateCall& operator=(const SeparateCall&) = delete;

  virtual bool active() const = 0;
  /// Local: waits for no rank.
  virtual void start() = 0;
  /// Whether complete() would return or throw at once. Drives what must go on.
  virtual bool is_ready() = 0;
  virtual void complete() = 0;
};

}  // namespace espalier::runtime
