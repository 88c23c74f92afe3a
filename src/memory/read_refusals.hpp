// What the ranks of a node have learned of each other's memory since they met: reads that worked then may be
// refused later, where a process drops privileges or filters system calls.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>

namespace espalier::memory::read_refusals {

/// How a process reads another's memory.
enum class Way : std::uint32_t { kernel = 1, heaps = 2 };

/// `word`: where all ranks of the node see it, zero at first; nullptr: this process is by itself again.
void share(std::atomic<std::uint32_t>* word);

/// Whether a rank of the node has been refused: then no rank exposes memory to others that way any more.
bool known(Way way);

/// This process could not read that one's memory, for the reason `error`. The first of the node says so. One
/// refusal is enough: a rank that is refused once is likely to be refused again, and each time all wait for
/// it.
void note(Way way, pid_t process, int error);

}  // namespace espalier::memory::read_refusals
