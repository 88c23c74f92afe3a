// How ranks prepare a persistent collective: they compare what each of them wants, and share memory for what
// they give each other. Of short ones and of those of two ranks they tell each other all in one exchange.
#include <algorithm>
#include <cstring>
#include <utility>

#include "base/config.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "collective/node/all_to_all/allgather.hpp"
#include "runtime/communicator/persistent.hpp"
#include "runtime/communicator/persistent_meeting.hpp"
#include "runtime/node/node_communicator.hpp"
#include "runtime/node/persistent/meeting.hpp"
#include "runtime/node/persistent/parts.hpp"
#include "runtime/node/persistent/share.hpp"

namespace espalier::runtime {
namespace {

using collective::BufferLayout;
using collective::LayoutCells;
using collective::PersistentSpec;

constexpr const char* no_room =
    "the shared-memory budget has no room left for a persistent collective (see ESPALIER_SHM)";

/// Why a rank is unable.
struct Reason {
  char text[memory::inline_capacity];
};

/// A share that goes back to the arena unless a persistent collective takes it.
class HeldShare {
 public:
  explicit HeldShare(memory::Arena& arena) : arena_(arena) {}
  HeldShare(const HeldShare&) = delete;
  HeldShare& operator=(const HeldShare&) = delete;
  ~HeldShare() { hold({}); }
  void hold(memory::Share share) {
    if (share_) arena_.free(share_);
    share_ = share;
  }
  void release() { share_ = {}; }
  memory::Share share() const { return share_; }

 private:
  memory::Arena& arena_;
  memory::Share share_;
};

/// What one rank does to prepare one collective. Each function that exchanges something is called by all ranks
/// or by none.
class Setup {
 public:
  /// `lines`: where the ranks meet that may not all come; null: they come all.
  Setup(SharedState& state, const Bootstrap& host, KeptNonblocking lines)
      : state_(state), host_(host), lines_(std::move(lines)), held_(state.arena) {}
  std::unique_ptr<Persistent> run(PersistentSpec& spec, const std::string& unable, std::string& why);

 private:
  int rank() const { return host_.rank; }
  int size() const { return host_.size; }

  template <class T>
  void exchange(const T& mine, ByRank<T>& all);
  void exchange_parts(const PersistentSpec& spec, const LayoutCells& own, bool is_unable);
  std::string why_unable(const std::string& unable);
  bool obtain_share(const PersistentSpec& spec, const LayoutCells& own, const ShareLayout& share_layout);
  bool obtain_unoffered(std::size_t bytes);
  void find_cells(const PersistentSpec& spec, const LayoutCells& own, const BufferLayout& layout,
                  Cells& cells);
  std::string find_misfits(const PersistentSpec& spec, const Cells& cells);

