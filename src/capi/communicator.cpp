// Errors and communicators of the C API; its collectives are in the files of their families.
#include "espalier/espalier.h"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/format.hpp"
#include "base/hash.hpp"
#include "base/printable.hpp"
#include "capi/checks.hpp"
#include "capi/meeting/meeting.hpp"
#include "capi/types.hpp"
#include "machine/fingerprint.hpp"
#include "plan/selector.hpp"
#include "runtime/process/process.hpp"

using espalier::formatted;
using espalier::capi::CodedError;
using espalier::capi::guarded;
using espalier::runtime::Bootstrap;
using espalier::runtime::Communicator;
using espalier::runtime::Process;

namespace espalier::capi {

namespace {

// Has no destructor: those of the program's static objects may call us after those of this thread have run.
thread_local char error_text[2048] = "";

}  // namespace

const char* last_error() { return error_text; }

// Every call begins with an empty one.
void set_last_error(std::string_view text) {
  if (text.empty()) {
    error_text[0] = 0;
    return;
  }
  error_text[printable_lines(text).copy(error_text, sizeof error_text - 1)] = 0;
}

namespace {

void warn_once() {
  static const bool done = [] {
    for (const auto* warnings : {&Config::instance().warnings(), &plan::Table::instance().warnings()})
      for (const std::string& warning : *warnings) print_to(stderr, "espalier: {}\n", warning);
    return true;
  }();
  (void)done;
}

void check_place(int rank, int size, const espalier_comm* const* comm) {
  if (size < 1 || rank < 0 || rank >= size || !comm)
    throw CodedError(
        ESPALIER_ERR_ARGUMENT,
        formatted("rank {} of {}: need 0 <= rank < size and a place for the communicator", rank, size));
}

/// For the flight record. Ranks make those of one name, or of none and one size, in the same order.
void record(const espalier_comm* comm, const std::string& name) {
  static std::mutex& mutex = *new std::mutex;
  static auto& counts = *new std::map<std::uint64_t, std::uint64_t>;
  const Communicator& communicator = *comm->communicator;
  runtime::flight::Named named;
  named.handle = number_of(comm);
  named.high = hash(formatted("{} {}", communicator.size(), name));
  {
    const std::lock_guard lock(mutex);
    named.low = ++counts[named.high];
  }
  named.size = communicator.size();
  named.rank = communicator.rank();
  named.name = name;
  runtime::flight::add_communicator(named);
}

/// `name`: that the ranks meet by; empty: they have another way.
espalier_comm* create(const Bootstrap& bootstrap, const std::string& name = "") {
  if (bootstrap.rank == 0) warn_once();
  auto comm = std::make_unique<espalier_comm>();
  comm->communicator = Communicator::create(bootstrap);
  if (!comm->communicator->active()) throw CodedError(ESPALIER_ERR_REFUSED, comm->communicator->refusal());
  record(comm.get(), name);
  return comm.release();
}

}  // namespace
}  // namespace espalier::capi

using namespace espalier::capi;

extern "C" {

static const char in_place_mark = 0;
static constexpr const char* no_labels = "only the ranks of one node compare labels";
static_assert(ESPALIER_MOST_LABEL == espalier::machine::most_label);
const void* const ESPALIER_IN_PLACE = &in_place_mark;

int espalier_comm_create(int rank, int size, espalier_exchange_fn allgather, void* context,
                         espalier_comm** comm) {
  return guarded([&] {
    check_place(rank, size, comm);
    if (!allgather) throw CodedError(ESPALIER_ERR_ARGUMENT, "the allgather function is NULL");
    *comm = create({rank, size, [&](const void* mine, void* all, std::size_t bytes) {
                      if (allgather(mine, all, bytes, context) != 0)
                        throw CodedError(ESPALIER_ERR_SYSTEM, "the caller's allgather function failed");
                    }});
  });
}

int espalier_comm_meet(const char* name, int rank, int size, int timeout_ms, espalier_comm** comm) {
  return guarded([&] {
    check_place(rank, size, comm);
    if (!name || timeout_ms < 1) throw CodedError(ESPALIER_ERR_ARGUMENT, "need a name and at least 1 ms");
    const std::unique_ptr<Meeting> meeting = Meeting::meet(name, rank, size, timeout_ms);
    *comm =
        create({rank, size,
                [&](const void* mine, void* all, std::size_t bytes) { meeting->allgather(mine, all, bytes); },
                [&] { return meeting->left_ms(); }},
               name);
  });
}

int espalier_comm_world(espalier_comm** comm) {
  return guarded([&] {
    check_place(0, 1, comm);
    const Bootstrap* world = Process::instance().world();
    if (!world)
      throw CodedError(
          ESPALIER_ERR_REFUSED,
          "there is no MPI world here: call it between MPI_Init and MPI_Finalize of a program that "
          "`espalier run` started, or use espalier_comm_meet or espalier_comm_create");
    *comm = create(*world);
  });
}

int espalier_comm_set_timeout(espalier_comm* comm, int timeout_ms) {
  return guarded([&] {
    Communicator& communicator = checked(comm);
    if (timeout_ms < 0) throw CodedError(ESPALIER_ERR_ARGUMENT, "need 0 ms, which is no limit, or more");
    if (!communicator.limit_waits(timeout_ms))
      throw CodedError(ESPALIER_ERR_REFUSED, "only waits among the ranks of one node have a limit");
  });
}

int espalier_comm_set_background(espalier_comm* comm, int on) {
  return guarded([&] {
    if (!checked(comm).sleep_in_waits(on != 0))
      throw CodedError(ESPALIER_ERR_REFUSED,
                       "only waits among the ranks of one node can be told how to wait");
  });
}

int espalier_comm_set_label(espalier_comm* comm, int label) {
  return guarded([&] {
    Communicator& communicator = checked(comm);
    if (label < 0 || label > ESPALIER_MOST_LABEL)
      throw CodedError(ESPALIER_ERR_ARGUMENT,
                       formatted("label {}: need 0 to {}", label, ESPALIER_MOST_LABEL));
    if (!communicator.set_label(static_cast<std::uint16_t>(label)))
      throw CodedError(ESPALIER_ERR_REFUSED, no_labels);
  });
}

int espalier_comm_name_labels(espalier_comm* comm, const char* const* names, int count) {
  return guarded([&] {
    Communicator& communicator = checked(comm);
    if (count < 0 || count > ESPALIER_MOST_LABEL || (!names && count > 0))
      throw CodedError(ESPALIER_ERR_ARGUMENT, formatted("need 0 to {} names", ESPALIER_MOST_LABEL));
    std::vector<std::string> texts;
    for (int label = 1; label <= count; ++label)
      texts.emplace_back(names[label - 1] ? names[label - 1] : formatted("label {}", label));
    if (!communicator.name_labels(std::move(texts))) throw CodedError(ESPALIER_ERR_REFUSED, no_labels);
  });
}

void espalier_comm_free(espalier_comm* comm) {
  espalier::runtime::flight::forget_communicator(number_of(comm));
  delete comm;
}

int espalier_comm_rank(const espalier_comm* comm) { return comm ? comm->communicator->rank() : -1; }
int espalier_comm_size(const espalier_comm* comm) { return comm ? comm->communicator->size() : -1; }

const char* espalier_error_text(void) { return last_error(); }

}  // extern "C"
