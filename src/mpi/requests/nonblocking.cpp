// Starts and completes nonblocking collectives.
#include "mpi/requests/nonblocking.hpp"

#include <utility>

#include "mpi/requests/across.hpp"
#include "plan/nonblocking_rules.hpp"
#include "plan/selector.hpp"
#include "runtime/communicator/refused_communicator.hpp"
#include "runtime/progress/missed_tests.hpp"

namespace espalier::mpi::nonblocking {
namespace {

/// What belongs to the call goes; the request and its carrier wait for the next one.
void retire(Request& request) {
  Draft& draft = request.draft;
  if (draft.is_brief) return give_back(request);
  draft.spec = collective::PersistentSpec::in(std::move(draft.spec));
  draft.unable.clear();
  draft.at_once = nullptr;
  draft.vector = nullptr;
  draft.load = draft.store = nullptr;
  draft.sides.reset();
  draft.own = {};
  draft.types.clear();
  give_back(request);
}

/// What the runtime has got goes back to the draft.
void take_back(Request& request) {
  request.nonblocking.reset();
  if (!request.draft.is_brief) request.draft.spec = std::exchange(request.call.spec, {});
  runtime::asking::remove_request();
}

/// The end of a call that was begun.
void end(Request& request) {
  request.separate.reset();
  take_back(request);
  retire(request);
}

/// What the node's schedules do not serve alone.
int start_separate(Entry& entry, Taken& taken, std::unique_ptr<runtime::SeparateCall> call,
                   MPI_Request* request) {
  Request& made = taken.request();
  if (made.draft.load) made.draft.load();
  call->start();
  made.errors = entry.comm;
  made.separate = std::move(call);
  runtime::asking::add_request();
  taken.keep();
  *request = typed<MPI_Request>(made.handle.load(std::memory_order_relaxed));
  return MPI_SUCCESS;
}

/// What the runtime gets of the draft, which keeps what errors name.
void make_call(Draft& draft, runtime::Nonblocking::Call& call) {
  call.forget_progress();
  call.is_brief = draft.is_brief;
  if (draft.is_brief) {
    call.brief = draft.brief;
    call.spec.collective = draft.spec.collective;
    call.spec.root = draft.spec.root;
    call.spec.bytes = draft.spec.bytes;
    call.spec.operation = draft.spec.operation;
    call.spec.fold.operation = draft.spec.fold.operation;
    return;
  }
  const Collective collective = draft.spec.collective;
  const std::size_t bytes = draft.spec.bytes;
  call.spec = std::move(draft.spec);
  draft.spec.collective = collective;
  draft.spec.bytes = bytes;
}

}  // namespace

Taken::~Taken() {
  if (request_) retire(*request_);
}

// Of reproducible reductions Espalier moves the vectors all the same.
bool is_off(Entry& entry, Collective collective) {
  static const bool moves_vectors = plan::Table::instance().reproducibility() != reduce::Reproducibility::run;
  static const bool is_off_by_user = plan::nonblocking_is_off();
  if (moves_vectors || !(is_off_by_user || entry.communicator->leaves_nonblocking())) return false;
  entry.communicator->note_nonblocking(collective);
  return true;
}

int start(Entry& entry, Taken& taken, MPI_Request* request) {
  Request& made = taken.request();
  Draft& draft = made.draft;
  const Collective collective = draft.spec.collective;
  const std::size_t bytes = draft.spec.bytes;
  entry.communicator->note_nonblocking(collective);  // by the host, too
  if (!draft.unable.empty()) {
    const bool is_hosts = draft.unable == persistent::bad_arguments || plan::nonblocking_is_off();
    return is_hosts ? to_host : refuse(entry, collective, bytes, draft.unable, Form::nonblocking);
  }
  std::string why;
  auto communicator = entry.communicator->nonblocking(draft.spec, why);
  if (!communicator) {
    if (auto across = begin_across(entry, draft, why))
      return start_separate(entry, taken, std::move(across), request);
    if (auto moved = persistent::move_by_host(entry, draft, MovedByHost::Use::once, why))
      return start_separate(entry, taken, std::move(moved), request);
    return why.empty() ? to_host : refuse(entry, collective, bytes, why, Form::nonblocking);
  }
  made.errors = entry.comm;
  make_call(draft, made.call);
  made.nonblocking = std::move(communicator);
  runtime::asking::add_request();
  bool is_ours = false;
  try {
    if (draft.load) draft.load();
    is_ours = made.nonblocking->start(made.call);
  } catch (...) {
    made.nonblocking->forget(made.call);
    taken.keep();
    end(made);
    throw;
  }
  if (!is_ours) {
    take_back(made);  // and another way may take it
    if (auto moved =
            persistent::move_by_host(entry, draft, MovedByHost::Use::once, runtime::Nonblocking::no_memory))
      return start_separate(entry, taken, std::move(moved), request);
    return refuse(entry, collective, bytes, runtime::Nonblocking::no_memory, Form::nonblocking);
  }
  taken.keep();
  *request = typed<MPI_Request>(made.handle.load(std::memory_order_relaxed));
  return MPI_SUCCESS;
}

// In every host the cheapest nonblocking call, of one rank and no bytes.
int make_complete(const Entry& entry, MPI_Request* request) {
  return host.Ibcast(nullptr, 0, host.constants.byte, 0, entry.comm, request);
}

bool is_among_strangers(Collective collective, Handle comm, void* caller, Entry& stranger) {
  const auto handle = typed<MPI_Comm>(comm);
  if (!traits(collective).reduces || resolve(caller) != Mode::active ||
      plan::Table::instance().reproducibility() == reduce::Reproducibility::run || !has_world() ||
      handle == host.constants.comm_null || communicators::Retirement::is_under_way(comm))
    return false;
  int between_groups = 1;
  if (host.Comm_test_inter(handle, &between_groups) != MPI_SUCCESS || between_groups) return false;
  const runtime::Bootstrap ranks = communicators::bootstrap(handle);
  stranger.comm = handle;
  stranger.communicator = std::make_unique<runtime::RefusedCommunicator>(
      ranks.rank, ranks.size, "its ranks have not met yet in a blocking call");
  return true;
}

int start_among_strangers(Entry& stranger, Taken& taken, MPI_Request* request) {
  const Draft& draft = taken.request().draft;
  auto moved = draft.unable.empty() ? persistent::move_by_host(stranger, draft, MovedByHost::Use::once,
                                                               stranger.communicator->refusal())
                                    : nullptr;
  return moved ? start_separate(stranger, taken, std::move(moved), request) : to_host;
}

int complete(Request& request) {
  const MPI_Comm errors = request.errors;
  const Collective collective = request.draft.spec.collective;
  const std::size_t bytes = request.draft.spec.bytes;
  return guarded(
      wide(errors), collective, bytes,
      [&] {
        try {
          request.separate ? request.separate->complete() : request.nonblocking->complete(request.call);
          if (request.draft.store) request.draft.store();
          persistent::look_at_own_block(request.draft, errors);
        } catch (...) {
          if (request.nonblocking) request.nonblocking->forget(request.call);
          end(request);
          throw;
        }
        end(request);
        return MPI_SUCCESS;
      },
      Form::nonblocking);
}

}  // namespace espalier::mpi::nonblocking
