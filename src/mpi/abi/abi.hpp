// The ABI that this build is for: the host's header, handles wide enough for any host, and the capabilities.
//
// The same sources are compiled once for each ABI. The build names the header that describes it
// (ESPALIER_ABI, such as "mpi/abi/mpich.hpp"); no other file asks for an ABI by its name. Such a header
// states, as macros of 0 or 1 because whole functions depend on them,
//
//   ESPALIER_HAS_LARGE_COUNT      the library exports MPI's _c functions
//   ESPALIER_FORTRAN_CALLS_PMPI   the host's Fortran functions call PMPI, so that C entry points see nothing
//   ESPALIER_NOTES_LONG_MESSAGES  long messages under way are remembered (requests/long_messages.hpp)
//   ESPALIER_HYDRA_LAUNCHES       ranks may stay in their launcher's session (lifetime/launcher_session.cpp)
//   ESPALIER_ABI_HOST_CALLS(X)    functions that are asked of hosts of this ABI alone; they may lack them
//
// and, in namespace espalier::mpi::abi, the constants and small functions that mpich.hpp has.
//
// Nothing here may refer to a symbol of an MPI library: such a reference stops every program without MPI, or
// with an MPI loaded later, from starting. Functions are resolved by name (host.hpp).
#pragma once

#define MPICH_SKIP_MPICXX 1
#define OMPI_SKIP_MPICXX 1
#include <mpi.h>

#include <cstdint>
#include <type_traits>

namespace espalier::mpi {

/// The address of a symbol of the host MPI, or nullptr.
void* host_symbol(const char* symbol);

/// A handle as it arrives in a register: an int (MPICH) or a pointer. A call that is only forwarded, perhaps
/// to a host of another ABI than this build's, must not lose its upper half.
using Handle = std::uintptr_t;

template <class H>
H typed(Handle handle) {
  if constexpr (std::is_pointer_v<H>)
    return reinterpret_cast<H>(handle);
  else  // the upper half of the register is undefined
    return static_cast<H>(static_cast<std::uint32_t>(handle));
}

template <class H>
Handle wide(H handle) {
  if constexpr (std::is_pointer_v<H>)
    return reinterpret_cast<Handle>(handle);
  else
    return static_cast<std::uint32_t>(handle);
}

/// Two handles that name the same object compare equal in this form.
inline Handle normal(Handle handle) { return wide(typed<MPI_Comm>(handle)); }

}  // namespace espalier::mpi

#ifndef ESPALIER_ABI
#error "define ESPALIER_ABI, the header of the ABI that this build is for"
#endif
#include ESPALIER_ABI

namespace espalier::mpi::abi {

inline constexpr bool has_large_count = ESPALIER_HAS_LARGE_COUNT;

}  // namespace espalier::mpi::abi
