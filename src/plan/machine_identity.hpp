#pragma once

#include <string>

namespace espalier::plan {

/// One line that tells kinds of machines apart: the processor's model, the CPUs, the NUMA nodes, the package and
/// the last cache of the first CPU, and a topology that is set in place of the real one (`setting`, or hwloc's own
/// variables). Reads a few small files and loads no library, so that every rank may ask for it. Machines of one
/// kind have one line; the same machine after a restart has the same.
std::string machine_identity(const std::string& setting);

}  // namespace espalier::plan
