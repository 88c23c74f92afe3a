// The host's header, made fit for a preloaded library, and handles wide enough for any host.
//
// The same sources are compiled once for each ABI (MPICH classic, Open MPI, the standard ABI). Nothing here
// may refer to a symbol of an MPI library: such a reference stops every program without MPI, or with an MPI
// loaded later, from starting. Functions are resolved by name (host.hpp); Open MPI's predefined handles are
// addresses of data symbols, so its macros for them are bent to look the symbol up.
#pragma once

#define MPICH_SKIP_MPICXX 1
#define OMPI_SKIP_MPICXX 1
#include <mpi.h>

#include <cstdint>
#include <type_traits>

#if !defined(ESPALIER_ABI_MPICH) && !defined(ESPALIER_ABI_OMPI) && !defined(ESPALIER_ABI_STANDARD)
#error "define the ABI that this build is for"
#endif

namespace espalier::mpi {

/// The address of a data symbol of the host MPI, or nullptr.
void* host_data(const char* symbol);

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

#ifdef ESPALIER_ABI_OMPI
#undef OMPI_PREDEFINED_GLOBAL
#define OMPI_PREDEFINED_GLOBAL(type, global) (static_cast<type>(::espalier::mpi::host_data(#global)))
#endif
