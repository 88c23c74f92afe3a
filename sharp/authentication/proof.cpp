#include "sharp/authentication/proof.hpp"

#include <sys/random.h>

#include <cerrno>
#include <vector>

#include "base/error.hpp"

namespace espalier::sharp {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

class Message {
 public:
  void add(std::span<const std::byte> bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  void add(std::uint64_t value) {
    for (int shift = 0; shift < 64; shift += 8) bytes_.push_back(static_cast<std::byte>(value >> shift));
  }
  /// With its length: no two lists of texts make the same message.
  void add(std::string_view text) {
    add(std::uint64_t{text.size()});
    add(bytes_of(text));
  }
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

Digest proof(std::string_view token, std::string_view whose, const Ends& ends) {
  Message message;
  message.add(whose);
  message.add(ends.asked);
  message.add(ends.asker);
  message.add(ends.job);
  message.add(std::uint64_t{ends.rank});
  message.add(ends.of_asker);
  message.add(ends.of_asked);
  return hmac_sha256(bytes_of(token), message.bytes());
}

}  // namespace

Nonce random_nonce() {
  Nonce nonce;
  // At most 256 bytes come at once or not at all.
  while (getrandom(nonce.data(), nonce.size(), 0) != static_cast<ssize_t>(nonce.size()))
    if (errno != EINTR) throw Error("the kernel gives no random numbers (getrandom)");
  return nonce;
}

Digest proof_of_asked(std::string_view token, const Ends& ends) {
  return proof(token, "espalier aggregation node", ends);
}

Digest proof_of_asker(std::string_view token, const Ends& ends) {
  return proof(token, "espalier peer of an aggregation node", ends);
}

}  // namespace espalier::sharp
