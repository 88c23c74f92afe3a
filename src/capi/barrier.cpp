// The barrier of the C API.
#include "capi/checks.hpp"

using namespace espalier::capi;

extern "C" {

int espalier_barrier(espalier_comm* comm) {
  const InCall in_call(Collective::barrier, number_of(comm), 0, __builtin_return_address(0));
  return guarded([&] { check_done(checked(comm).barrier()); });
}

}  // extern "C"
