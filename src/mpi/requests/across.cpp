#include "mpi/requests/across.hpp"

#include <utility>

#include "runtime/communicator/separate_call.hpp"
#include "runtime/communicator/wanted.hpp"

namespace espalier::mpi::nonblocking {
namespace {

using persistent::Draft;
using runtime::across::Wanted;

/// What this rank gives, as all of its readers get it.
const std::byte* given(const Draft& draft) {
  if (draft.is_short) return draft.brief.send;
  return draft.spec.gives.empty() ? nullptr : draft.spec.gives.front().source;
}

void say_bcast(const Draft& draft, bool is_root, Wanted& wanted) {
  if (is_root)
    wanted.send = given(draft);
  else
    wanted.receive = draft.is_short ? draft.brief.receive : draft.spec.wants.front().target;
}

void say_reduction(const Draft& draft, Wanted& wanted) {
  const collective::Schedule::Fold& fold = draft.spec.fold;
  wanted.operation = draft.kernel;
  wanted.send = !draft.is_short && fold.ranks > 0 ? fold.own : given(draft);
  wanted.receive = draft.is_short ? draft.brief.receive : fold.target;
}

void say_allgather(const Draft& draft, int rank, int ranks, Wanted& wanted) {
  wanted.send = given(draft);
  wanted.places.resize(static_cast<std::size_t>(ranks));
  if (draft.is_short) {
    for (std::size_t peer = 0; peer < wanted.places.size(); ++peer)
      wanted.places[peer] = draft.brief.receive + peer * draft.spec.bytes;
    return;
  }
  const collective::PersistentSpec& spec = draft.spec;
  for (const auto& block : spec.wants) wanted.places[static_cast<std::size_t>(block.peer)] = block.target;
  // In place, this rank's block stays where it is.
  wanted.places[static_cast<std::size_t>(rank)] =
      spec.keep.bytes > 0 ? spec.keep.target : const_cast<std::byte*>(wanted.send);
}

}  // namespace

std::unique_ptr<runtime::SeparateCall> begin_across(const Entry& entry, const Draft& draft,
                                                    std::string& why) {
  const collective::PersistentSpec& spec = draft.spec;
  if (spec.operation == reduce::user_operation) return nullptr;
  if (spec.bytes == 0 && spec.collective != Collective::barrier) return nullptr;
  Wanted wanted{{spec.collective, spec.root, spec.bytes, spec.operation}};
  const int rank = entry.communicator->rank();
  switch (spec.collective) {
    case Collective::barrier:
      break;
    case Collective::bcast:
      say_bcast(draft, rank == spec.root, wanted);
      break;
    case Collective::reduce:
    case Collective::allreduce:
      say_reduction(draft, wanted);
      break;
    case Collective::allgather:
      say_allgather(draft, rank, entry.communicator->size(), wanted);
      break;
    default:
      return nullptr;
  }
  return entry.communicator->begin_across(std::move(wanted), why);
}

}  // namespace espalier::mpi::nonblocking
