// How both ends of a connection show that they know the tree's token, without sending it: each proves it over
// two random numbers, one of each end, so that what is heard on one connection is of no use on another.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "sharp/authentication/sha256.hpp"

namespace espalier::sharp {

using Nonce = Digest;  // 32 random bytes
using Nonces = std::function<Nonce()>;
/// From the kernel. Throws Error where it gives none.
Nonce random_nonce();

/// What the two ends of a connection are agreed to be; part of both proofs.
struct Ends {
  std::string_view
      asked;  ///< the aggregation node that was connected to: so none can pass on the proof of another
  std::string_view asker;  ///< the aggregation node that connected; empty: a process
  std::uint64_t job = 0;   ///< of a process
  std::uint32_t rank = 0;  ///< of a process in its job
  Nonce of_asker{}, of_asked{};
};

/// The one that is asked proves first. The two differ for the same ends, so neither can be sent back.
Digest proof_of_asked(std::string_view token, const Ends& ends);
Digest proof_of_asker(std::string_view token, const Ends& ends);

}  // namespace espalier::sharp
