// Preloaded: memory of aligned_alloc() ends at a page that nothing may touch. A write behind it ends the process.
#define _GNU_SOURCE
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

extern void __libc_free(void*);
extern void* __libc_memalign(size_t, size_t);

enum { most = 1024, page = 4096 };
static struct {
  char *begin, *data;
  size_t bytes;
} pieces[most];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* take(size_t alignment, size_t size) {
  const size_t whole = (size + page - 1) / page * page;
  char* begin = mmap(NULL, whole + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (begin == MAP_FAILED || mprotect(begin + page, whole, PROT_READ | PROT_WRITE) != 0) return NULL;
  char* data = (char*)((uintptr_t)(begin + page + whole - size) / alignment * alignment);
  for (int i = 0; i < most; ++i) {
    if (pieces[i].begin) continue;
    pieces[i].begin = begin;
    pieces[i].data = data;
    pieces[i].bytes = whole + 2 * page;
    return data;
  }
  munmap(begin, whole + 2 * page);
  return NULL;
}

__attribute__((visibility("default"))) void* aligned_alloc(size_t alignment, size_t size) {
  pthread_mutex_lock(&mutex);
  void* data = take(alignment, size);
  pthread_mutex_unlock(&mutex);
  return data ? data : __libc_memalign(alignment, size);
}

__attribute__((visibility("default"))) void free(void* data) {
  if (data && (uintptr_t)data % 128 == 0) {  // what aligned_alloc() gave
    pthread_mutex_lock(&mutex);
    for (int i = 0; i < most; ++i) {
      if (pieces[i].data != data) continue;
      munmap(pieces[i].begin, pieces[i].bytes);
      pieces[i].begin = pieces[i].data = NULL;
      pthread_mutex_unlock(&mutex);
      return;
    }
    pthread_mutex_unlock(&mutex);
  }
  __libc_free(data);
}
