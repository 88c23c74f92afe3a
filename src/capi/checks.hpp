// The checks and conversions of arguments that the functions of the C API share.
#pragma once

#include <memory>

#include "base/format.hpp"
#include "capi/errors/error.hpp"
#include "capi/types.hpp"
#include "espalier/espalier.h"
#include "runtime/communicator/communicator.hpp"
#include "runtime/flight/recorder.hpp"

struct espalier_comm {
  std::unique_ptr<espalier::runtime::Communicator> communicator;
};

namespace espalier::capi {

using espalier::Collective;
using runtime::Communicator;
using runtime::flight::InCall;

/// By which the flight record knows it.
inline std::uint64_t number_of(const espalier_comm* comm) { return reinterpret_cast<std::uintptr_t>(comm); }

inline Communicator& checked(espalier_comm* comm, int root = 0) {
  if (!comm) throw CodedError(ESPALIER_ERR_ARGUMENT, "the communicator is NULL");
  if (root < 0 || root >= comm->communicator->size())
    throw CodedError(ESPALIER_ERR_ARGUMENT,
                     formatted("root {}: the ranks are 0 to {}", root, comm->communicator->size() - 1));
  return *comm->communicator;
}

inline void check_buffer(const void* buffer, std::size_t bytes, const char* name) {
  if (!buffer && bytes > 0)
    throw CodedError(ESPALIER_ERR_ARGUMENT, formatted("{} is NULL, yet it holds {} bytes", name, bytes));
}

// There is no host below the C API: a rule that says `host` cannot be followed.
inline void check_done(bool done) {
  if (!done)
    throw CodedError(ESPALIER_ERR_REFUSED,
                     "a rule leaves this call to a host MPI, and there is none; see ESPALIER_RULES");
}

inline const void* source_of(const void* send) {
  return send == ESPALIER_IN_PLACE ? Communicator::in_place : send;
}
inline void* target_of(void* receive) {
  return receive == ESPALIER_IN_PLACE ? const_cast<void*>(Communicator::in_place) : receive;
}

/// The caller's arrays of one entry a rank, as blocks of a buffer.
inline runtime::Blocks blocks_of(const Communicator& comm, const void* buffer, const std::size_t* bytes,
                                 const std::size_t* offsets, const char* name) {
  if (!bytes || !offsets)
    throw CodedError(ESPALIER_ERR_ARGUMENT,
                     formatted("{}: the arrays of bytes and offsets must not be NULL", name));
  const auto ranks = static_cast<std::size_t>(comm.size());
  const runtime::Blocks blocks{{bytes, ranks}, {offsets, ranks}};
  for (const std::size_t each : blocks.bytes) check_buffer(buffer, each, name);
  return blocks;
}

}  // namespace espalier::capi