  SharedState& state_;
  const Bootstrap& host_;
  KeptNonblocking lines_;
  HeldShare held_;  ///< rank 0's
  memory::Share share_;
  Parts all_;
};

// Through the communicator's own flag lines, unless a rule leaves that to the host.
template <class T>
void Setup::exchange(const T& mine, ByRank<T>& all) {
  static_assert(sizeof(T) <= memory::inline_capacity, "a communicator of short calls needs no slots for it");
  all.make(static_cast<std::size_t>(size()));
  const auto* const data = reinterpret_cast<const std::byte*>(&mine);
  const bool served = state_.serve_uncounted(Collective::allgather, sizeof(T), [&](const plan::Plan& plan) {
    collective::allgather(state_.machine, data, reinterpret_cast<std::byte*>(all.begin()),
                          collective::EqualBlocks{sizeof(T)}, plan);
  });
  if (!served) host_.allgather(&mine, all.begin(), sizeof(T));
}

void Setup::exchange_parts(const PersistentSpec& spec, const LayoutCells& own, bool is_unable) {
  Part mine = part_of_rank(spec, own, rank(), size(), is_unable ? Unable::says_why : Unable::no);
  if (rank() == 0 && !is_unable) {
    const memory::Share offered = offer_share(state_, spec, own.bytes);
    held_.hold(offered);
    mine.offered = offered.offset;
    mine.offered_bytes = static_cast<std::uint32_t>(offered.bytes);
  }
  all_.make(static_cast<std::size_t>(size()));
  if (!lines_ || !meet_in_lines(*lines_, rank(), mine, all_)) exchange(mine, all_);
}

/// The reason of the first rank that is unable; empty: all ranks are able.
std::string Setup::why_unable(const std::string& unable) {
  const Part* const first =
      std::find_if(all_.begin(), all_.end(), [](const Part& part) { return part.unable != Unable::no; });
  if (first == all_.end()) return "";
  const int left = find_rank_that_left(all_);
  if (left >= 0) return formatted("rank {}: {}", left, bad_arguments);
  Reason mine{};
  std::strncpy(mine.text, unable.c_str(), sizeof mine.text - 1);
  ByRank<Reason> reasons;
  exchange(mine, reasons);
  const auto rank = static_cast<std::size_t>(first - all_.begin());
  return formatted("rank {}: {}", rank, reasons[rank].text);
}

/// The share that rank 0 has offered, if it has room for all, or another one, with memory and with all ranks'
/// cells where they are needed. False: there is no memory.
bool Setup::obtain_share(const PersistentSpec& spec, const LayoutCells& own,
                         const ShareLayout& share_layout) {
  const BufferLayout& layout = share_layout.buffer_layout;
  share_ = {static_cast<std::size_t>(all_[0].offered), all_[0].offered_bytes};
  const bool is_offered = share_ && has_room(share_.bytes, share_layout);
  if (!is_offered && !obtain_unoffered(layout.end())) return false;
  if (!state_.arena.holds(share_)) throw Error("rank 0 offers memory that the node does not have");
  // Rank 0 has backed what it offers; here it is only mapped, so that no rank pays for it in a call.
  if (is_offered && rank() != 0) state_.arena.reserve_around(share_);
  const bool by_table = size() > 2 && needs_cells(spec, layout);
  if (is_offered && !by_table) return true;
  const bool has_memory = is_offered || open_region(state_.arena, share_, share_layout, rank());
  if (has_memory && by_table) write_cells(state_.arena.at(share_.offset), layout, rank(), own);
  ByRank<std::int32_t> opened;
  exchange(static_cast<std::int32_t>(has_memory), opened);
  return std::count(opened.begin(), opened.end(), 0) == 0;
}

bool Setup::obtain_unoffered(std::size_t bytes) {
  if (rank() == 0) {
    held_.hold({});
    held_.hold(state_.arena.allocate(bytes));
  }
  ByRank<std::uint64_t> offsets;
  exchange(static_cast<std::uint64_t>(held_.share().offset), offsets);
  share_ = {static_cast<std::size_t>(offsets[0]), bytes};
  return share_.offset != 0;
}

/// The cell of each rank for this one: where that rank's block for it lies.
void Setup::find_cells(const PersistentSpec& spec, const LayoutCells& own, const BufferLayout& layout,
                       Cells& cells) {
  const auto me = static_cast<std::size_t>(rank());
  cells.make(static_cast<std::size_t>(size()));
  if (size() == 2) {
    cells[me] = own.of[me];
    cells[1 - me] = all_[1 - me].cell;
  } else if (needs_cells(spec, layout)) {
    read_cells(state_.arena.at(share_.offset), layout, rank(), cells);
  } else {
    std::fill(cells.begin(), cells.end(), collective::LayoutCell{});
  }
  check(cells, all_, rank());
}

/// A misfit among all ranks' blocks; empty: there is none.
std::string Setup::find_misfits(const PersistentSpec& spec, const Cells& cells) {
  // Where all blocks have one length, comparing the calls has compared them.
  if (!traits(spec.collective).has_v_form) return "";
  ByRank<Misfit> misfits;
  if (size() > 2) {
    exchange(find_misfit(spec, rank(), cells), misfits);
  } else {
    misfits.make(2);
    misfits[0] = find_misfit_of_two(all_, 0);
    misfits[1] = find_misfit_of_two(all_, 1);
  }
  return print_misfit(misfits);
}

std::unique_ptr<Persistent> Setup::run(PersistentSpec& spec, const std::string& unable, std::string& why) {
  const LayoutCells own(spec, rank());
  exchange_parts(spec, own, !unable.empty());
  why = why_unable(unable);
  if (!why.empty()) return nullptr;
  compare(all_);
  why = no_room;
  if (!are_possible(all_, state_.arena.budget())) return nullptr;
  Contributions contributions;
  read_contributions(all_, contributions);
  const ShareLayout share_layout(moves_as(spec), contributions);
  const BufferLayout& buffer_layout = share_layout.buffer_layout;
  if (!obtain_share(spec, own, share_layout)) return nullptr;
  why.clear();
  Cells cells;
  find_cells(spec, own, buffer_layout, cells);
  why = find_misfits(spec, cells);  // such a call works in hosts, and all ranks know of it
  if (!why.empty()) return nullptr;
  auto made = std::make_unique<Persistent>(
      state_.arena, share_, share_layout.layout, rank(), state_.machine.waiter().policy(),
      buffer_layout.prepare(spec, own, rank(), state_.arena.at(share_.offset), cells), facts_of(all_[0]));
  held_.release();
  return made;
}

}  // namespace

std::unique_ptr<Persistent> NodeCommunicator::prepare(const Bootstrap& host, PersistentSpec& spec,
                                                      const std::string& unable, std::string& why) {
  static const bool is_on = Config::instance().flag("ESPALIER_PERSISTENT");
  if (!is_on) return nullptr;  // switched off by the user
  const bool may_be_left = !traits(spec.collective).has_v_form;
  return Setup(state_, host, may_be_left ? lines() : nullptr).run(spec, unable, why);
}

}  // namespace espalier::runtime
