// The ranks of a persistent collective.
#pragma once

#include "mpi/requests/persistent.hpp"

namespace espalier::mpi::persistent {

inline collective::RankInfo rank_info_of(const Entry& entry) {
  return {entry.communicator->rank(), entry.communicator->size()};
}

}  // namespace espalier::mpi::persistent
