// How the ranks of MPI_COMM_WORLD meet in its first collective, where that is a blocking one.
#pragma once

#include <functional>

#include "mpi/host/host.hpp"
#include "runtime/process/bootstrap.hpp"

namespace espalier::mpi::communicators {

/// Another rank has begun a nonblocking collective there first, for which no rank may wait. It will not come.
struct BegunWithoutMeeting {};

/// As bootstrap(), of a meeting that may be in vain: while this rank waits for the others it asks now and then whether
/// another one `has_begun`, and throws BegunWithoutMeeting if so.
runtime::Bootstrap meeting_of_world(std::function<bool()> has_begun);

}  // namespace espalier::mpi::communicators
