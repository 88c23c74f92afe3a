// The barrier of the C API.
#include "capi/checks.hpp"

using namespace espalier::capi;

extern "C" {

int espalier_barrier(espalier_comm* comm) {
  return guarded([&] { check_done(checked(comm).barrier()); });
}

}  // extern "C"
