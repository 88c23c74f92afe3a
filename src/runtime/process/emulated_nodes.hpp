// Nodes that are declared rather than found, so that tests span nodes on one machine.
#pragma once

#include <string_view>

namespace espalier::runtime {

/// The pretended node of a process of the job, from 0. ESPALIER_NODES: "4", the processes in four blocks as
/// equal as they can be; "4:cyclic", one after the other; "3+1+3", so many on each, again and again. An empty
/// text puts all on node 0. Throws Error for a text that says none of it.
int pretended_node(std::string_view text, int process, int processes);

}  // namespace espalier::runtime
