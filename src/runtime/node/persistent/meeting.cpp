// How ranks prepare a short persistent collective without waiting for each other: in _init each tells what it
// wants, through lines of the communicator's nonblocking calls, and the first of them makes the memory. What
// the others want they read at their first start.
#include <utility>

#include "base/config.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "runtime/communicator/nonblocking.hpp"
#include "runtime/communicator/persistent.hpp"
#include "runtime/communicator/persistent_meeting.hpp"
#include "runtime/communicator/share_release.hpp"
#include "runtime/failure/call_records.hpp"
#include "runtime/node/node_communicator.hpp"
#include "runtime/node/persistent/meeting.hpp"
#include "runtime/node/persistent/parts.hpp"
#include "runtime/node/persistent/share.hpp"

namespace espalier::runtime {
namespace {

using collective::LayoutCells;
using collective::PersistentSpec;
using memory::Step;

static_assert(sizeof(Part) <= collective::line_capacity);

/// Whether all ranks give so few bytes that they ride in flag lines, at the same place for all readers. As all
/// ranks know alike.
bool rides_in_lines(const PersistentSpec& spec) {
  return spec.bytes <= memory::inline_capacity && spec.collective != Collective::scatter &&
         spec.collective != Collective::alltoall;
}

/// Longer ones of two ranks would do, too, but their starts were measured to take longer then (docs/experiments.md).
bool is_short(const PersistentSpec& spec) {
  return !traits(spec.collective).has_v_form && rides_in_lines(spec);
}

/// A share that lies within the arena, as a word of Agreed; 0: none.
struct ShareWord {
  static constexpr int page_bits = 8;
  static std::uint64_t of(memory::Share share) {
    const std::size_t pages = (share.bytes + machine::Layout::page - 1) / machine::Layout::page;
    return share ? share.offset / sizeof(memory::FlagLine) << page_bits | pages : 0;
  }
  static memory::Share share(std::uint64_t word) {
    return {(word >> page_bits) * sizeof(memory::FlagLine),
            (word & ((1 << page_bits) - 1)) * machine::Layout::page};
  }
};

/// Words of Agreed that name no share: whose offers are none.
constexpr std::uint64_t nothing_offered = 1;

/// The call in which all tell `mine`, and `all` are gathered.
void make_meeting(Nonblocking::Call& call, const collective::RankInfo& rank_info, const Part& mine,
                  Part* all) {
  call.is_brief = true;
  call.spec.collective = Collective::allgather;
  call.spec.bytes = sizeof(Part);
  call.brief = collective::brief_of_equal_blocks(Collective::allgather, 0, rank_info,
                                                 reinterpret_cast<const std::byte*>(&mine),
                                                 reinterpret_cast<std::byte*>(all), sizeof(Part));
}
constexpr machine::CallFacts meeting_facts{Collective::allgather, 0, sizeof(Part), reduce::no_operation};

memory::Share offer(const SharedState& state, const PersistentSpec& spec, const LayoutCells& own) {
  if (!rides_in_lines(spec)) return offer_share(state, spec, own.bytes);
  const std::size_t lines = persistent_lines(state.layout.ranks).bytes();
  return offer_lines(state, machine::Layout::round_up(lines, machine::Layout::page));
}

/// Of a rank that starts nothing there.
void leave_share(memory::Arena& arena, memory::Share share, int rank, int ranks) {
  const machine::Layout layout = persistent_lines(ranks);
  reinterpret_cast<CallRecords*>(arena.at(share.offset) + layout.calls(rank))->leave();
  if (is_last_to_leave(arena, share, layout)) arena.free(share);
}

class NodeMeeting final : public PersistentMeeting {
 public:
  NodeMeeting(SharedState& state, int rank, PersistentSpec&& spec, KeptNonblocking lines)
      : arena_(state.arena),
        policy_(state.machine.waiter().policy()),
        rank_(rank),
        size_(state.layout.ranks),
        spec_(std::move(spec)),
        own_(spec_, rank),
        mine_(part_of_rank(spec_, own_, rank, size_, Unable::no)),
        all_(static_cast<std::size_t>(size_)),
        lines_(std::move(lines)) {}

  ~NodeMeeting() override {
    if (is_open_) lines_->forget(call_);
    if (share_) leave_share(arena_, share_, rank_, size_);
  }

  /// False, on all ranks alike: there is no memory for it.
  bool begin(const SharedState& state);
  PersistentSpec& spec() { return spec_; }
  std::unique_ptr<Persistent> finish() override;

 private:
  /// So many calls at most a rank runs ahead of one that has not asked for them yet, or it would fill the memory
  /// with lines and shares. It may wait for that: MPI's function may wait for the other ranks, too.
  static constexpr Step most_ahead = 16;
  void meet();

