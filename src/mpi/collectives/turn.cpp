#include "mpi/collectives/turn.hpp"

#include <memory>
#include <utility>
#include <vector>

#include "base/ticks.hpp"
#include "mpi/collectives/serve.hpp"

namespace espalier::mpi::guard {
namespace {

struct Measured {
  runtime::guard::Pair pair;
  double seconds_per_tick;
};

/// The ranks add up what they have measured, by the host. All of them say the same of it, by the clock of the first.
void judge(MPI_Comm comm, Kind& kind) {
  const runtime::Bootstrap ranks = communicators::bootstrap(comm);
  const Measured mine = {kind.trial.mine(), ticks::seconds_per_tick()};
  std::vector<Measured> all(static_cast<std::size_t>(ranks.size));
  ranks.allgather(&mine, all.data(), sizeof mine);
  runtime::guard::Pair sum;
  for (const Measured& each : all) {
    sum.espalier += each.pair.espalier;
    sum.host += each.pair.host;
  }
  kind.trial.judge(sum);
  kind.why_host = kind.trial.why_host(all.front().seconds_per_tick, ranks.size);
  if (kind.trial.is_settled()) kind.settle();
}

}  // namespace

Entry* with_kinds(Handle comm, void* caller) {
  Entry* entry = entry_of(comm, caller);
  if (!entry || !entry->communicator->active() || entry->communicator->size() == 1) return nullptr;
  if (!entry->kinds) entry->kinds = std::make_unique<Kinds>();
  return entry;
}

Server begin_tried(Entry& entry, Collective collective, Kind& kind) {
  if (kind.trial.is_settled() && kind.calls >= kind.next_trial) kind.begin_again();
  const Server server = kind.trial.server();
  if (server == Server::host) entry.communicator->count_host(collective, kind.bytes, kind.why_host);
  if (!kind.trial.is_settled()) {
    entry.kinds->on_trial = &kind;
    entry.kinds->began = ticks::now();
  }
  return server;
}

int end_tried(Handle comm, Collective collective, Kinds& kinds, int code) {
  Kind& kind = *std::exchange(kinds.on_trial, nullptr);
  if (!kind.trial.note(ticks::now() - kinds.began)) return code;
  const int judged = guarded(comm, collective, kind.bytes, [&] {
    judge(typed<MPI_Comm>(comm), kind);
    return MPI_SUCCESS;
  });
  return code != MPI_SUCCESS ? code : judged;
}

}  // namespace espalier::mpi::guard
