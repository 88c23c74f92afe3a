// Interruptions of a core by the operating system: moments of a Poisson process, of one length.
#pragma once

#include <cmath>
#include <cstdint>

#include "simulation/model/model.hpp"

namespace espalier::simulation {

/// Random numbers in eight bytes (G. Steele, D. Lea, C. Flood, "Fast Splittable Pseudorandom Number
/// Generators", 2014: SplitMix64), since a million ranks have one each.
class SmallRandom {
 public:
  explicit SmallRandom(std::uint64_t seed = 0) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  /// In (0, 1].
  double fraction() { return static_cast<double>((next() >> 11) + 1) * 0x1p-53; }

 private:
  std::uint64_t state_;
};

/// One rank's core.
class Noise {
 public:
  void start(const NoiseModel& model, SmallRandom& random) {
    next_ = model.rate_hz > 0 ? gap(model, random) : never;
  }

  /// When work of `duration` that begins at `begin` ends. What fell into the time before, in which the rank
  /// waited, has cost nothing but what of it is left.
  double end_of(double begin, double duration, const NoiseModel& model, SmallRandom& random) {
    double end = begin + duration;
    while (next_ < end) {
      if (next_ + model.duration_ns > begin) end += model.duration_ns - std::max(0.0, begin - next_);
      next_ += model.duration_ns + gap(model, random);
    }
    return end;
  }

 private:
  static constexpr double never = 1e300;
  static double gap(const NoiseModel& model, SmallRandom& random) {
    return -std::log(random.fraction()) * 1e9 / model.rate_hz;
  }
  double next_ = never;
};

}  // namespace espalier::simulation
