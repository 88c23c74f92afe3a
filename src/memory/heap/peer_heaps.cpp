#include "memory/heap/peer_heaps.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "base/descriptor.hpp"
#include "base/format.hpp"
#include "base/process_exists.hpp"
#include "memory/read_refusals.hpp"
#include "memory/shared_file.hpp"

namespace espalier::memory::peer_heaps {
namespace {

struct View {
  void* base;
  std::size_t bytes;
};

struct Heap {
  HeapNotice notice{};
  std::vector<View> views;  // ever longer ones; another thread may still be reading in a shorter one
};

std::mutex mutex;                                           // of what follows
std::map<pid_t, Heap>& heaps = *new std::map<pid_t, Heap>;  // never destroyed, as Config
Directory& directory = *new Directory;                      // likewise
std::uint64_t found_so_far = 0;

/// Of a process that is not in the directory: a heap without bytes.
Heap& meet(pid_t process) {
  const auto [found, is_new] = heaps.try_emplace(process);
  const HeapNotice* notice = is_new && directory ? directory(process) : nullptr;
  if (notice && notice->exists) found->second.notice = *notice;
  return found->second;
}

/// The file that the process has under that number, if it is the heap.
Descriptor open_heap(pid_t process, const HeapNotice& notice) {
  Descriptor descriptor =
      open_file(formatted("/proc/{}/fd/{}", process, notice.descriptor).c_str(), O_RDONLY | O_NONBLOCK);
  if (!descriptor) return {};
  // A process may have closed its heap, and have any file under that number.
  std::string why;
  if (!is_own_file(descriptor.get(), notice.bytes, why) || !is_sealed(descriptor.get(), why)) {
    errno = EPERM;
    return {};
  }
  std::uint64_t mark = 0;
  if (pread(descriptor.get(), &mark, sizeof mark, 0) == sizeof mark && mark == notice.mark) return descriptor;
  errno = ENOENT;
  return {};
}

View map(pid_t process, const HeapNotice& notice, std::size_t bytes) {
  const Descriptor descriptor = open_heap(process, notice);
  if (!descriptor) return {nullptr, 0};
  void* base = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, descriptor.get(), 0);
  if (base == MAP_FAILED) return {nullptr, 0};
  madvise(base, bytes, MADV_DONTFORK);
  madvise(base, bytes, MADV_DONTDUMP);
  return {base, bytes};
}

}  // namespace

bool can_map(pid_t process, const HeapNotice& notice) {
  const View view = map(process, notice, sizeof(std::uint64_t));
  if (view.base) munmap(view.base, view.bytes);
  return view.base != nullptr;
}

void look_up_in(Directory given) {
  const std::lock_guard lock(mutex);
  directory = std::move(given);
}

const std::byte* find(pid_t process, const void* address, std::size_t bytes) {
  if (process == getpid())
    return SharedHeap::holds(address, bytes) ? static_cast<const std::byte*>(address) : nullptr;
  const std::lock_guard lock(mutex);
  auto& [notice, views] = meet(process);
  const std::size_t offset = reinterpret_cast<std::uintptr_t>(address) - notice.begin;
  if (offset >= notice.bytes || bytes > notice.bytes - offset) return nullptr;
  if (views.empty() || views.back().bytes < offset + bytes) {
    if (read_refusals::known(read_refusals::Way::heaps)) return nullptr;
    constexpr std::size_t least = 64 * 1024 * 1024;
    const View view = map(
        process, notice, std::min<std::size_t>(notice.bytes, std::bit_ceil(std::max(offset + bytes, least))));
    if (!view.base) {
      const int why = errno;
      // A process that has ended refuses nothing: the wait for it says what has happened.
      if (process_exists(process)) read_refusals::note(read_refusals::Way::heaps, process, why);
      return nullptr;
    }
    views.push_back(view);
  }
  ++found_so_far;
  return static_cast<const std::byte*>(views.back().base) + offset;
}

std::uint64_t reads() {
  const std::lock_guard lock(mutex);
  return found_so_far;
}

void forget() {
  const std::lock_guard lock(mutex);
  for (const auto& [process, heap] : heaps)
    for (const View& view : heap.views) munmap(view.base, view.bytes);
  heaps.clear();
  directory = {};
}

}  // namespace espalier::memory::peer_heaps
