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
  /// `token`: what most of them show. `pretends_nodes`: some say that they are aggregation nodes, which the
  /// real ones, being replaced, do not survive.
  MadeUp(std::uint64_t seed, std::string token, bool pretends_nodes)
      : engine_(seed), token_(std::move(token)), pretends_nodes_(pretends_nodes) {}

  using Bytes = std::vector<std::byte>;
  /// What so many connections say, one stream each.
  std::vector<Bytes> streams(std::size_t connections);
  /// Input of aggregation_fuzz.cpp: who says a piece, its length, the piece, and so on.
  std::vector<std::uint8_t> input();
  std::uint64_t below(std::uint64_t n) { return engine_() % n; }

 private:
  Frame hello();
  Frame any_frame();
  void play_along(std::vector<Bytes>& streams);
  void damage(Bytes& stream);

  std::mt19937_64 engine_;
  std::string token_;
  bool pretends_nodes_;
};

}  // namespace espalier::sharp
