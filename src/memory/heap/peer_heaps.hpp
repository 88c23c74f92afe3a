// The shared heaps of other processes, as this one sees them.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>

#include "memory/heap/shared_heap.hpp"

namespace espalier::memory::peer_heaps {

/// Whether this process can map that heap. Tries it, which takes some microseconds.
bool can_map(pid_t process, const HeapNotice& notice);

/// What a process says of its heap; nullptr: it is none that shares its heap.
using Directory = std::function<const HeapNotice*(pid_t process)>;

/// From now on find() asks there for a process that it has not met, once. All functions here are thread-safe.
void look_up_in(Directory given);

/// The address in this process of what lies at `address` in `process`, which may be this one. nullptr: it
/// lies in no heap that the directory knows, or the heap cannot be mapped any more. Maps as much of the heap
/// as is needed, when it is first needed.
const std::byte* find(pid_t process, const void* address, std::size_t bytes);

/// How often find() has found something in another process's heap so far.
std::uint64_t reads();

/// Unmaps all of them and forgets the directory; no thread of this process may be reading there.
void forget();

}  // namespace espalier::memory::peer_heaps
