#include "sharp/authentication/sha256.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "base/format.hpp"

namespace espalier::sharp {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

std::string hex(const Digest& digest) {
  std::string text;
  for (const std::byte each : digest) text += formatted("{:02x}", std::to_integer<unsigned>(each));
  return text;
}

std::string sha256(std::string_view text) {
  Sha256 sum;
  sum.update(bytes_of(text));
  return hex(sum.finish());
}

// The examples that NIST gives with FIPS 180-4.
TEST(Sha256, of_the_standards_examples) {
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, in_pieces_is_the_same) {
  for (const std::size_t length : {1, 55, 56, 57, 63, 64, 65, 119, 120, 128, 200}) {
    const std::string text(length, 'x');
    for (std::size_t cut = 0; cut <= length; ++cut) {
      Sha256 sum;
      sum.update(bytes_of(text).first(cut));
      sum.update(bytes_of(text).subspan(cut));
      ASSERT_EQ(hex(sum.finish()), sha256(text)) << length << " cut at " << cut;
    }
  }
}

// RFC 4231, test cases 1, 2 and 6.
TEST(Hmac, of_the_rfcs_examples) {
  const auto hmac = [](std::string_view key, std::string_view text) {
    return hex(hmac_sha256(bytes_of(key), bytes_of(text)));
  };
  EXPECT_EQ(hmac(std::string(20, '\x0b'), "Hi There"),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(hmac("Jefe", "what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(hmac(std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First"),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST(Digests, are_equal_byte_for_byte) {
  Digest a{}, b{};
  EXPECT_TRUE(is_equal(a, b));
  for (std::byte& each : b) {
    each = std::byte{0x10};
    EXPECT_FALSE(is_equal(a, b));
    each = std::byte{};
  }
}

}  // namespace
}  // namespace espalier::sharp
