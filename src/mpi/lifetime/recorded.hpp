// The program's communicators in the flight record (runtime/flight/record.hpp).
#pragma once

#include <optional>
#include <vector>

#include "memory/share_directory.hpp"
#include "mpi/abi/abi.hpp"

namespace espalier::mpi::communicators {

/// `identity`: of a communicator with a name. `processes`: as processes_of() has them.
void record(MPI_Comm comm, const memory::Identity& identity,
            const std::optional<std::vector<int>>& processes);
/// MPI_COMM_WORLD, before the first collective.
void record_world();
void forget_recorded(MPI_Comm comm);

}  // namespace espalier::mpi::communicators
