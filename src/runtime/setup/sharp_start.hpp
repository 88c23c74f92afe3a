// How a job comes to its aggregation nodes.
#pragma once

#include <memory>

#include "network/out_of_band.hpp"
#include "runtime/process/bootstrap.hpp"

namespace espalier::runtime {

/// Collective over all processes of the job, after Process::join. Where all of them want it (ESPALIER_SHARP)
/// and the job has several nodes, loads the library and joins its job. The outcome, agreed by all, is
/// Process::sharp(), or why there is none is Process::no_sharp(). `processes`: of the job, for the library to
/// use as long as it likes.
void start_sharp(const Bootstrap& world, std::unique_ptr<network::OutOfBand> processes);

}  // namespace espalier::runtime