  memory::Arena& arena_;
  machine::WaitPolicy policy_;
  int rank_, size_;
  PersistentSpec spec_;
  LayoutCells own_;
  Part mine_;
  Parts all_;
  KeptNonblocking lines_;
  Nonblocking::Call call_;
  bool is_open_ = false;  ///< the call is under way
  memory::Share share_;
};

bool NodeMeeting::begin(const SharedState& state) {
  make_meeting(call_, {rank_, size_}, mine_, all_.begin());
  memory::Share offered;
  const machine::Agreed agreed = lines_->start_meeting(call_, meeting_facts, [&] {
    offered = offer(state, spec_, own_);
    return ShareWord::of(offered);
  });
  if (offered && !agreed.by_this_rank) arena_.free(offered);
  if (agreed.value == 0) return false;
  is_open_ = true;
  if (agreed.value == nothing_offered) return true;  // the first rank has left, as finish() will say
  const memory::Share share = agreed.by_this_rank ? offered : ShareWord::share(agreed.value);
  if (!arena_.holds(share)) throw Error("a rank offers memory that the node does not have");
  share_ = share;
  if (!agreed.by_this_rank) arena_.reserve_around(share_);  // backed it is; this maps it
  if (call_.number % most_ahead == 0) meet();
  return true;
}

void NodeMeeting::meet() {
  if (!is_open_) return;
  lines_->complete(call_);
  is_open_ = false;
}

std::unique_ptr<Persistent> NodeMeeting::finish() {
  meet();
  if (const int left = find_rank_that_left(all_); left >= 0)
    throw Error(formatted("rank {} could not prepare its part: {}", left, bad_arguments));
  compare(all_);
  Contributions contributions;
  read_contributions(all_, contributions);
  const bool possible = share_ && are_possible(all_, arena_.budget());
  const ShareLayout share_layout(moves_as(spec_), contributions);
  const collective::BufferLayout& buffers = share_layout.buffer_layout;
  const bool fits = rides_in_lines(spec_) ? buffers.rides_in_lines(spec_) && buffers.slots() == 2
                                          : has_room(share_.bytes, share_layout);
  if (!possible || !fits)
    throw Error(
        "the ranks say of a persistent collective what cannot be; the node's shared memory is damaged");
  Cells cells(all_.size());
  std::fill(cells.begin(), cells.end(), collective::LayoutCell{});
  if (size_ == 2) {
    cells[static_cast<std::size_t>(rank_)] = own_.of[static_cast<std::size_t>(rank_)];
    cells[static_cast<std::size_t>(1 - rank_)] = all_[static_cast<std::size_t>(1 - rank_)].cell;
  }
  check(cells, all_, rank_);
  auto made = std::make_unique<Persistent>(
      arena_, share_, share_layout.layout, rank_, policy_,
      buffers.prepare(spec_, own_, rank_, arena_.at(share_.offset), cells), facts_of(all_[0]));
  share_ = {};
  return made;
}

/// A rank that leaves tells that, and waits for none.
std::uint64_t tell_and_leave(Nonblocking& lines, memory::Arena& arena, int rank, int ranks) {
  Part mine{};
  mine.unable = Unable::has_left;
  Parts all(static_cast<std::size_t>(ranks));
  Nonblocking::Call call;
  make_meeting(call, {rank, ranks}, mine, all.begin());
  const machine::Agreed agreed = lines.start_meeting(call, meeting_facts, [] { return nothing_offered; });
  if (agreed.value == 0) return 0;
  while (!call.published) lines.is_ready(call);
  lines.forget(call);
  if (agreed.value == nothing_offered) return agreed.value;
  const memory::Share share = ShareWord::share(agreed.value);
  if (!arena.holds(share)) throw Error("a rank offers memory that the node does not have");
  arena.reserve_around(share);
  leave_share(arena, share, rank, ranks);
  return agreed.value;
}

}  // namespace

bool meet_in_lines(Nonblocking& lines, int rank, const Part& mine, Parts& all) {
  Nonblocking::Call call;
  make_meeting(call, {rank, static_cast<int>(all.size())}, mine, all.begin());
  if (lines.start_meeting(call, meeting_facts, [] { return nothing_offered; }).value == 0) return false;
  try {
    lines.complete(call);
  } catch (...) {
    lines.forget(call);
    throw;
  }
  return true;
}

int find_rank_that_left(const Parts& all) {
  for (std::size_t rank = 0; rank < all.size(); ++rank)
    if (all[rank].unable == Unable::has_left) return static_cast<int>(rank);
  return -1;
}

// The others meet for a short one when they begin to prepare it, and look what this rank says when they start it. Where
// there is no memory for that, they meet again in prepare().
Refusal NodeCommunicator::refuse_to_prepare(const PersistentSpec& spec) {
  static const bool is_on = Config::instance().flag("ESPALIER_PERSISTENT");
  if (!is_on) return Refusal::left_to_host;
  const KeptNonblocking meeting_place = lines();
  for (const bool is_first : {true, false})
    if (meeting_place && tell_and_leave(*meeting_place, state_.arena, rank(), size()) != 0)
      return is_first && is_short(spec) ? Refusal::fails : Refusal::left_to_host;
  return Refusal::untold;
}

std::unique_ptr<PersistentMeeting> NodeCommunicator::begin_to_prepare(PersistentSpec& spec) {
  static const bool is_on = Config::instance().flag("ESPALIER_PERSISTENT");
  std::string why;
  if (!is_on || !is_short(spec)) return nullptr;
  KeptNonblocking lines = nonblocking(spec, why);
  if (!lines) return nullptr;
  auto meeting = std::make_unique<NodeMeeting>(state_, rank(), std::move(spec), std::move(lines));
  if (meeting->begin(state_)) return meeting;
  spec = std::move(meeting->spec());
  return nullptr;
}

}  // namespace espalier::runtime
