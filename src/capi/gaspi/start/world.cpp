// The ranks of the job: by the environment of `espalier run -n`, else by MPI.
#include "capi/gaspi/start/world.hpp"

#include <cstdlib>
#include <string>

#include "capi/gaspi/errors/failure.hpp"
#include "capi/gaspi/start/mpi_library.hpp"

namespace espalier::capi::gaspi {
namespace {

bool over_mpi = false;

// What is no number is -1, which espalier_comm_meet refuses.
int number_in(const char* name) {
  const char* text = std::getenv(name);
  char* end = nullptr;
  const long value = text ? std::strtol(text, &end, 10) : -1;
  return text && *text && !*end && value >= 0 && value <= 1 << 20 ? static_cast<int>(value) : -1;
}

espalier_comm* meet(const char* job, int timeout_ms) {
  espalier_comm* comm = nullptr;
  check(espalier_comm_meet(job, number_in("ESPALIER_RUN_RANK"), number_in("ESPALIER_RUN_RANKS"), timeout_ms,
                           &comm),
        GASPI_ERR_ENV);
  return comm;
}

espalier_comm* world_of_mpi() {
  begin_mpi();
  over_mpi = true;
  espalier_comm* comm = nullptr;
  if (espalier_comm_world(&comm) != ESPALIER_OK)
    throw Failure(GASPI_ERR_ENV, std::string(espalier_error_text()) +
                                     "; start it so: espalier run -- mpirun -n 4 ./program");
  return comm;
}

}  // namespace

espalier_comm* open_world(int timeout_ms) {
  if (const char* job = std::getenv("ESPALIER_RUN_JOB")) return meet(job, timeout_ms);
  if (mpi_is_there()) return world_of_mpi();
  throw Failure(
      GASPI_ERR_ENV,
      "no launcher has started this program: espalier run -n 4 ./program (one machine, without MPI), or "
      "espalier run -- mpirun -n 4 ./program");
}

void close_world() {
  if (over_mpi) end_mpi();
  over_mpi = false;
}

}  // namespace espalier::capi::gaspi
