// The job's processes exchange a few bytes through the host MPI.
#pragma once

#include <memory>

#include "network/out_of_band.hpp"

namespace espalier::mpi {

/// Over MPI_COMM_WORLD. Must be gone before MPI_Finalize.
std::unique_ptr<network::OutOfBand> open_out_of_band();

}  // namespace espalier::mpi
