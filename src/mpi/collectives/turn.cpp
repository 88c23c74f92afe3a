#include "mpi/collectives/turn.hpp"

#include <utility>
#include <vector>

#include "base/ticks.hpp"
#include "runtime/flight/recorder.hpp"

namespace espalier::mpi::guard {
namespace {

struct Measured {
  runtime::guard::Pair pair;
  double seconds_per_tick;
};

/// The ranks add up what they have measured, by the host. All of them say the same of it, by the clock of the first.
void judge(MPI_Comm comm, Kind& kind) {
  const runtime::Bootstrap ranks = communicators::bootstrap(comm);
  const Measured mine = {kind.turns.measured(), ticks::seconds_per_tick()};
  std::vector<Measured> all(static_cast<std::size_t>(ranks.size));
  ranks.allgather(&mine, all.data(), sizeof mine);
  runtime::guard::Pair sum;
  for (const Measured& each : all) {
    sum.espalier += each.pair.espalier;
    sum.host += each.pair.host;
  }
  kind.turns.judge(sum);
  kind.why_host = kind.turns.trial().why_host(all.front().seconds_per_tick, ranks.size);
}

/// A call on trial is over.
void end_tried(std::uint64_t comm, std::uint64_t ticks) noexcept {
  const Entry* entry = communicators::find(comm);  // an error handler may have freed it
  Kind* kind = entry && entry->kinds ? std::exchange(entry->kinds->measured, nullptr) : nullptr;
  if (kind) kind->turns.end(ticks);
}

}  // namespace

Server begin_tried(const Entry& entry, Collective collective, Kind& kind) {
  Kinds& kinds = *entry.kinds;
  // That the last call was over was not heard: an exception ended it, say.
  if (kinds.measured == &kind) kind.turns.end(ticks::now() - kinds.began);
  kinds.measured = nullptr;
  if (kind.turns.ends_pair()) judge(entry.comm, kind);
  const Server server = kind.turns.begin();
  if (server == Server::host) entry.communicator->count_host(collective, kind.bytes, kind.why_host);
  if (kind.turns.is_measured()) {
    kinds.measured = &kind;
    kinds.began = ticks::now();
    runtime::flight::time_call(end_tried);
  }
  return server;
}

}  // namespace espalier::mpi::guard
