#include "sharp/authentication/sha256.hpp"

#include <algorithm>
#include <bit>

namespace espalier::sharp {
namespace {

// FIPS 180-4, 4.2.2: the first 32 bits of the fractional parts of the cube roots of the first 64 primes.
constexpr std::array<std::uint32_t, 64> constants = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

using Schedule = std::array<std::uint32_t, 64>;

Schedule schedule_of(const std::array<std::byte, 64>& block) {
  Schedule words{};
  for (std::size_t i = 0; i < 64; ++i)
    words[i / 4] = words[i / 4] << 8 | std::to_integer<std::uint32_t>(block[i]);
  for (std::size_t i = 16; i < 64; ++i) {
    const std::uint32_t a = words[i - 15], b = words[i - 2];
    words[i] = words[i - 16] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ a >> 3) + words[i - 7] +
               (std::rotr(b, 17) ^ std::rotr(b, 19) ^ b >> 10);
  }
  return words;
}

}  // namespace

/// FIPS 180-4, 6.2.2.
void Sha256::take_block() {
  const Schedule words = schedule_of(block_);
  auto [a, b, c, d, e, f, g, h] = state_;
  for (std::size_t i = 0; i < 64; ++i) {
    const std::uint32_t first = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                                ((e & f) ^ (~e & g)) + constants[i] + words[i];
    const std::uint32_t second =
        (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + first, d = c, c = b, b = a, a = first + second;
  }
  const std::array<std::uint32_t, 8> more = {a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < 8; ++i) state_[i] += more[i];
  held_ = 0;
}

void Sha256::update(std::span<const std::byte> bytes) {
  bytes_ += bytes.size();
  while (!bytes.empty()) {
    const std::size_t length = std::min(bytes.size(), block_.size() - held_);
    std::copy_n(bytes.begin(), length, block_.begin() + static_cast<std::ptrdiff_t>(held_));
    bytes = bytes.subspan(length);
    if ((held_ += length) == block_.size()) take_block();
  }
}

Digest Sha256::finish() {
  const std::uint64_t bits = bytes_ * 8;
  block_[held_++] = std::byte{0x80};
  if (held_ > 56) {  // no room for the length, which ends the last block
    std::fill(block_.begin() + static_cast<std::ptrdiff_t>(held_), block_.end(), std::byte{});
    take_block();
  }
  std::fill(block_.begin() + static_cast<std::ptrdiff_t>(held_), block_.begin() + 56, std::byte{});
  for (std::size_t i = 0; i < 8; ++i) block_[56 + i] = static_cast<std::byte>(bits >> (56 - 8 * i));
  take_block();
  Digest digest;
  for (std::size_t i = 0; i < digest.size(); ++i)
    digest[i] = static_cast<std::byte>(state_[i / 4] >> (24 - 8 * (i % 4)));
  return digest;
}

Digest hmac_sha256(std::span<const std::byte> key, std::span<const std::byte> message) {
  std::array<std::byte, 64> pad{};
  if (key.size() > pad.size()) {
    Sha256 shorter;
    shorter.update(key);
    const Digest digest = shorter.finish();
    std::copy(digest.begin(), digest.end(), pad.begin());
  } else {
    std::copy(key.begin(), key.end(), pad.begin());
  }
  for (std::byte& each : pad) each ^= std::byte{0x36};
  Sha256 inner, outer;
  inner.update(pad);
  inner.update(message);
  for (std::byte& each : pad) each ^= std::byte{0x36 ^ 0x5c};
  outer.update(pad);
  outer.update(inner.finish());
  return outer.finish();
}

bool is_equal(std::span<const std::byte, 32> a, std::span<const std::byte, 32> b) {
  std::byte differs{};
  for (std::size_t i = 0; i < a.size(); ++i) differs |= a[i] ^ b[i];
  return differs == std::byte{};
}

}  // namespace espalier::sharp
