// Copies past the caches, for what another core reads next.
//
// Before a core writes a line that another has read it must take it back, one round trip for each line, of
// which few are under way at once. Where cores are far from each other that takes longer than all else: 42 ns
// a line on an EPYC whose two ranks write and read at the same time, 5 times what a streaming store takes,
// which asks for no line at all (docs/performance.md).
#pragma once

#include <cstddef>

namespace espalier::memory {

/// Copies of so many bytes and more may go past the caches: none where the processor gains nothing by it.
extern std::size_t streaming_from;
/// Whether they do so always, or only where that is seen to be faster (slot_writer.hpp).
extern bool streams_always;
/// Always or never, whatever the processor. To be called before any copy.
void choose_streaming(bool wanted);

inline bool streams(std::size_t bytes) { return bytes >= streaming_from; }

/// memcpy by streaming stores. They are not ordered with any other store, release or not, until
/// settle_streams(). Such stores leave the ways into the caches free: as many bytes of `fetched`, if there is
/// one, come in meanwhile; nothing is read of it.
void stream_copy(void* target, const void* source, std::size_t bytes, const void* fetched = nullptr);

inline void settle_streams() {
#if defined(__x86_64__)
  __builtin_ia32_sfence();
#endif
}

}  // namespace espalier::memory
