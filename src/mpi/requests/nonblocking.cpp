// Starts and completes nonblocking collectives.
#include "mpi/requests/nonblocking.hpp"

#include <utility>

#include "plan/selector.hpp"
#include "runtime/communicator/refused_communicator.hpp"
#include "runtime/process/missed_tests.hpp"

namespace espalier::mpi::nonblocking {
namespace {

/// What belongs to the call goes; the request and its carrier wait for the next one.
void retire(Request& request) {
  request.nonblocking.reset();
  request.moved.reset();
  request.draft = {};
  request.call = {};
  runtime::asking::remove_request();
  give_back(request);
}

/// A reduction of which the host moves the vectors.
int start_moved(Entry& entry, Draft&& draft, std::unique_ptr<MovedByHost> moved, MPI_Request* request) {
  moved->start();
  Request& made = persistent::take_once(entry);
  made.draft = std::move(draft);
  made.errors = entry.comm;
  made.moved = std::move(moved);
  runtime::asking::add_request();
  *request = typed<MPI_Request>(made.handle.load(std::memory_order_relaxed));
  return MPI_SUCCESS;
}

}  // namespace

int start(Entry& entry, Draft&& draft, MPI_Request* request) {
  const Collective collective = draft.spec.collective;
  const std::size_t bytes = draft.spec.bytes;
  if (!draft.unable.empty())
    return draft.unable == persistent::bad_arguments ? to_host
                                                     : refuse(entry, collective, bytes, draft.unable);
  std::string why;
  auto communicator = entry.communicator->nonblocking(draft.spec, why);
  if (!communicator) {
    if (auto moved = persistent::move_by_host(entry, draft, MovedByHost::Use::once, why))
      return start_moved(entry, std::move(draft), std::move(moved), request);
    return why.empty() ? to_host : refuse(entry, collective, bytes, why);
  }
  Request& made = persistent::take_once(entry);
  made.draft = std::move(draft);
  made.errors = entry.comm;
  made.call.spec = std::move(made.draft.spec);
  made.draft.spec.collective = collective;  // what errors name
  made.draft.spec.bytes = bytes;
  made.nonblocking = std::move(communicator);
  runtime::asking::add_request();
  bool is_ours = false;
  try {
    if (made.draft.load) made.draft.load();
    is_ours = made.nonblocking->start(made.call);
  } catch (...) {
    made.nonblocking->forget(made.call);
    retire(made);
    throw;
  }
  if (!is_ours) {
    // What start() has looked at is whole again: another way may take it.
    Draft again = std::move(made.draft);
    again.spec = std::move(made.call.spec);
    retire(made);
    if (auto moved =
            persistent::move_by_host(entry, again, MovedByHost::Use::once, runtime::Nonblocking::no_memory))
      return start_moved(entry, std::move(again), std::move(moved), request);
    return refuse(entry, collective, bytes, runtime::Nonblocking::no_memory);
  }
  *request = typed<MPI_Request>(made.handle.load(std::memory_order_relaxed));
  return MPI_SUCCESS;
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

int start_among_strangers(Entry& stranger, Draft&& draft, MPI_Request* request) {
  auto moved = draft.unable.empty() ? persistent::move_by_host(stranger, draft, MovedByHost::Use::once,
                                                               stranger.communicator->refusal())
                                    : nullptr;
  return moved ? start_moved(stranger, std::move(draft), std::move(moved), request) : to_host;
}

int complete(Request& request) {
  const MPI_Comm errors = request.errors;
  const Collective collective = request.draft.spec.collective;
  const std::size_t bytes = request.draft.spec.bytes;
  return guarded(wide(errors), collective, bytes, [&] {
    try {
      request.moved ? request.moved->complete() : request.nonblocking->complete(request.call);
      if (request.draft.store) request.draft.store();
    } catch (...) {
      if (request.nonblocking) request.nonblocking->forget(request.call);
      retire(request);
      throw;
    }
    retire(request);
    return MPI_SUCCESS;
  });
}

}  // namespace espalier::mpi::nonblocking
