// How Fortran's init calls make a persistent collective. Under hosts whose Fortran functions call those of C,
// only the functions of `use mpi_f08` without a buffer come here: MPI_Barrier_init.
#pragma once

#include "mpi/bindings/fortran/fortran.hpp"
#include "mpi/requests/persistent.hpp"

#if !ESPALIER_FORTRAN_CALLS_PMPI
namespace espalier::mpi::fortran {

/// As persistent::init(); `hand_on()` lets the host make the request.
template <class AnyCall, class HandOn>
void prepare(void (*make)(const AnyCall&, Entry&, persistent::Draft&), Collective collective,
             const AnyCall& call, Int* request, Int* error, void* caller, HandOn hand_on) {
  MPI_Request made{};
  bool is_ours = true;
  const auto host_makes = [&] {
    is_ours = false;
    return hand_on();
  };
  const int code = persistent::init(make, collective, call, &made, caller, host_makes);
  if (is_ours && code == MPI_SUCCESS) *request = abi::fortran_request(host, made);
  set(error, code);
}

}  // namespace espalier::mpi::fortran
#endif
