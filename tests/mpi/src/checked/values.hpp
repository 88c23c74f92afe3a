// What every rank's buffer holds, as a function of (seed, rank, element): each rank can compute every other
// rank's data and so the right result, without communication.
#pragma once

#include <cstdint>

namespace checked {

// The finalizer of splitmix64 over a combination that keeps ranks and seeds apart.
inline std::uint64_t random_bits(std::uint64_t seed, std::uint64_t rank, std::uint64_t element) {
  std::uint64_t z = seed * 0x9e3779b97f4a7c15u + rank * 0xd1342543de82ef95u + element * 0xda942042e4dd58b5u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

inline std::uint32_t word(std::uint64_t seed, int rank, long element) {
  return static_cast<std::uint32_t>(
      random_bits(seed, static_cast<std::uint64_t>(rank), static_cast<std::uint64_t>(element)));
}

// A whole number so small that sums of thousands are exact in any order, also in float.
template <class T>
T small_number(std::uint64_t seed, int rank, long element) {
  return static_cast<T>(static_cast<int>(word(seed, rank, element) % 201) - 100);
}

// A sequence that is the same on all ranks: what to call next, on which communicator, from which root.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : seed_(seed) {}
  int roll(int sides) {
    return static_cast<int>(random_bits(seed_, 0xd1ce, ++rolled_) % static_cast<unsigned>(sides));
  }

 private:
  std::uint64_t seed_;
  std::uint64_t rolled_ = 0;
};

}  // namespace checked
