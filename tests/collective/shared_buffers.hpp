// Buffers in the shared heap of the test, which its ranks, being threads, read where they lie.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <new>
#include <vector>

#include "memory/heap/shared_heap.hpp"

namespace espalier::testing {

template <class T>
struct SharedHeapAllocator {
  using value_type = T;
  SharedHeapAllocator() = default;
  template <class U>
  SharedHeapAllocator(const SharedHeapAllocator<U>&) {}

  T* allocate(std::size_t count) {
    memory::SharedHeap* heap = memory::SharedHeap::instance();
    void* block = heap ? heap->allocate(std::max(count * sizeof(T), memory::SharedHeap::least)) : nullptr;
    if (!block) throw std::bad_alloc();
    return static_cast<T*>(block);
  }
  void deallocate(T* block, std::size_t) { memory::SharedHeap::instance()->free(block); }
  bool operator==(const SharedHeapAllocator&) const = default;
};

template <class T>
using SharedVector = std::vector<T, SharedHeapAllocator<T>>;

/// To be asked first by the rank that uses them.
inline const char* why_no_shared_buffers() {
  return memory::SharedHeap::instance() ? nullptr : memory::SharedHeap::why_none().c_str();
}

}  // namespace espalier::testing
