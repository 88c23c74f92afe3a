#include "mpi/lifetime/announced_ranks.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/files.hpp"
#include "mpi/host/host.hpp"

namespace espalier::mpi {
namespace {

/// How a kind of launcher tells a process that it is one of several. `size` counts only beside `rank`: a
/// script that starts jobs of its own may remove the one and forget the other.
struct Launcher {
  const char* size;
  const char* rank;
};

// Slurm announces ranks by the step; SLURM_NTASKS without one is only what the job may use.
constexpr Launcher launchers[] = {
    {"PMI_SIZE", "PMI_RANK"},               // Hydra of MPICH and Intel MPI, Slurm's PMI, PALS, Flux
    {"MPI_LOCALNRANKS", "PMI_ID"},          // Hydra with -pmi-port
    {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK"},  // Open MPI, PRRTE
    {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID"},
    {"JSM_NAMESPACE_SIZE", "JSM_NAMESPACE_RANK"},  // jsrun of LSF
    {"FLUX_JOB_SIZE", "FLUX_TASK_RANK"},           // where Flux offers no process manager (-o pmi=off)
};

/// The environment with which this process was started: an MPI may add its own world while it starts.
class GivenEnvironment {
 public:
  GivenEnvironment() {
    std::istringstream file(text_of("/proc/self/environ"));
    for (std::string variable; std::getline(file, variable, '\0');) variables_.push_back(std::move(variable));
  }

  /// nullptr also for a variable that the program has removed since, to be alone.
  const char* operator[](const std::string& name) const {
    for (const std::string& variable : variables_)
      if (variable.compare(0, name.size() + 1, name + "=") == 0)
        return std::getenv(name.c_str()) ? variable.c_str() + name.size() + 1 : nullptr;
    return nullptr;
  }

  int number(const char* name) const {
    const char* text = (*this)[name];
    return text ? std::atoi(text) : 0;
  }

 private:
  std::vector<std::string> variables_;
};

/// The first launcher that announces several ranks, unless another announces one: a launcher within a job, or
/// Slurm's step of another launcher's daemons.
const Launcher* announcing(const GivenEnvironment& given) {
  const Launcher* first = nullptr;
  for (const Launcher& launcher : launchers) {
    const int ranks = given[launcher.rank] ? given.number(launcher.size) : 0;
    if (ranks == 1) return nullptr;
    if (ranks > 1 && !first) first = &launcher;
  }
  return first;
}

bool maps_an_mpi(const std::string& process) {
  std::istringstream maps(text_of("/proc/" + process + "/maps"));
  for (std::string line; std::getline(maps, line);) {
    const std::size_t name = line.rfind('/');
    if (name != std::string::npos && line.compare(name, 7, "/libmpi") == 0) return true;
  }
  return false;
}

/// "" at the top, or where it cannot be read.
std::string parent_of(const std::string& process) {
  std::istringstream status(text_of("/proc/" + process + "/status"));
  for (std::string line; std::getline(status, line);)
    if (line.compare(0, 6, "PPid:\t") == 0) return line.substr(6) == "0" ? "" : line.substr(6);
  return "";
}

/// A rank has started this process by itself, and the announcement is for that rank. Launchers load no MPI.
bool started_by_a_rank() {
  for (std::string process = parent_of("self"); !process.empty(); process = parent_of(process))
    if (maps_an_mpi(process)) return true;
  return false;
}

bool spawned() {
  MPI_Comm parent = host.constants.comm_null;
  host.Comm_get_parent(&parent);
  return parent != host.constants.comm_null;
}

/// The file that the program's MPI was loaded from.
std::string library() {
  Dl_info info;
  void* function = reinterpret_cast<void*>(host.Comm_get_parent);
  return dladdr(function, &info) && info.dli_fname ? info.dli_fname : "unknown";
}

/// The launcher that was installed beside it, if there is one.
std::string launcher_beside(const std::string& file) {
  const std::size_t folder = file.rfind("/lib/");
  if (folder == std::string::npos) return "";
  const std::string installed = file.substr(0, folder) + "/bin/mpirun";
  return access(installed.c_str(), X_OK) == 0 ? " (" + installed + ")" : "";
}

}  // namespace

void warn_if_launched_apart() {
  const GivenEnvironment given;
  const Launcher* launcher = announcing(given);
  if (!launcher || std::strcmp(given[launcher->rank], "0") != 0) return;
  if (spawned() || started_by_a_rank()) return;
  const std::string mpi = library();
  std::fprintf(
      stderr,
      "espalier: the launcher has started %d ranks (%s), but MPI_COMM_WORLD has only one in each: "
      "the launcher does not belong to the program's MPI (%s), or offers another process manager "
      "than it needs (srun --mpi). Every rank computes alone. Use the mpirun of the program's MPI%s\n",
      given.number(launcher->size), launcher->size, mpi.c_str(), launcher_beside(mpi).c_str());
}

}  // namespace espalier::mpi
