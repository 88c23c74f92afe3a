// How a rank that has nothing to do waits for the network.
#pragma once

#include <atomic>
#include <chrono>

namespace espalier::network {

struct SpinLimits {
  int spins = 0;                      ///< looks before it makes room for others
  int yields = 0;                     ///< then at least so many looks with a yield between them,
  std::chrono::microseconds least{};  ///< and for at least this time; then timed sleeps
  /// While `*needs` is not 0, other ranks may need the host's progress here at any time. Then the rank yields
  /// and does not sleep. Null: as 0.
  const std::atomic<int>* needs = nullptr;
};

/// For messages between nodes. A network takes microseconds at least, so there is no hurry to look. Where
/// ranks are `oversubscribed` another rank may have to send first, so the rank yields early. A timed sleep
/// ends some 100 µs late. So the rank takes none while a message of an ordinary network may be on its way:
/// for several round trips, however short a look is.
inline SpinLimits between_nodes(bool oversubscribed) {
  constexpr std::chrono::milliseconds round_trips{4};
  return oversubscribed ? SpinLimits{2, 1000, round_trips} : SpinLimits{100, 2000, round_trips};
}

/// One wait, from its first look in vain.
class Wait {
 public:
  explicit Wait(const SpinLimits& spin_limits) : spin_limits_(spin_limits) {}
  /// After a look in vain: nothing, a yield or a timed sleep.
  void pass();
  /// The same; sleep(limit) sleeps, and may end sooner.
  template <class Sleep>
  void pass(const Sleep& sleep) {
    if (const std::chrono::microseconds limit = pass_awake(); limit.count() > 0) sleep(limit);
  }
  /// After a look in vain of a program that polls: it is not put to sleep. It yields where a wait would yield or sleep,
  /// else the rank that it polls for may have to wait for this one's whole time slice.
  void pass_poll();
  /// Something was there: the next look in vain is the first again.
  void begin_anew() { looks_ = sleeps_ = 0; }
  /// Whether the wait has come to timed sleeps.
  bool timed_sleeps() const { return sleeps_ > 0; }

 private:
  using Clock = std::chrono::steady_clock;
  std::chrono::microseconds pass_awake();  // or how long to sleep; 0: not at all
  bool is_patient();                       // whether to yield, not to sleep

  SpinLimits spin_limits_;
  int looks_ = 0, sleeps_ = 0;
  Clock::time_point first_yield_;
};

}  // namespace espalier::network
