// With more ranks than cores, the ranks of a node stay in the session of MPICH's launcher (docs/waiting.md).
//
// hydra_pmi_proxy gives each rank a session of its own, and with it a scheduling group of its own
// (autogroup): a yield between two of them does not hand the core on. Here a rank gets only a process group
// of its own, which is what the proxy sends its signals to, and what Intel MPI's proxy gives. With a core for
// each rank sessions of their own are better: beside a stranger's program each rank then has half of its
// core, not its share of a half. How many ranks a node has the proxy tells its child just before it becomes
// the program.
//
// In any other process both functions do what the C library's do.
#include "mpi/abi/abi.hpp"

#if ESPALIER_HYDRA_LAUNCHES
#include <errno.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "base/config.hpp"
#include "topology/cpu_set.hpp"

namespace espalier::mpi {
namespace {

// CPUs of the launcher before it fixes its child to some of them. 0: this process keeps the session it was
// given.
int shared_cpus = 0;

pid_t own_session() { return static_cast<pid_t>(syscall(SYS_setsid)); }

bool is_wanted() {
  const Config& config = Config::instance();
  return !std::strcmp(program_invocation_short_name, "hydra_pmi_proxy") && config.flag("ESPALIER") &&
         config.flag("ESPALIER_ONE_SESSION");
}

int count_cpus() {
  try {
    return topology::current_affinity().count();
  } catch (...) {
    return 0;
  }
}

bool share_cores() {
  const char* ranks = std::getenv("MPI_LOCALNRANKS");
  return ranks && std::atoi(ranks) > shared_cpus;
}

// The kernel refuses a session to the leader of a process group, which therefore goes back to the launcher's
// first.
void leave_launchers_session() {
  if (setpgid(0, getpgid(getppid())) == 0 && own_session() < 0) setpgid(0, 0);
}

}  // namespace
}  // namespace espalier::mpi

#define ESPALIER_WRAPS extern "C" __attribute__((visibility("default")))

ESPALIER_WRAPS pid_t setsid() noexcept {
  using namespace espalier::mpi;
  const int cpus = is_wanted() ? count_cpus() : 0;
  if (!cpus || setpgid(0, 0)) return own_session();
  shared_cpus = cpus;
  return getpid();
}

ESPALIER_WRAPS int execvp(const char* file, char* const* argv) noexcept {
  using namespace espalier::mpi;
  if (shared_cpus && !share_cores()) leave_launchers_session();
  return execvpe(file, argv, environ);
}
#endif  // not Open MPI, whose launcher keeps all ranks in its session
