// Writes bytes over the header of an arena, and then joins and uses it (src/memory/arena.hpp): whatever another
// process writes there, this one stays within its segment.
#include <unistd.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "memory/arena.hpp"

using namespace espalier::memory;

namespace {

constexpr std::size_t bytes = 1 << 20, notes = 4096;
constexpr std::size_t facts = 48;  // what stands in front of the lock, which a process must not spoil
constexpr std::size_t map_at = facts + 40;

void use(Arena& arena, std::size_t wanted, const Share& offered) {
  if (arena.notes() + arena.notes_capacity() > arena.at(bytes)) std::abort();
  const Share share = arena.allocate(wanted);
  if (share && !arena.holds(share)) std::abort();
  if (share) std::memset(arena.at(share.offset), 1, std::min(share.bytes, wanted));
  arena.free(share);
  if (arena.holds(offered) && offered.offset + offered.bytes > bytes) std::abort();
  arena.reserve(offered, 0, std::min<std::size_t>(offered.bytes, 4096));
  arena.free(offered);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 24) return 0;
  std::string why;
  Segment segment = Segment::create_memfd(bytes, why);
  if (!segment) return 0;
  const int descriptor = dup(segment.descriptor());
  const auto founder = Arena::found(std::move(segment), notes, why);
  if (!founder) std::abort();
  std::uint64_t words[3];
  std::memcpy(words, data, sizeof words);
  const std::uint8_t* rest = data + sizeof words;
  const std::size_t left = size - sizeof words;
  auto* const header = reinterpret_cast<std::uint8_t*>(founder->at(0));
  if (words[0] & 1) std::copy_n(rest, std::min(left, facts), header);
  if (left > facts) std::copy_n(rest + facts, std::min<std::size_t>(left - facts, 16), header + map_at);
  const auto joined = Arena::join(Segment::adopt(espalier::Descriptor(descriptor), bytes, why), notes, why);
  for (Arena* arena : {founder.get(), joined.get()})
    if (arena) use(*arena, words[0] % (2 * bytes), {words[1], words[2]});
  return 0;
}
