#include "mpi/requests/across.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/by_rank.hpp"
#include "collective/schedule/length_check.hpp"
#include "runtime/communicator/separate_call.hpp"
#include "runtime/communicator/wanted.hpp"

namespace espalier::mpi::nonblocking {
namespace {

using persistent::Draft;
using runtime::across::Wanted;

/// What this rank gives, as all of its readers get it.
const std::byte* given(const Draft& draft) {
  if (draft.is_brief) return draft.brief.send;
  return draft.spec.gives.empty() ? nullptr : draft.spec.gives.front().source;
}

void say_bcast(const Draft& draft, bool is_root, Wanted& wanted) {
  if (is_root)
    wanted.send = given(draft);
  else
    wanted.receive = draft.is_brief ? draft.brief.receive : draft.spec.wants.front().target;
}

void say_reduction(const Draft& draft, Wanted& wanted) {
  const collective::Schedule::Fold& fold = draft.spec.fold;
  wanted.operation = draft.kernel;
  wanted.send = !draft.is_brief && fold.ranks > 0 ? fold.own : given(draft);
  wanted.receive = draft.is_brief ? draft.brief.receive : fold.target;
}

void say_allgather(const Draft& draft, int rank, int ranks, Wanted& wanted) {
  wanted.send = given(draft);
  wanted.places.resize(static_cast<std::size_t>(ranks));
  if (draft.is_brief) {
    for (int peer = 0; peer < ranks; ++peer)
      wanted.places[static_cast<std::size_t>(peer)] =
          peer == rank ? draft.brief.keep.target : brief_target(draft.brief, peer, ranks);
    return;
  }
  const collective::PersistentSpec& spec = draft.spec;
  for (const auto& block : spec.wants) wanted.places[static_cast<std::size_t>(block.peer)] = block.target;
  // In place, this rank's block stays where it is.
  wanted.places[static_cast<std::size_t>(rank)] =
      spec.keep.bytes > 0 ? spec.keep.target : const_cast<std::byte*>(wanted.send);
}

/// Whether a node sends for all of its ranks.
bool is_sent_by_nodes(const collective::PersistentSpec& spec) {
  using enum Collective;
  constexpr CollectiveSet gain_by_it = {bcast, reduce, allreduce, allgather};
  return spec.collective == barrier ||
         (spec.bytes > 0 && spec.operation != reduce::user_operation && gain_by_it.contains(spec.collective));
}

void say_to_node(const Draft& draft, int rank, int ranks, Wanted& wanted) {
  switch (draft.spec.collective) {
    case Collective::bcast:
      return say_bcast(draft, rank == draft.spec.root, wanted);
    case Collective::reduce:
    case Collective::allreduce:
      return say_reduction(draft, wanted);
    case Collective::allgather:
      return say_allgather(draft, rank, ranks, wanted);
    default:
      return;  // a barrier
  }
}

void spell_out_prefix(const collective::RankInfo& self, Draft& draft) {
  const collective::BriefCall& brief = draft.brief;
  const Collective collective = draft.spec.collective;
  draft.spec = collective::reduction_spec(self, collective, 0, brief.send, brief.receive, brief.block,
                                          *draft.kernel, std::move(draft.spec));
}

/// Of two ranks with blocks of one length.
void spell_out_scattered(const collective::RankInfo& self, Draft& draft) {
  const collective::BriefCall& brief = draft.brief;
  const std::byte* const vector = std::min(brief.send, collective::folded_own(brief));
  const std::array shares = {brief.block, brief.block};
  draft.spec = collective::reduce_scatter_spec(self, draft.spec.collective, vector, brief.receive, shares,
                                               *draft.kernel, std::move(draft.spec));
}

void spell_out_transfer(const collective::RankInfo& self, Draft& draft) {
  const collective::BriefCall& brief = draft.brief;
  const collective::PersistentSpec& spec = draft.spec;
  const auto ranks = static_cast<std::size_t>(self.size);
  const bool gives = gives_in_brief(spec, self.rank), hears_all = hears_all_in_brief(spec, self.rank);
  auto* const send = const_cast<std::byte*>(brief.send);
  ByRank<collective::Block> out(ranks), in(ranks);
  for (int peer = 0; peer < self.size; ++peer) {
    const auto i = static_cast<std::size_t>(peer);
    const bool is_root = peer == spec.root;
    if (gives && (is_root || !collective::is_to_root(spec.collective)))
      out[i] = {has_table(spec, self.size) ? send + i * brief.block : send, brief.given_block()};
    if (hears_all || (is_root && collective::is_from_root(spec.collective)))
      in[i] = {hears_all ? brief_target(brief, peer, self.size) : brief.receive, brief.block};
  }
  const auto own = static_cast<std::size_t>(self.rank);
  out[own] = {const_cast<std::byte*>(brief.keep.source), brief.keep.bytes};
  in[own] = {brief.keep.target, brief.keep.bytes};
  draft.spec = collective::transfer_spec(self, spec.collective, spec.root, spec.bytes, {out.begin(), ranks},
                                         {in.begin(), ranks}, std::move(draft.spec));
}

/// A brief call, with lists that say the same.
void spell_out(const collective::RankInfo& self, Draft& draft) {
  const Collective collective = draft.spec.collective;
  switch (collective) {
    case Collective::scan:
    case Collective::exscan:
      spell_out_prefix(self, draft);
      break;
    case Collective::reduce_scatter:
    case Collective::reduce_scatter_block:
      spell_out_scattered(self, draft);
      break;
    default:
      spell_out_transfer(self, draft);
  }
  draft.is_brief = false;
}

}  // namespace

/// Nodes send for their ranks as much of each as all are to have.
void compare_own_block(const Entry& entry, const Draft& draft) {
  const int rank = entry.communicator->rank();
  if (is_sent_by_nodes(draft.spec) && draft.own.sent != draft.own.taken)
    collective::refuse_excess(rank, draft.own.taken, rank, draft.own.sent);
}

std::unique_ptr<runtime::SeparateCall> begin_across(const Entry& entry, Draft& draft, std::string& why) {
  compare_own_block(entry, draft);
  if (draft.is_brief && !is_sent_by_nodes(draft.spec))
    spell_out({entry.communicator->rank(), entry.communicator->size()}, draft);
  const collective::PersistentSpec& spec = draft.spec;
  Wanted wanted{{spec.collective, spec.root, spec.bytes, spec.operation}};
  wanted.operation = draft.kernel;
  if (is_sent_by_nodes(spec))
    say_to_node(draft, entry.communicator->rank(), entry.communicator->size(), wanted);
  else
    wanted.spec = &spec;
  return entry.communicator->begin_across(std::move(wanted), why);
}

}  // namespace espalier::mpi::nonblocking
