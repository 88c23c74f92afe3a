// How a rank that has nothing to do waits for the network.
#pragma once

namespace espalier::network {

struct Patience {
  int spins = 0;   ///< looks before it makes room for others
  int yields = 0;  ///< then so many looks with a yield between them, then naps
};

/// One wait, from its first look in vain.
class Wait {
 public:
  explicit Wait(const Patience& patience) : patience_(patience) {}
  /// After a look in vain: nothing, a yield or a nap.
  void pass();
  /// Something was there: the next look in vain is the first again.
  void begin_anew() { looks_ = 0; }
  /// The rank has so little to hope for that it naps.
  bool naps() const { return looks_ > patience_.spins + patience_.yields; }

 private:
  Patience patience_;
  int looks_ = 0;
};

}  // namespace espalier::network
