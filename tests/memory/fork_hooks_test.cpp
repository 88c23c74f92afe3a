// Other libraries put their own functions in the place of mmap() and its like, and take locks in them, as UCX
// does for MPICH. A child of fork() that waits for such a lock waits for ever, if a thread of its parent held
// it.
#include <gtest/gtest.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "memory/heap/shared_heap.hpp"
#include "tests/memory/children.hpp"

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // which have hooks of their own there
namespace {
int hooked = 0;
}

extern "C" {
void* mmap(void* address, size_t bytes, int protection, int flags, int file, off_t offset) noexcept {
  ++hooked;
  return reinterpret_cast<void*>(syscall(SYS_mmap, address, bytes, protection, flags, file, offset));
}
int munmap(void* address, size_t bytes) noexcept {
  ++hooked;
  return static_cast<int>(syscall(SYS_munmap, address, bytes));
}
void* mremap(void* from, size_t bytes, size_t bytes_then, int flags, ...) noexcept {
  ++hooked;
  va_list more;
  va_start(more, flags);
  void* const to = flags & MREMAP_FIXED ? va_arg(more, void*) : nullptr;
  va_end(more);
  return reinterpret_cast<void*>(syscall(SYS_mremap, from, bytes, bytes_then, flags, to));
}
}

namespace espalier::memory {
namespace {

TEST(ForkHooks, AChildCallsNoneOfThem) {
  SharedHeap* const heap = SharedHeap::instance();
  if (!heap) GTEST_SKIP() << "no shared heap here: " << SharedHeap::why_none();
  constexpr std::size_t bytes = 1 << 20;
  auto* block = static_cast<std::byte*>(heap->allocate(bytes));
  ASSERT_NE(block, nullptr);
  block[bytes - 1] = std::byte{1};
  munmap(mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), bytes);
  EXPECT_GE(hooked, 2) << "the hooks are not called at all";
  hooked = 0;
  const pid_t child = fork();
  if (child == 0) _exit(hooked == 0 && block[bytes - 1] == std::byte{1} ? 0 : 1);
  EXPECT_EQ(testing::end_of(child), 0);
  EXPECT_TRUE(heap->free(block));
}

}  // namespace
}  // namespace espalier::memory
#endif
