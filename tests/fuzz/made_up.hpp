// Frames that are nearly right, in pieces, some of them damaged: the same seed, the same frames.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "sharp/frame.hpp"

namespace espalier::sharp {

class MadeUp {
 public:
  /// `token`: what most of them know, over random numbers that are all zero; empty: they do not introduce
  /// themselves. Some say that they are aggregation nodes.
  MadeUp(std::uint64_t seed, std::string token) : engine_(seed), token_(std::move(token)) {}

  using Bytes = std::vector<std::byte>;
  /// What so many connections say, one stream each.
  std::vector<Bytes> streams(std::size_t connections);
  /// Input of aggregation_fuzz.cpp: who says a piece, its length, the piece, and so on.
  std::vector<std::uint8_t> input();
  std::uint64_t below(std::uint64_t n) { return engine_() % n; }

 private:
  void introduce(Bytes& stream);
  Frame any_frame();
  void play_along(std::vector<Bytes>& streams);
  void damage(Bytes& stream);

  std::mt19937_64 engine_;
  std::string token_;
  std::string asked_ = "a0";
};

}  // namespace espalier::sharp
