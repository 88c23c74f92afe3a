// What the ranks of a node have learned of each other's memory since they met: reads that worked then may be
// refused later, where a process drops privileges or filters system calls.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>

namespace espalier::memory::read_refusals {

/// How a process reads another's memory: `kernel` by process_vm_readv, `heaps` in shared heaps that it maps.
enum class Way : std::uint32_t { kernel = 1, heaps = 2 };

/// From now on refusals are noted in `word`, which all ranks of the node share and which is zero at first.
/// nullptr: from now on in this process alone.
void share(std::atomic<std::uint32_t>* word);

/// Whether a rank of the node has been refused: then no rank exposes memory to others that way any more.
bool known(Way way);

/// This process could not read the memory of `process`; `error` is the errno. The first rank of the node that
/// notes it prints a line. One refusal is enough: a rank that is refused once is likely to be refused again,
/// and each time all wait for it.
void note(Way way, pid_t process, int error);

}  // namespace espalier::memory::read_refusals
