// Which groups the ranks of a communicator form, and who speaks for a node.
#pragma once

#include <vector>

#include "collective/multinode/stage/placement.hpp"
#include "runtime/levels/request.hpp"
#include "runtime/process/bootstrap.hpp"
#include "topology/group.hpp"
#include "tree/levels.hpp"

namespace espalier::runtime {

/// Collective where there are several nodes: those of the request's text, or the machine's, node by node, with
/// one around them all; and the request's virtual levels.
topology::Group groups_for(const Bootstrap& bootstrap, const LevelsRequest& request,
                           const std::vector<LevelsCard>& cards,
                           const collective::multinode::Placement& placement);

/// All ranks, those first that are members of a group over nodes: one a node at most, so that it is the one
/// that messages to its node are aimed at (network/window/team.hpp). Throws LevelsArgument where a node has
/// two.
std::vector<int> speakers_first(const std::vector<tree::LevelGroup>& groups, const std::vector<int>& node_of);

/// The same ranks in another order: rank i there is order[i] here.
Bootstrap reordered(const Bootstrap& bootstrap, std::vector<int> order);

}  // namespace espalier::runtime
