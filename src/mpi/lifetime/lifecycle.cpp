#include "mpi/lifetime/lifecycle.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <mutex>
#include <string>
#include <string_view>

#include "base/config.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/printable.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/datatype/type_runs.hpp"
#include "mpi/guard/kinds.hpp"
#include "mpi/host/host.hpp"
#include "mpi/host/host_behaviour.hpp"
#include "mpi/host/progress.hpp"
#include "mpi/lifetime/announced_ranks.hpp"
#include "mpi/lifetime/communicators.hpp"
#include "mpi/lifetime/out_of_band.hpp"
#include "mpi/lifetime/recorded.hpp"
#include "mpi/transport/one_sided.hpp"
#include "mpi/transport/transport.hpp"
#include "plan/selector.hpp"
#include "runtime/flight/dump.hpp"
#include "runtime/flight/recorder.hpp"
#include "runtime/process/process.hpp"
#include "runtime/progress/only_thread.hpp"
#include "runtime/progress/progress_thread.hpp"
#include "runtime/setup/sharp_start.hpp"
#include "runtime/statistics/statistics.hpp"
#include "runtime/window/window_cache.hpp"

namespace espalier::mpi::lifecycle {
namespace {

enum class Stage {
  outside,  ///< MPI is not initialised, or was not asked for yet
  inside,
  over  ///< MPI_Finalize was called, or Espalier could not be set up
};

std::mutex mutex;  // of what follows
Stage stage = Stage::outside;
bool in_world = false;
int open_sessions = 0;
bool leaves_by_callback = false;  ///< MPI_COMM_SELF has our attribute
bool prints_statistics = false;   ///< without a world: this process was rank 0 of the first communicator

std::atomic<const Dependents*> told_dependents{nullptr};

std::string_view version_text() {
  static char text[16384];  // more than any host's MPI_MAX_LIBRARY_VERSION_STRING
  int length = 0;
  host.Get_library_version(text, &length);
  return {text, std::min(sizeof text, static_cast<std::size_t>(length))};
}

std::string host_version() {
  const std::string_view all = version_text();
  return printable(all.substr(0, all.find('\n')), 256);
}

/// Files of spawned children would have the names of their parents'.
void begin_timed_record() {
  const std::string& at = Config::instance().text("ESPALIER_FLIGHT_AT");
  if (at.empty() || !runtime::Process::instance().declined().empty()) return;
  if (const auto calls = runtime::flight::calls_of(at)) return runtime::flight::arm_timed_dump(*calls);
  print_to(stderr, "espalier: ESPALIER_FLIGHT_AT={} is neither `end` nor a number of calls\n", printable(at));
}

void begin_record() {
  runtime::flight::name_host(host_version(), ESPALIER_BUILD);
  communicators::record_world();
  const std::string& file = Config::instance().text("ESPALIER_FLIGHT");
  const std::string& signal = Config::instance().text("ESPALIER_FLIGHT_SIGNAL");
  const int number = runtime::flight::signal_of(signal);
  if (!signal.empty() && number == 0)
    print_to(stderr,
             "espalier: ESPALIER_FLIGHT_SIGNAL={} is no signal that a process can have a handler for\n",
             printable(signal));
  if (file.empty()) return;
  runtime::flight::arm_dump(file, runtime::Process::instance().number(), number);
  begin_timed_record();
}

/// What does not need other ranks. `mine` is MPI_COMM_SELF or, with sessions, a communicator of this process.
bool set_up(MPI_Comm mine) {
  plan::set_host(version_text());  // before the rules are read
  learn_errors_return();
  guard::begin();
  if (!communicators::open() || !progress::open()) {
    std::fprintf(stderr,
                 "espalier: the host MPI refused an attribute key or a request; every call goes to it\n");
    return false;
  }
  if (!host_packs_bare_data(mine))
    runtime::Process::instance().decline(
        "this host's MPI_Pack adds to the data, so ranks could not agree on bytes");
  return true;
}

/// With sessions it is not known what threads there are. Espalier's own is one of several.
void find_only_thread() {
  if (runtime::ProgressThread::is_wanted()) return;
  int level = MPI_THREAD_MULTIPLE;
  if (open_sessions == 0 && host.Query_thread(&level) == MPI_SUCCESS && level <= MPI_THREAD_FUNNELED)
    runtime::OnlyThread::is_this_one();
}

void decline_if_spawned() {
  MPI_Comm parent = host.constants.comm_null;
  host.Comm_get_parent(&parent);
  if (parent != host.constants.comm_null) runtime::Process::instance().decline("spawned child");
}

void print_warnings() {
  for (const auto* warnings : {&Config::instance().warnings(), &plan::Table::instance().warnings()})
    for (const std::string& warning : *warnings) print_to(stderr, "espalier: {}\n", warning);
}

runtime::statistics::Author author(const runtime::Bootstrap& ranks) {
  return {ranks.rank, ranks.size, host_version(), ESPALIER_BUILD};
}

void begin_statistics(const runtime::Bootstrap& ranks) {
  if (runtime::statistics::enabled()) runtime::statistics::begin(author(ranks));
}

void report(const runtime::Bootstrap& ranks) {
  if (!runtime::statistics::enabled()) return;
  try {
    runtime::statistics::report(ranks, author(ranks));
  } catch (const Error& error) {
    print_to(stderr, "espalier: no statistics: {}\n", error.what());
  }
}

runtime::Bootstrap alone() {
  return {0, 1, [](const void* mine, void* all, std::size_t bytes) {
            std::copy_n(static_cast<const std::byte*>(mine), bytes, static_cast<std::byte*>(all));
          }};
}

/// Where one fails, the ranks are past helping; the job ends anyway.
void leave_windows() {
  try {
    runtime::WindowCache::instance().leave_all();
  } catch (const Error& error) {
    print_to(stderr, "espalier: at the end of the job: {}\n", error.what());
  }
}

void tear_down() {
  leave_windows();
  // acquire: pairs with the release in tell(), as below.
  if (const Dependents* told = told_dependents.load(std::memory_order_acquire)) told->job_ends();
  communicators::retire_all();
  communicators::close();
  questions::close();
  close_kept_types();
  progress::close();
  runtime::Process::instance().leave();
  runtime::OnlyThread::is_none();
}

void end_world() {
  const std::lock_guard lock(mutex);
  if (in_world) runtime::flight::dump_at_end();
  if (in_world) report(communicators::bootstrap(host.constants.world));
  if (stage == Stage::inside) tear_down();
  in_world = false;
  stage = Stage::over;
}

int on_finalize(MPI_Comm, int, void*, void*) {
  end_world();
  return MPI_SUCCESS;
}

int copy_nothing(MPI_Comm, int, void*, void*, void*, int* flag) {
  *flag = 0;
  return MPI_SUCCESS;
}

/// MPI-4.1 11.2.4: the attributes of MPI_COMM_SELF are deleted at the start of MPI_Finalize, the one that was
/// set first as the last. A host that refuses is left before MPI_Finalize.
void leave_by_callback() {
  if (leaves_by_callback) return;
  int key = MPI_KEYVAL_INVALID;
  if (host.Comm_create_keyval(copy_nothing, on_finalize, &key, nullptr) != MPI_SUCCESS) return;
  leaves_by_callback = host.Comm_set_attr(host.constants.self, key, nullptr) == MPI_SUCCESS;
  host.Comm_free_keyval(&key);  // it lives on with the attribute
}

}  // namespace

void tell(const Dependents& dependents) { told_dependents.store(&dependents, std::memory_order_release); }

void tell_communicator_is_freed(MPI_Comm comm) {
  if (const Dependents* told = told_dependents.load(std::memory_order_acquire))
    told->communicator_is_freed(comm);
}

void begin_world() {
  const std::lock_guard lock(mutex);
  if (in_world) return;
  if (stage != Stage::inside && !set_up(host.constants.self)) {
    stage = Stage::over;
    return;
  }
  stage = Stage::inside;
  in_world = true;
  find_only_thread();
  leave_by_callback();
  decline_if_spawned();
  const runtime::Bootstrap world = communicators::bootstrap(host.constants.world);
  if (world.size == 1) warn_if_launched_apart();
  runtime::Process& process = runtime::Process::instance();
  process.set_world(world);
  if (process.join(world) && process.needs_transport()) {
    process.set_transport(open_transport());
    process.set_one_sided(open_one_sided());
    runtime::start_sharp(world, open_out_of_band());
  }
  begin_record();
  // Files of spawned children would have the names of their parents'.
  if (process.declined().empty()) begin_statistics(world);
  if (world.rank == 0) print_warnings();
}

void finalize_begins() {
  if (!leaves_by_callback) end_world();
}

void abort_begins() {
  runtime::flight::dump();
  runtime::statistics::end_early("MPI_Abort was called");
}

void begin_session() {
  const std::lock_guard lock(mutex);
  runtime::OnlyThread::is_none();
  if (open_sessions++ == 0 && stage == Stage::over) stage = Stage::outside;
}

void end_session() {
  const std::lock_guard lock(mutex);
  if (open_sessions > 0) --open_sessions;
  if (open_sessions > 0 || in_world || stage != Stage::inside) return;
  if (prints_statistics) report(alone());
  tear_down();
  stage = Stage::outside;
}

bool ready(MPI_Comm comm) {
  const std::lock_guard lock(mutex);
  if (stage != Stage::outside) return stage == Stage::inside;
  const bool world = has_world();
  if (!world && open_sessions == 0) return false;
  stage = set_up(world ? host.constants.self : comm) ? Stage::inside : Stage::over;
  if (world && stage == Stage::inside) leave_by_callback();
  int rank = 0;
  host.Comm_rank(comm, &rank);
  prints_statistics = rank == 0;
  if (prints_statistics) {
    print_warnings();
    begin_statistics(alone());
  }
  return stage == Stage::inside;
}

}  // namespace espalier::mpi::lifecycle
