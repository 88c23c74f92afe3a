#include "memory/shared_heap.hpp"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <sstream>
#include <utility>

#include "base/config.hpp"
#include "base/files.hpp"
#include "base/token.hpp"

namespace espalier::memory {
namespace {

constexpr std::size_t page = 64 * 1024;  // a multiple of every machine's
constexpr std::size_t huge_page = 2 * 1024 * 1024;

std::size_t rounded_up(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

std::string& why = *new std::string;  // there is no heap; never destroyed, as Config

/// Twice the machine's memory, for what is free may lie scattered.
std::size_t capacity() {
  const auto memory =
      static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return rounded_up(2 * memory, huge_page);
}

/// Where the kernel promises memory only as far as it has some, a page that it cannot give when it is touched
/// ends the process, while the host's MPI_Alloc_mem says no.
bool strict_overcommit() {
  int mode = 0;
  return std::istringstream(text_of("/proc/sys/vm/overcommit_memory")) >> mode && mode == 2;
}

}  // namespace

SharedHeap::SharedHeap(Segment segment, std::uint64_t mark)
    : segment_(std::move(segment)), mark_(mark), free_(segment_.size()) {
  // Of what is free nothing goes into a core file: the kernel would make its pages to write them.
  madvise(segment_.base(), segment_.size(), MADV_DONTDUMP);
  std::memcpy(segment_.base() + *free_.take(page, page), &mark_, sizeof mark_);
}

std::unique_ptr<SharedHeap> SharedHeap::make() {
  if (!Config::instance().flag("ESPALIER_ALLOC_MEM"))
    why = "ESPALIER_ALLOC_MEM is off";
  else if (strict_overcommit())
    why = "the kernel promises no memory that it does not have (vm.overcommit_memory is 2)";
  if (!why.empty()) return nullptr;
  Segment segment = Segment::create_memfd(capacity(), why);
  if (!segment) return nullptr;
  std::unique_ptr<SharedHeap> heap(new SharedHeap(std::move(segment), random_token()));
  bytes_ = heap->segment_.size();
  begin_.store(reinterpret_cast<std::uintptr_t>(heap->segment_.base()), std::memory_order_release);
  pthread_atfork(nullptr, nullptr, leave_to_parent);
  return heap;
}

SharedHeap* SharedHeap::instance() {
  // Never destroyed: what was handed out may be used until the process ends.
  static SharedHeap* const heap = make().release();
  return heap;
}

const std::string& SharedHeap::why_none() {
  instance();
  return why;
}

HeapNotice SharedHeap::notice() {
  const SharedHeap* heap = instance();
  if (!heap || begin_.load(std::memory_order_relaxed) == 0) return {};
  return {begin_.load(std::memory_order_relaxed), bytes_, heap->mark_, heap->segment_.descriptor(), 1};
}

// The segment is not inherited (see Segment). In its place the child gets a view of the same pages that it
// may write for itself alone. Only one system call, for other threads of the parent may have held any lock.
void SharedHeap::leave_to_parent() {
  const std::uintptr_t begin = begin_.exchange(0, std::memory_order_relaxed);
  if (begin == 0) return;  // a child of a child: what it has is its own already
  mmap(reinterpret_cast<void*>(begin), bytes_, PROT_READ | PROT_WRITE,
       MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, instance()->segment_.descriptor(), 0);
}

void* SharedHeap::allocate(std::size_t bytes) {
  if (bytes < least || bytes > segment_.size() || begin_.load(std::memory_order_relaxed) == 0) return nullptr;
  const std::size_t rounded = rounded_up(bytes, page);
  const std::lock_guard lock(mutex_);
  const auto offset = free_.take(rounded, rounded < huge_page ? page : huge_page);
  if (!offset) return nullptr;
  std::byte* block = segment_.base() + *offset;
  taken_[block] = rounded;
  madvise(block, rounded, MADV_DODUMP);
  blocks_.fetch_add(1, std::memory_order_relaxed);
  return block;
}

bool SharedHeap::owns(const void* address) const {
  const auto* at = static_cast<const std::byte*>(address);
  return at >= segment_.base() && at < segment_.base() + segment_.size();
}

bool SharedHeap::free(void* block) {
  // A child of fork() has nothing to give back; and its parent's threads may have held the lock.
  if (begin_.load(std::memory_order_relaxed) == 0) return true;
  const std::lock_guard lock(mutex_);
  const auto found = taken_.find(block);
  if (found == taken_.end()) return false;
  madvise(block, found->second, MADV_DONTDUMP);
  madvise(block, found->second, MADV_REMOVE);
  free_.give_back(static_cast<std::size_t>(static_cast<std::byte*>(block) - segment_.base()), found->second);
  taken_.erase(found);
  return true;
}

}  // namespace espalier::memory
