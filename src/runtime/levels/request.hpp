// What the ranks ask for when they make levels, and what each of them says of itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "runtime/failure/liveness.hpp"
#include "runtime/process/bootstrap.hpp"

namespace espalier::runtime {

/// Equal on all ranks.
struct LevelsRequest {
  std::size_t shared_bytes = 0;  ///< of a segment's common part; a multiple of 64
  std::size_t member_bytes = 0;  ///< of each member's part; a multiple of 64
  int root = 0;
  int degree = 0;
  int virtual_levels = 1;
  std::string tree;  ///< as tree::parse_groups() reads them; empty: the machine's groups
};

/// A request that cannot be met, on any rank; all ranks get it.
class LevelsArgument : public Error {
 public:
  using Error::Error;
};

/// Plain bytes: it crosses the bootstrap.
struct LevelsCard {
  std::uint64_t node, shared_bytes, member_bytes, tree;
  ProcessMark mark;
  std::int32_t node_rank, root, degree, virtual_levels, has_flaw, joined, declined, joining;
};

/// Collective. The cards of all ranks, once they have joined a node or never will. `flaw`: why this rank's
/// request is wrong, or empty. Throws LevelsArgument or Error, the same on all ranks.
std::vector<LevelsCard> agree_on_request(const Bootstrap& bootstrap, const LevelsRequest& request,
                                         const std::string& flaw);

}  // namespace espalier::runtime
