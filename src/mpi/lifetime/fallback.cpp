#include "mpi/lifetime/fallback.hpp"

#include <cctype>
#include <cstdio>
#include <mutex>
#include <new>
#include <set>

#include "base/config.hpp"
#include "base/format.hpp"
#include "mpi/host/error_codes.hpp"
#include "mpi/host/host.hpp"
#include "runtime/flight/dump.hpp"
#include "runtime/process/process.hpp"

namespace espalier::mpi {
namespace {

enum class Policy { silent, warn, error };

Policy policy() {
  static const Policy chosen = [] {
    const std::string& text = Config::instance().text("ESPALIER_FALLBACK");
    return text == "error" ? Policy::error : text == "warn" ? Policy::warn : Policy::silent;
  }();
  return chosen;
}

bool first_time(const std::string& why) {
  static std::mutex mutex;
  static std::set<std::string>& seen = *new std::set<std::string>;  // never destroyed, as Config
  const std::lock_guard lock(mutex);
  return seen.insert(why).second;
}

/// "rank 1 of 4: MPI_Allreduce of 64 bytes".
std::string describe(int rank, int size, Collective collective, std::size_t bytes, Form form) {
  const std::string length = has_length(collective) ? formatted(" of {} bytes", bytes) : "";
  return formatted("rank {} of {}: {}{}", rank, size, call_name(collective, form), length);
}

void print(const std::string& line) { print_to(stderr, "espalier: {}\n", line); }

/// Prints the line that `words` returns, and raises a code that says the same: the class alone, where there is no
/// memory for words. The call that failed may have failed for want of memory.
template <class Words>
int raise(MPI_Comm comm, int error_class, Words words) {
  int code = error_class;
  try {
    const std::string line = words();
    print(line);
    runtime::flight::dump();  // the handler may end the process
    code = error_codes::code_of(error_class, "Espalier: " + line);
  } catch (const std::bad_alloc&) {
    std::fputs("espalier: a call failed, and no memory is left to say which\n", stderr);
  }
  // The handler may return (MPI_ERRORS_RETURN) or not (MPI_ERRORS_ARE_FATAL).
  host.Comm_call_errhandler(comm, code);
  return code;
}

}  // namespace

// MPI's names are Espalier's with a capital.
std::string call_name(Collective collective, Form form) {
  std::string name(to_string(collective));
  if (form == Form::nonblocking) return "MPI_I" + name;
  name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
  return "MPI_" + name + (form == Form::persistent ? "_init" : "");
}

int allow_fallback(const Entry& entry, Collective collective, std::size_t bytes, const std::string& why,
                   Form form) {
  runtime::Communicator& communicator = *entry.communicator;
  communicator.count_host(collective, bytes, why);
  // A process that Espalier keeps out of (a spawned child) wants no help: nothing to report.
  if (policy() == Policy::silent || !runtime::Process::instance().declined().empty()) return MPI_SUCCESS;
  const auto call = [&] {
    return describe(communicator.rank(), communicator.size(), collective, bytes, form);
  };
  if (policy() == Policy::error) {
    return raise(entry.comm, MPI_ERR_OTHER, [&] {
      return call() + " is not served by Espalier: " + why +
             " (ESPALIER_FALLBACK=error forbids the host MPI to do it; warn or silent allow it)";
    });
  }
  try {
    if (first_time(why))
      print(call() + " goes to the host MPI: " + why + " (said once; ESPALIER_FALLBACK=silent says nothing)");
  } catch (const std::bad_alloc&) {  // the host may serve the call all the same
  }
  return MPI_SUCCESS;
}

int raise_error(MPI_Comm comm, Collective collective, std::size_t bytes, const std::string& what,
                int error_class, Form form) {
  int rank = 0, size = 0;
  host.Comm_rank(comm, &rank);
  host.Comm_size(comm, &size);
  return raise(comm, error_class,
               [&] { return describe(rank, size, collective, bytes, form) + " failed: " + what; });
}

}  // namespace espalier::mpi
