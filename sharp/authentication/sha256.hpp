// SHA-256 (FIPS 180-4) and HMAC over it (RFC 2104), for proofs of a few hundred bytes a connection.
// Of the libraries that Espalier uses none has them, and the kernel's (AF_ALG) is not there in many containers;
// a library of cryptography inside every process of a program could meet another version of itself there.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace espalier::sharp {

using Digest = std::array<std::byte, 32>;

class Sha256 {
 public:
  void update(std::span<const std::byte> bytes);
  /// Of all that came. No update() after it.
  Digest finish();

 private:
  void take_block();

  std::array<std::uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::byte, 64> block_;
  std::size_t held_ = 0;     // of the block
  std::uint64_t bytes_ = 0;  // in all
};

Digest hmac_sha256(std::span<const std::byte> key, std::span<const std::byte> message);

/// Takes the same time wherever they differ, so that a proof cannot be guessed byte by byte.
bool is_equal(std::span<const std::byte, 32> a, std::span<const std::byte, 32> b);

}  // namespace espalier::sharp
