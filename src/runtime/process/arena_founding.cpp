// Makes, offers, maps and agrees on the arena of a node.
#include "runtime/process/arena_founding.hpp"

#include <algorithm>
#include <utility>

#include "base/config.hpp"
#include "base/format.hpp"
#include "base/token.hpp"
#include "memory/copy/handover.hpp"
#include "runtime/process/handover_rounds.hpp"

namespace espalier::runtime {

// What a node's first member offers. Plain bytes: it crosses the bootstrap.
struct ArenaFounding::Offer {
  std::uint64_t bytes;
  std::uint64_t key;  // of the hand-over
  Transfer transfer;
};

ArenaFounding::ArenaFounding(const Bootstrap& world, const std::vector<int>& members, std::uint64_t token)
    : world_(world), members_(members), ticket_{token, random_token()} {}

std::string ArenaFounding::name() const { return formatted("/espalier-{:016x}", ticket_.token); }

memory::Segment ArenaFounding::create(std::size_t bytes) {
  memory::Segment segment;
  const bool alone = members_.size() == 1;
  if (Config::instance().flag("ESPALIER_MEMFD")) segment = memory::Segment::create_memfd(bytes, why_);
  if (segment && (alone || giver_.listen(ticket_, why_))) {
    transfer_ = alone ? Transfer::none : Transfer::memfd;
    return segment;
  }
  std::string why;
  segment = memory::Segment::create_named(name(), bytes, why);
  if (segment) transfer_ = Transfer::named;
  why_ += why_.empty() || why.empty() ? why : "; " + why;
  return segment;
}

std::unique_ptr<memory::Arena> ArenaFounding::found(std::size_t bytes, std::size_t notes_bytes) {
  memory::Segment segment = create(bytes);
  if (!segment) return nullptr;
  auto arena = memory::Arena::found(std::move(segment), notes_bytes, why_);
  if (arena) return arena;
  if (transfer_ == Transfer::named) memory::Segment::unlink(name());
  transfer_ = Transfer::none;
  return nullptr;
}

std::unique_ptr<memory::Arena> ArenaFounding::obtain(std::size_t bytes, std::size_t notes_bytes) {
  std::unique_ptr<memory::Arena> arena = leads() ? found(bytes, notes_bytes) : nullptr;
  const auto offers = exchange(world_, Offer{bytes, ticket_.key, transfer_});
  Offer offer{};
  if (!members_.empty()) offer = offers[static_cast<std::size_t>(members_.front())];
  ticket_.key = offer.key;
  memory::DescriptorTaker taker(ticket_);
  const auto hands_over = [](const Offer& each) { return each.transfer == Transfer::memfd; };
  if (std::any_of(offers.begin(), offers.end(), hands_over)) {
    HandoverSides sides;
    if (hands_over(offer)) (leads() ? void(sides.giver = &giver_) : void(sides.taker = &taker));
    if (!connect(world_, members_, sides, why_)) return nullptr;
  }
  if (!leads()) return map(offer, taker, notes_bytes);
  const bool gave = !hands_over(offer) || giver_.give(arena->descriptor(), members_.size() - 1, why_);
  return gave ? std::move(arena) : nullptr;
}

std::unique_ptr<memory::Arena> ArenaFounding::map(const Offer& offer, memory::DescriptorTaker& taker,
                                                  std::size_t notes_bytes) {
  memory::Segment segment;
  if (offer.transfer == Transfer::none) return nullptr;
  if (offer.transfer == Transfer::memfd) {
    Descriptor descriptor = taker.take(handover_timeout_ms(world_), why_);
    if (descriptor) segment = memory::Segment::adopt(std::move(descriptor), offer.bytes, why_);
  } else {
    segment = memory::Segment::open_named(name(), offer.bytes, why_);
  }
  return segment ? memory::Arena::join(std::move(segment), notes_bytes, why_) : nullptr;
}

void ArenaFounding::agree(std::unique_ptr<memory::Arena>& arena, std::string& why) {
  const auto outcomes = exchange(world_, outcome_of(arena != nullptr, why_));
  // A name is needed only until every rank has tried to map it.
  if (transfer_ == Transfer::named) memory::Segment::unlink(name());
  why = first_failure(outcomes, members_);
  if (!why.empty()) arena.reset();
}

}  // namespace espalier::runtime
