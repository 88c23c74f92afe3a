// How ranks that prepare a persistent collective meet in the lines of their communicator's nonblocking calls, to
// which a rank may come, say that its arguments are wrong, and go.
#pragma once

#include "runtime/communicator/nonblocking.hpp"
#include "runtime/node/persistent/parts.hpp"

namespace espalier::runtime {

/// Waits until all ranks have told their parts, `rank` its own one, for which `all` has room. False, on all ranks alike: there is no memory for lines.
bool meet_in_lines(Nonblocking& lines, int rank, const Part& mine, Parts& all);

/// -1: none did.
int find_rank_that_left(const Parts& all);

}  // namespace espalier::runtime
