// The greeting of a connection, as frames. The one that connects says hello with a random number; the
// aggregation node answers with a challenge, its own number and proof; then the other sends its proof, and is
// welcome. Neither end says or believes anything before the other has proved that it knows the token.
#pragma once

#include <optional>
#include <string>

#include "sharp/authentication/proof.hpp"
#include "sharp/frame.hpp"

namespace espalier::sharp {

/// The end that connects.
class Introduction {
 public:
  /// `name`: of an aggregation node; empty: a process, with its job and rank.
  Introduction(std::string token, std::string asked, std::string name, std::uint64_t job, std::uint32_t rank,
               const Nonce& nonce);

  Frame hello() const;
  /// The proof; nothing if `challenge` does not come from the aggregation node `asked` of this tree.
  std::optional<Frame> answer(const Frame& challenge) const;

 private:
  std::string token_, asked_, name_;
  std::uint64_t job_;
  std::uint32_t rank_;
  Nonce nonce_;
};

/// The end that was connected to.
class Examination {
 public:
  /// Of a hello. Throws ProtocolError for one that is none.
  Examination(const Frame& hello, const Nonce& nonce);

  Role role() const { return role_; }
  const std::string& name() const { return name_; }
  std::uint64_t job() const { return job_; }
  Frame challenge(const std::string& token, const std::string& asked) const;
  bool is_passed_by(const Frame& proof, const std::string& token, const std::string& asked) const;

 private:
  Ends ends(const std::string& asked) const;

  Role role_;
  std::string name_;
  std::uint64_t job_;
  std::uint32_t rank_;
  Nonce theirs_, ours_;
};

}  // namespace espalier::sharp
