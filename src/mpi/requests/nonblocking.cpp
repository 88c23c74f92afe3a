// Starts and completes nonblocking collectives.
#include "mpi/requests/nonblocking.hpp"

#include <utility>

#include "runtime/process/missed_tests.hpp"

namespace espalier::mpi::nonblocking {
namespace {

/// What belongs to the call goes; the request and its carrier wait for the next one.
void retire(Request& request) {
  request.nonblocking.reset();
  request.draft = {};
  request.call = {};
  runtime::asking::remove_request();
  give_back(request);
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
  if (!communicator) return why.empty() ? to_host : refuse(entry, collective, bytes, why);
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
    retire(made);
    return refuse(entry, collective, bytes, runtime::Nonblocking::no_memory);
  }
  *request = typed<MPI_Request>(made.handle.load(std::memory_order_relaxed));
  return MPI_SUCCESS;
}

int complete(Request& request) {
  const MPI_Comm errors = request.errors;
  const Collective collective = request.draft.spec.collective;
  const std::size_t bytes = request.draft.spec.bytes;
  return guarded(wide(errors), collective, bytes, [&] {
    try {
      request.nonblocking->complete(request.call);
      if (request.draft.store) request.draft.store();
    } catch (...) {
      request.nonblocking->forget(request.call);
      retire(request);
      throw;
    }
    retire(request);
    return MPI_SUCCESS;
  });
}

}  // namespace espalier::mpi::nonblocking
