// How a GASPI program finds its ranks: by MPI, or by what `espalier run -n` has set.
#pragma once

#include "espalier/espalier.h"

namespace espalier::capi::gaspi {

/// Collective over all ranks of the job. Throws Failure.
espalier_comm* open_world(int timeout_ms);
/// Collective; after the communicators and windows have gone. Ends MPI if open_world() began it.
void close_world();

}  // namespace espalier::capi::gaspi
