// How the ranks of a node make and map the memory of a window.
#include "runtime/window/segment.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/config.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/token.hpp"
#include "memory/copy/handover.hpp"
#include "runtime/setup/eligibility.hpp"

namespace espalier::runtime {

// What a leader tells the ranks of its node. Plain bytes: it goes through the bootstrap.
struct WindowSegment::Offer {
  std::uint64_t token;   // 0: there is no memory
  std::int32_t by_name;  // the memory has a name; else its descriptor is handed over
  char why[116];
};

namespace {

// What ranks tell each other about a failure.
struct Outcome {
  std::int32_t failed;
  char why[124];
};

std::string window_token(std::uint64_t token) { return formatted("window-{:016x}", token); }
std::string name_of(std::uint64_t token) { return "/espalier-" + window_token(token); }

std::size_t landings_bytes(const WindowSegment::Size& size) {
  return size.landings ? network::Landings::words(size.ids) * sizeof(network::Landings::Word) : 0;
}

std::size_t data_offset(const WindowSegment::Size& size) {
  const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t bytes =
      landings_bytes(size) + static_cast<std::size_t>(size.ids) * sizeof(network::Notifications::Value);
  return (bytes + page - 1) / page * page;
}

std::size_t total(const WindowSegment::Size& size) {
  return data_offset(size) + (size.bound ? 0 : size.bytes);
}

// `why`: this rank's failure, or empty. All ranks throw that of the first rank that failed.
void agree_that_none_failed(const Bootstrap& bootstrap, const std::string& why) {
  Outcome mine{!why.empty(), {}};
  why.copy(mine.why, sizeof mine.why - 1);
  const auto all = exchange(bootstrap, mine);
  for (std::size_t rank = 0; rank < all.size(); ++rank)
    if (all[rank].failed) throw Error(formatted("no memory for a window: {} (rank {})", all[rank].why, rank));
}

}  // namespace

// Rounds of the bootstrap: the leaders' offers; whether every rank has mapped its node's memory; whether the
// ranks of a node have bound the same memory.
WindowSegment::WindowSegment(const Bootstrap& bootstrap, const std::vector<int>& members, const Size& size)
    : bootstrap_rank_(bootstrap.rank), leader_(members.front()), size_(size) {
  if (leads())
    lead(bootstrap, members.size() - 1);
  else
    follow(bootstrap);
  agree_that_none_failed(bootstrap, why_);
  segment_.close_descriptor();
  segment_.share_with_children(0, segment_.size());
  if (size.bound) check_bound(bootstrap);
}

void WindowSegment::create(Offer& offer) {
  offer.by_name = !Config::instance().flag("ESPALIER_MEMFD");
  if (!offer.by_name) segment_ = memory::Segment::create_memfd(total(size_), why_);
  if (!segment_) {
    segment_ = memory::Segment::create_named(name_of(offer.token), total(size_), why_);
    offer.by_name = 1;
  }
  if (segment_ && !segment_.reserve(0, total(size_))) {
    why_ = formatted("the machine has no {} of shared memory left", print_bytes(total(size_)));
    if (offer.by_name) memory::Segment::unlink(name_of(offer.token));
    segment_ = {};
  } else if (segment_) {
    why_.clear();
  }
}

void WindowSegment::lead(const Bootstrap& bootstrap, std::size_t receivers) {
  memory::Handover handover;
  Offer offer{random_token(), 0, {}};
  create(offer);
  if (segment_ && !offer.by_name && !handover.listen(window_token(offer.token), why_)) segment_ = {};
  if (!segment_) {
    offer.token = 0;
    why_.copy(offer.why, sizeof offer.why - 1);
  }
  exchange(bootstrap, offer);
  if (segment_ && !offer.by_name)
    handover.give(segment_.descriptor(), static_cast<int>(receivers), handover_timeout_ms, why_);
  exchange(bootstrap, std::int32_t{1});  // all ranks have tried to map it
  if (segment_ && offer.by_name) memory::Segment::unlink(name_of(offer.token));
}

void WindowSegment::follow(const Bootstrap& bootstrap) {
  const Offer offer = exchange(bootstrap, Offer{})[static_cast<std::size_t>(leader_)];
  why_ = offer.why;
  if (offer.token != 0 && offer.by_name) {
    segment_ = memory::Segment::open_named(name_of(offer.token), total(size_), why_);
  } else if (offer.token != 0) {
    Descriptor descriptor = memory::Handover::take(window_token(offer.token), handover_timeout_ms, why_);
    if (descriptor) segment_ = memory::Segment::adopt(std::move(descriptor), total(size_), why_);
  }
  if (segment_) why_.clear();
  exchange(bootstrap, std::int32_t{1});
}

// Ranks that bound different memory would see notifications without their data. So the leader writes a mark,
// and the others look for it.
void WindowSegment::check_bound(const Bootstrap& bootstrap) const {
  if (size_.bytes < sizeof(std::uint64_t)) return;
  std::uint64_t kept = 0;
  std::memcpy(&kept, size_.bound, sizeof kept);
  const std::uint64_t mark = random_token();
  if (leads()) std::memcpy(size_.bound, &mark, sizeof mark);
  const auto marks = exchange(bootstrap, mark);
  const bool same = std::memcmp(size_.bound, &marks[static_cast<std::size_t>(leader_)], sizeof mark) == 0;
  const std::string why =
      same ? "" : formatted("the memory that this rank binds is not that of rank {} of its node", leader_);
  exchange(bootstrap, std::int32_t{1});  // all ranks have looked
  if (leads()) std::memcpy(size_.bound, &kept, sizeof kept);
  agree_that_none_failed(bootstrap, why);
}

network::WindowMemory WindowSegment::memory() const {
  auto* values = reinterpret_cast<network::Notifications::Value*>(segment_.base() + landings_bytes(size_));
  std::byte* data = size_.bound ? size_.bound : segment_.base() + data_offset(size_);
  const network::Landings landings =
      size_.landings
          ? network::Landings(reinterpret_cast<network::Landings::Word*>(segment_.base()), size_.ids)
          : network::Landings();
  return {data, size_.bytes, network::Notifications(values, size_.ids, landings)};
}

}  // namespace espalier::runtime
