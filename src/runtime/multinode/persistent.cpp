// Persistent collectives over nodes: in `_init` the ranks compare what they prepare, by letters, and each start begins a
// call of a stream of its own. For ranks may start their requests in different orders.
#include <algorithm>
#include <cstring>

#include "base/by_rank.hpp"
#include "base/config.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "plan/nonblocking_rules.hpp"
#include "plan/tuned_rules.hpp"
#include "runtime/across/meeting.hpp"
#include "runtime/communicator/persistent_meeting.hpp"
#include "runtime/multinode/serve.hpp"
#include "runtime/node/persistent/parts.hpp"
#include "runtime/progress/spin_limits.hpp"
#include "runtime/statistics/statistics.hpp"

namespace espalier::runtime {
namespace {

using collective::PersistentSpec;

/// What a rank says of its part.
struct Told {
  Part part;
  char why[96];  ///< it is unable
};

/// The reason of the first rank that is unable; empty: all are able.
std::string why_unable(const ByRank<Told>& all) {
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const Told& told = all[rank];
    if (told.part.unable == Unable::no) continue;
    const std::size_t length = strnlen(told.why, sizeof told.why);
    return formatted("rank {}: {}", rank, std::string_view(told.why, length));
  }
  return "";
}

/// A misfit among all ranks' blocks; empty: there is none. Where all blocks have one length, comparing the calls
/// has compared them.
std::string find_misfits(across::Meeting& meeting, const PersistentSpec& spec,
                         const collective::RankInfo& info) {
  if (!traits(spec.collective).has_v_form) return "";
  const auto ranks = static_cast<std::size_t>(info.size);
  ByRank<std::uint64_t> given(ranks), comes(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank)
    given[rank] = spec.places.empty() ? 0 : spec.places[rank].bytes;
  meeting.exchange(given, comes);
  Cells cells(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank) cells[rank] = {0, comes[rank], 0, 0};
  Misfit mine = find_misfit(spec, info.rank, cells);
  ByRank<Misfit> misfits(ranks);
  meeting.gather(mine, misfits);
  return print_misfit(misfits);
}

statistics::Row* row_of_starts(const machine::CallFacts& call, int ranks) {
  if (!statistics::enabled()) return nullptr;
  statistics::Call counted{call.collective, call.bytes, plan::Algorithm::exchange,
                           statistics::Carrier::messages};
  counted.persistent = true;
  return statistics::take_row(counted, ranks);
}

}  // namespace

/// Whatever the collective, as all ranks know alike.
bool MultiNodeCommunicator::prepares_across() const {
  return Config::instance().flag("ESPALIER_PERSISTENT") && !plan::nonblocking_is_off() &&
         !plan::nonblocking_over_nodes_is_always_hosts(plan::known_host(), size());
}

std::shared_ptr<across::Channel> MultiNodeCommunicator::open_stream(int stream) {
  if (!mail_) open_mail();
  return across::Channel::open(mail_, rank(), stream, nullptr, spin_limits_for(nodes_.ranks_per_core, true));
}

Refusal MultiNodeCommunicator::refuse_to_prepare(const PersistentSpec&) {
  if (!prepares_across()) return Refusal::left_to_host;
  if (!meetings_) meetings_ = open_stream(across::meetings_stream);
  meetings_->note_blocking(calls_.number());
  Told mine{};
  mine.part.unable = Unable::has_left;
  std::strncpy(mine.why, bad_arguments, sizeof mine.why - 1);
  across::Meeting(meetings_, {rank(), size()}).tell(mine);
  mail_->lose_tags();  // the others' letters stay without a reader
  return Refusal::left_to_host;
}

std::unique_ptr<SeparateCall> MultiNodeCommunicator::prepare_across(const PersistentSpec& spec,
                                                                    const reduce::Operation* operation,
                                                                    const std::string& unable,
                                                                    std::string& why) {
  if (!prepares_across()) return nullptr;
  if (!failed_.empty()) throw_out_of_step(failed_);
  if (!meetings_) meetings_ = open_stream(across::meetings_stream);
  meetings_->note_blocking(calls_.number());
  const collective::RankInfo info{rank(), size()};
  across::Meeting meeting(meetings_, info);
  Told mine{part_of_rank(spec, collective::LayoutCells(spec, info.rank), info.rank, info.size,
                         unable.empty() ? Unable::no : Unable::says_why),
            {}};
  std::strncpy(mine.why, unable.c_str(), sizeof mine.why - 1);
  ByRank<Told> told(static_cast<std::size_t>(info.size));
  meeting.gather(mine, told);
  why = why_unable(told);
  if (!why.empty()) return nullptr;
  Parts parts(told.size());
  for (std::size_t rank = 0; rank < told.size(); ++rank) parts[rank] = told[rank].part;
  compare(parts);
  const machine::CallFacts facts = facts_of(parts[0]);
  if (operation && operation->at_once) return nullptr;
  if (is_hosts_across(facts, false, why)) return nullptr;
  why = find_misfits(meeting, spec, info);  // such a call works in hosts, and all ranks know of it
  if (!why.empty()) return nullptr;
  const PersistentSpec direct = collective::folded_by_root(spec, info.rank);
  return std::make_unique<across::CallAcross>(
      open_stream(++streams_), across::Wanted{facts, &direct, operation}, row_of_starts(facts, info.size));
}

}  // namespace espalier::runtime
