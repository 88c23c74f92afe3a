#include "memory/share_directory.hpp"

#include "memory/robust_lock.hpp"

namespace espalier::memory {
namespace {

constexpr std::uint64_t refused = ~std::uint64_t{0};  // of slots_bytes
constexpr std::uint64_t most_idle = 256;

}  // namespace

void ShareDirectory::found() { RobustLock::initialise(table_->mutex); }

// Chains are changed by one store each, so that they are whole also when a process dies with the lock.
void ShareDirectory::link(std::uint64_t& head, Next next, std::uint64_t offset) const {
  at(offset).*next = head;
  head = offset;
}

void ShareDirectory::unlink(std::uint64_t& head, Next next, std::uint64_t offset) const {
  std::uint64_t* place = &head;
  while (is_place(*place) && *place != offset) place = &(at(*place).*next);
  if (*place == offset) *place = at(offset).*next;
}

template <class IsIt>
std::uint64_t ShareDirectory::find(std::uint64_t first, Next next, IsIt is_it) const {
  while (is_place(first) && !is_it(first, at(first))) first = at(first).*next;
  return is_place(first) ? first : 0;
}

std::uint64_t ShareDirectory::find_in_use(const Identity& communicator) const {
  return find(chain(table_->of_communicators, communicator), &Registration::next,
              [&](std::uint64_t, const Registration& each) { return each.communicator == communicator; });
}

// Other processes can write to the chains: no offset counts that is not one of this arena.
bool ShareDirectory::is_place(std::uint64_t offset) const {
  return offset != 0 && arena_->holds({offset, registration_ + sizeof(Registration)});
}

void ShareDirectory::give_back(std::uint64_t offset) {
  const Registration share = at(offset);
  at(offset).generation = 0;
  if (share.slots != 0) arena_->free({share.slots, share.slots_bytes});
  arena_->free({offset, share.bytes});
}

void ShareDirectory::give_back_idle() {
  for (std::uint64_t& head : table_->idle_of_groups)
    while (is_place(head)) {
      const std::uint64_t offset = head;
      head = at(offset).next_idle;
      give_back(offset);
    }
  table_->idle = 0;
}

Share ShareDirectory::allocate(std::uint64_t bytes) {
  const Share share = arena_->allocate(bytes);
  if (share || table_->idle == 0) return share;
  give_back_idle();
  return arena_->allocate(bytes);
}

bool ShareDirectory::is_scarce() const { return arena_->used() > arena_->budget() / 2; }

std::uint64_t ShareDirectory::allot(const Identity& communicator, const Identity& group, int ranks,
                                    const NewShare& wanted,
                                    const std::function<bool(std::uint64_t offset)>& prepare) {
  const Share share = allocate(wanted.bytes);
  if (!share) return 0;
  if (!prepare(share.offset)) {
    arena_->free(share);
    return 0;
  }
  Registration& registration = at(share.offset);
  registration = {};
  registration.communicator = communicator;
  registration.group = group;
  registration.generation = ++table_->generation;
  registration.bytes = share.bytes;
  registration.ranks_per_core = wanted.ranks_per_core;
  registration.ranks = ranks;
  registration.slot_count = wanted.slot_count;
  registration.many_pairwise = wanted.many_pairwise;
  return share.offset;
}

ShareDirectory::Found ShareDirectory::obtain(const Identity& communicator, const Identity& group, int ranks,
                                             const std::function<NewShare()>& make,
                                             const std::function<bool(std::uint64_t offset)>& prepare) {
  const RobustLock lock(table_->mutex);
  std::uint64_t offset = find_in_use(communicator);
  if (offset != 0) return {offset, at(offset)};
  if (table_->exhausted) return {};
  std::uint64_t& idle = chain(table_->idle_of_groups, group);
  offset = find(idle, &Registration::next_idle,
                [&](std::uint64_t, const Registration& each) { return each.group == group; });
  if (offset != 0) {
    unlink(idle, &Registration::next_idle, offset);
    --table_->idle;
    at(offset).communicator = communicator;
  } else {
    offset = allot(communicator, group, ranks, make(), prepare);
  }
  if (offset == 0) {
    table_->exhausted = 1;
    return {};
  }
  link(chain(table_->of_communicators, communicator), &Registration::next, offset);
  return {offset, at(offset)};
}

bool ShareDirectory::has(const Identity& communicator) {
  const RobustLock lock(table_->mutex);
  return find_in_use(communicator) != 0;
}

std::uint64_t ShareDirectory::obtain_slots(std::uint64_t offset, std::uint64_t bytes,
                                           const std::function<bool(Share slots)>& back) {
  const RobustLock lock(table_->mutex);
  Registration& registration = at(offset);
  if (registration.slots_bytes != 0) return registration.slots;
  // Not before there is an answer: a rank that dies here leaves the question to the next one.
  const Share slots = allocate(bytes);
  const bool backed = slots && back(slots);
  if (slots && !backed) arena_->free(slots);
  registration.slots = backed ? slots.offset : 0;
  registration.slots_bytes = backed ? bytes : refused;
  return registration.slots;
}

void ShareDirectory::leave(std::uint64_t offset, bool spoiled, const std::function<void()>& clean) {
  const RobustLock lock(table_->mutex);
  Registration& registration = at(offset);
  registration.spoiled |= spoiled;
  if (++registration.left < registration.ranks) return;
  clean();
  unlink(chain(table_->of_communicators, registration.communicator), &Registration::next, offset);
  const bool reusable = !registration.spoiled && registration.slots_bytes != refused;
  if (!reusable || is_scarce() || table_->idle >= most_idle) return give_back(offset);
  registration.left = 0;
  link(chain(table_->idle_of_groups, registration.group), &Registration::next_idle, offset);
  ++table_->idle;
}

// What lies there may be another share's by now; it does not look like this registration then.
bool ShareDirectory::is_kept(std::uint64_t offset, const Identity& group, std::uint64_t generation) {
  const RobustLock lock(table_->mutex);
  return is_place(offset) && at(offset).generation == generation && at(offset).group == group;
}

}  // namespace espalier::memory
