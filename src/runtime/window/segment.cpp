// How the ranks of a node make and map the memory of a window.
#include "runtime/window/segment.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <numeric>
#include <utility>

#include "base/config.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/token.hpp"
#include "runtime/process/handover_rounds.hpp"
#include "runtime/setup/eligibility.hpp"

namespace espalier::runtime {

// What a leader tells the ranks of its node. Plain bytes: it goes through the bootstrap.
struct WindowSegment::Offer {
  memory::HandoverTicket ticket;
  Transfer transfer;
};

namespace {

std::string name_of(std::uint64_t token) { return formatted("/espalier-window-{:016x}", token); }

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

// All ranks throw the reason of the first rank that failed.
void agree_that_none_failed(const Bootstrap& bootstrap, bool failed, const std::string& why) {
  std::vector<int> ranks(static_cast<std::size_t>(bootstrap.size));
  std::iota(ranks.begin(), ranks.end(), 0);
  const std::string first = first_failure(exchange(bootstrap, outcome_of(!failed, why)), ranks);
  if (!first.empty()) throw Error(formatted("no memory for a window: {}", first));
}

}  // namespace

// Rounds of the bootstrap: the leaders' offers; connecting, where a descriptor is handed over; whether every
// rank has mapped its node's memory; whether the ranks of a node have bound the same memory.
WindowSegment::WindowSegment(const Bootstrap& bootstrap, const std::vector<int>& members, const Size& size)
    : bootstrap_rank_(bootstrap.rank), leader_(members.front()), members_(members), size_(size) {
  share(bootstrap);
  agree_that_none_failed(bootstrap, !segment_, why_);
  segment_.close_descriptor();
  segment_.share_with_children(0, segment_.size());
  if (size.bound) check_bound(bootstrap);
}

// Tries an anonymous file first, and then a name.
void WindowSegment::create(Offer& offer, memory::DescriptorGiver& giver) {
  if (Config::instance().flag("ESPALIER_MEMFD")) segment_ = memory::Segment::create_memfd(total(size_), why_);
  if (segment_ && giver.listen(offer.ticket, why_)) {
    offer.transfer = Transfer::memfd;
  } else {
    segment_ = memory::Segment::create_named(name_of(offer.ticket.token), total(size_), why_);
    if (segment_) offer.transfer = Transfer::named;
  }
  if (segment_ && segment_.reserve(0, total(size_))) {
    why_.clear();
    return;
  }
  if (segment_)
    why_ = formatted("the machine has no {} of shared memory left ({})", print_bytes(total(size_)),
                     std::strerror(errno));
  if (offer.transfer == Transfer::named) memory::Segment::unlink(name_of(offer.ticket.token));
  segment_ = {};
  offer.transfer = Transfer::none;
}

// The rounds of a hand-over are made by all nodes or by none.
void WindowSegment::share(const Bootstrap& bootstrap) {
  Offer mine{{random_token(), random_token()}, Transfer::none};
  memory::DescriptorGiver giver;
  if (leads()) create(mine, giver);
  const auto offers = exchange(bootstrap, mine);
  const Offer& offer = offers[static_cast<std::size_t>(leader_)];
  memory::DescriptorTaker taker(offer.ticket);
  const auto hands_over = [](const Offer& each) { return each.transfer == Transfer::memfd; };
  bool all_connected = true;
  if (std::any_of(offers.begin(), offers.end(), hands_over)) {
    HandoverSides sides;
    if (hands_over(offer)) (leads() ? void(sides.giver = &giver) : void(sides.taker = &taker));
    all_connected = connect(bootstrap, members_, sides, why_);
  }
  const bool gives = all_connected && leads() && hands_over(offer);
  if (!all_connected || (gives && !giver.give(segment_.descriptor(), members_.size() - 1, why_)))
    segment_ = {};
  else if (!leads())
    map(offer, taker, bootstrap);
  exchange(bootstrap, std::int32_t{1});  // all ranks have tried to map it
  if (leads() && offer.transfer == Transfer::named) memory::Segment::unlink(name_of(offer.ticket.token));
}

void WindowSegment::map(const Offer& offer, memory::DescriptorTaker& taker, const Bootstrap& bootstrap) {
  if (offer.transfer == Transfer::named)
    segment_ = memory::Segment::open_named(name_of(offer.ticket.token), total(size_), why_);
  if (offer.transfer != Transfer::memfd) return;
  Descriptor descriptor = taker.take(handover_timeout_ms(bootstrap), why_);
  if (descriptor) segment_ = memory::Segment::adopt(std::move(descriptor), total(size_), why_);
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
  agree_that_none_failed(bootstrap, !same, why);
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
