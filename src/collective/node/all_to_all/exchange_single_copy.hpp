// Allgather(v) and alltoall with one copy: every rank says where its buffer lies, and reads the others' there
// (DESIGN, idea 2: a flag whose data is an address). No rank waits for another's next chunk.
#pragma once

#include <cstdint>
#include <cstring>

#include "collective/core/blocks.hpp"
#include "collective/core/zero_copy_blocks.hpp"

namespace espalier::collective {

namespace detail {

/// Where others may read `bytes` of this rank's; 0: they may not.
template <Machine M>
std::uint64_t address_for_others(M& m, const void* source, std::size_t bytes, const Plan& plan) {
  if (bytes == 0) return 1;  // no rank reads there
  return m.can_expose(source, bytes, by_kernel(plan)) ? reinterpret_cast<std::uint64_t>(source) : 0;
}

/// Calls hear(peer, address) for each of the others, and when all have been heard act(step), in which this
/// rank may use the step's other line. False, without act(), if there is a rank whose buffer others may not
/// read: all ranks know that then, and what has been heard is for nothing. No rank leaves before all have
/// read.
template <Machine M, class Hear, class Act>
bool exchange_addresses(M& m, std::uint64_t mine, const Hear& hear, const Act& act) {
  const Steps steps = m.advance(1);
  const Step step = steps.last();
  m.reserve(steps);
  m.publish_inline(Channel::gather, step, &mine, sizeof mine);
  bool all = mine != 0;
  // Each starts behind itself, so that not all read the same memory.
  for (int i = 1; i < m.size(); ++i) {
    const int peer = rank_behind(m, i);
    m.await(Channel::gather, peer, step);
    std::uint64_t theirs;
    std::memcpy(&theirs, m.inline_data(Channel::gather, peer, step), sizeof theirs);
    all &= theirs != 0;
    if (all) hear(peer, theirs);
  }
  if (all) act(step);
  m.finish(step);
  for (const int reader : m.other_ranks()) m.await_finish(reader, step);
  return all;
}
template <Machine M, class Hear>
bool exchange_addresses(M& m, std::uint64_t mine, const Hear& hear) {
  return exchange_addresses(m, mine, hear, [](Step) {});
}

}  // namespace detail

/// Whether all ranks say yes: all know it then.
template <Machine M>
bool all_expose(M& m, bool mine) {
  return detail::exchange_addresses(m, mine, [](int, std::uint64_t) {});
}

/// As allgather(), in which it is a part; false, with the result undefined, where a rank's block is not to be
/// read by others: the same on all ranks.
template <Machine M, class B>
bool allgather_single_copy(M& m, const void* own, void* receive, const B& blocks, const Plan& plan) {
  const std::size_t mine = blocks.bytes_of(m.rank());
  const bool done = detail::exchange_addresses(
      m, detail::address_for_others(m, own, mine, plan), [&](int peer, std::uint64_t address) {
        if (const std::size_t bytes = blocks.bytes_of(peer); bytes > 0)
          pull_block(m, peer, at(receive, blocks.offset_of(peer)), address, bytes);
      });
  copy_own(m, at(receive, blocks.offset_of(m.rank())), own, Part{0, mine});
  return done;
}

/// Part of alltoall() likewise. A rank whose `send` is `receive` lets no rank read, for it would overwrite
/// what others have not read yet.
template <Machine M>
bool alltoall_single_copy(M& m, const void* send, void* receive, std::size_t bytes, const Plan& plan) {
  const EqualBlocks blocks{bytes};
  const std::uint64_t mine =
      send == receive ? 0 : detail::address_for_others(m, send, blocks.offset_of(m.size()), plan);
  const bool done = detail::exchange_addresses(m, mine, [&](int peer, std::uint64_t address) {
    pull_block(m, peer, at(receive, blocks.offset_of(peer)), address + blocks.offset_of(m.rank()), bytes);
  });
  const std::size_t own = blocks.offset_of(m.rank());
  copy_own(m, at(receive, own), at(send, own), Part{0, bytes});
  return done;
}

}  // namespace espalier::collective
