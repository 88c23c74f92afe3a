#include "sharp/introduction.hpp"

#include <algorithm>
#include <utility>

namespace espalier::sharp {
namespace {

constexpr std::size_t length = std::tuple_size_v<Digest>;

Digest digest_at(const Frame& frame, std::size_t place) {
  Digest digest;
  std::copy_n(frame.payload.begin() + static_cast<std::ptrdiff_t>(place), length, digest.begin());
  return digest;
}

void add(Frame& frame, const Digest& digest) {
  frame.payload.insert(frame.payload.end(), digest.begin(), digest.end());
}

}  // namespace

Introduction::Introduction(std::string token, std::string asked, std::string name, std::uint64_t job,
                           std::uint32_t rank, const Nonce& nonce)
    : token_(std::move(token)),
      asked_(std::move(asked)),
      name_(std::move(name)),
      job_(job),
      rank_(rank),
      nonce_(nonce) {}

Frame Introduction::hello() const {
  Frame frame;
  frame.kind = Kind::hello;
  frame.role = name_.empty() ? Role::process : Role::node;
  frame.job = job_;
  frame.rank = rank_;
  add(frame, nonce_);
  const std::span name = std::as_bytes(std::span(name_));
  frame.payload.insert(frame.payload.end(), name.begin(), name.end());
  return frame;
}

std::optional<Frame> Introduction::answer(const Frame& challenge) const {
  if (challenge.kind != Kind::challenge || challenge.payload.size() != 2 * length) return std::nullopt;
  const Ends ends = {asked_, name_, job_, rank_, nonce_, digest_at(challenge, 0)};
  if (!is_equal(digest_at(challenge, length), proof_of_asked(token_, ends))) return std::nullopt;
  Frame frame;
  frame.kind = Kind::proof;
  add(frame, proof_of_asker(token_, ends));
  return frame;
}

Examination::Examination(const Frame& hello, const Nonce& nonce)
    : role_(hello.role), job_(hello.job), rank_(hello.rank), ours_(nonce) {
  if (hello.kind != Kind::hello) throw ProtocolError("the first frame must be a hello");
  const bool has_name = hello.payload.size() > length;
  if (hello.payload.size() < length || has_name != (role_ == Role::node))
    throw ProtocolError("a hello of a wrong length");
  theirs_ = digest_at(hello, 0);
  name_ = hello.text().substr(length);
}

Ends Examination::ends(const std::string& asked) const { return {asked, name_, job_, rank_, theirs_, ours_}; }

Frame Examination::challenge(const std::string& token, const std::string& asked) const {
  Frame frame;
  frame.kind = Kind::challenge;
  add(frame, ours_);
  add(frame, proof_of_asked(token, ends(asked)));
  return frame;
}

bool Examination::is_passed_by(const Frame& proof, const std::string& token, const std::string& asked) const {
  return proof.kind == Kind::proof && proof.payload.size() == length &&
         is_equal(digest_at(proof, 0), proof_of_asker(token, ends(asked)));
}

}  // namespace espalier::sharp
