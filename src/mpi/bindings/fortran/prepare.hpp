// How Fortran's calls make the request of a persistent or nonblocking collective. Under hosts whose Fortran
// functions call those of C, only the functions of `use mpi_f08` without a buffer come here: MPI_Barrier_init,
// MPI_Ibarrier.
#pragma once

#include "mpi/bindings/fortran/fortran.hpp"
#include "mpi/requests/nonblocking.hpp"
#include "mpi/requests/persistent.hpp"

namespace espalier::mpi::fortran {

/// `make(made, host_makes)` makes a request of C, or lets the host make one of Fortran: `hand_on()`.
template <class Make, class HandOn>
void make_request(Int* request, Int* error, Make make, HandOn hand_on) {
  MPI_Request made{};
  bool is_ours = true;
  const auto host_makes = [&] {
    is_ours = false;
    return hand_on();
  };
  const int code = make(&made, host_makes);
  if (is_ours && code == MPI_SUCCESS) *request = abi::fortran_request(host, made);
  set(error, code);
}

/// As nonblocking::begin().
template <class AnyCall, class HandOn>
void begin(const nonblocking::Ways<AnyCall>& ways, const AnyCall& call, Int* request, Int* error,
           void* caller, HandOn hand_on) {
  make_request(
      request, error,
      [&](MPI_Request* made, auto host_makes) {
        return nonblocking::begin(ways, call, made, caller, host_makes);
      },
      hand_on);
}

#if !ESPALIER_FORTRAN_CALLS_PMPI
/// As persistent::init().
template <class AnyCall, class HandOn>
void prepare(void (*make)(const AnyCall&, Entry&, persistent::Draft&), Collective collective,
             const AnyCall& call, Int* request, Int* error, void* caller, HandOn hand_on) {
  make_request(
      request, error,
      [&](MPI_Request* made, auto host_makes) {
        return persistent::init(make, collective, call, made, caller, host_makes);
      },
      hand_on);
}
#endif

}  // namespace espalier::mpi::fortran
