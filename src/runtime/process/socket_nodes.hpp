// Sockets in the place of nodes, for aggregation nodes that are to hear from each socket's leader.
#pragma once

namespace espalier::runtime {

/// The number of the package that holds all of this process's affinity mask, from 1; 0 where none does, or
/// where ESPALIER_SHARP_LEADERS does not ask for it.
int leading_socket();

}  // namespace espalier::runtime
