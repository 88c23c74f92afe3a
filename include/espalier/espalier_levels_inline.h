/* Part of espalier_levels.h: what a base case does on a segment that is mapped, without a call of the library. The same
 * checks are made; what they do not let pass, and where the segment is not mapped, is the library's. */
#ifndef ESPALIER_LEVELS_INLINE_H
#define ESPALIER_LEVELS_INLINE_H

#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A definition that is only inlined: the symbol is the library's. */
#define ESPALIER_INLINE extern __inline __attribute__((__gnu_inline__, __always_inline__, __artificial__))
/* The library's function by another name, for the inlined one to call. */
#define ESPALIER_CALLED(name) __asm__(ESPALIER_SYMBOL_PREFIX #name)
#define ESPALIER_SYMBOL_PREFIX_OF(prefix) #prefix
#define ESPALIER_SYMBOL_PREFIX_IN(prefix) ESPALIER_SYMBOL_PREFIX_OF(prefix)
#define ESPALIER_SYMBOL_PREFIX ESPALIER_SYMBOL_PREFIX_IN(__USER_LABEL_PREFIX__)

ESPALIER_API int espalier_group_called_put(const espalier_group_view*, size_t, const void*,
                                           size_t) ESPALIER_CALLED(espalier_group_put);
ESPALIER_API int espalier_group_called_get(const espalier_group_view*, size_t, void*, size_t) ESPALIER_CALLED(espalier_group_get);
ESPALIER_API int espalier_group_called_store(const espalier_group_view*, size_t,
                                             uint64_t) ESPALIER_CALLED(espalier_group_store);
ESPALIER_API int espalier_group_called_load(const espalier_group_view*, size_t,
                                            uint64_t*) ESPALIER_CALLED(espalier_group_load);
ESPALIER_API int espalier_group_called_wait_until(const espalier_group_view*, size_t, espalier_until,
                                                  uint64_t) ESPALIER_CALLED(espalier_group_wait_until);

ESPALIER_INLINE int espalier_group_is_within(const espalier_group_view* view, size_t offset, size_t bytes) {
  return view && view->waits && offset <= view->bytes && bytes <= view->bytes - offset;
}
ESPALIER_INLINE int espalier_group_has_word(const espalier_group_view* view, size_t offset) {
  return offset % 8 == 0 && espalier_group_is_within(view, offset, 8);
}
ESPALIER_INLINE uint64_t* espalier_group_word(const espalier_group_view* view, size_t offset) {
  return (uint64_t*)((char*)view->segment + offset);
}
ESPALIER_INLINE int espalier_group_is_reached(uint64_t seen, espalier_until until, uint64_t value) {
  return until == ESPALIER_UNTIL_AT_LEAST ? seen >= value : until == ESPALIER_UNTIL_EQUAL ? seen == value : seen != value;
}

/* This core will write all of that: it asks at once for the lines that readers hold. A copy would ask for a few at a time. */
ESPALIER_INLINE void espalier_group_own_lines(const char* place, size_t bytes) {
  for (size_t at = 0; at < bytes; at += 64)
#if defined(__x86_64__) /* the builtin is this instruction only where the whole program is for processors that have it */
    __asm__ __volatile__("prefetchw %0" : : "m"(place[at]));
#else
    __builtin_prefetch(place + at, 1, 3);
#endif
}

/* Long data are the library's, which may write them past the caches. Of one line and less the store itself asks. */
ESPALIER_INLINE int espalier_group_put(const espalier_group_view* view, size_t offset, const void* source, size_t bytes) {
  if (!source || bytes >= 4096 || !espalier_group_is_within(view, offset, bytes))
    return espalier_group_called_put(view, offset, source, bytes);
  if (bytes > 64) espalier_group_own_lines((const char*)view->segment + offset, bytes);
  memcpy((char*)view->segment + offset, source, bytes);
  return ESPALIER_OK;
}

ESPALIER_INLINE int espalier_group_get(const espalier_group_view* view, size_t offset, void* target, size_t bytes) {
  if (!target || !espalier_group_is_within(view, offset, bytes)) return espalier_group_called_get(view, offset, target, bytes);
  memcpy(target, (const char*)view->segment + offset, bytes);
  return ESPALIER_OK;
}

/* The fence orders the store before the look at `sleepers`: either a rank that falls asleep sees the word, or it is seen. */
ESPALIER_INLINE int espalier_group_store(const espalier_group_view* view, size_t offset, uint64_t value) {
  if (!espalier_group_has_word(view, offset)) return espalier_group_called_store(view, offset, value);
  __atomic_store_n(espalier_group_word(view, offset), value, __ATOMIC_RELEASE);
  if (view->waits->fenced) __atomic_thread_fence(__ATOMIC_SEQ_CST);
  if (__builtin_expect(__atomic_load_n(&view->waits->sleepers, __ATOMIC_RELAXED) != 0, 0)) return espalier_group_wake(view);
  return ESPALIER_OK;
}

ESPALIER_INLINE int espalier_group_load(const espalier_group_view* view, size_t offset, uint64_t* value) {
  if (!value || !espalier_group_has_word(view, offset)) return espalier_group_called_load(view, offset, value);
  *value = __atomic_load_n(espalier_group_word(view, offset), __ATOMIC_ACQUIRE);
  return ESPALIER_OK;
}

/* Some looks without a pause, then the library's wait, which also hears of ranks that are gone. */
ESPALIER_INLINE int espalier_group_wait_until(const espalier_group_view* view, size_t offset, espalier_until until,
                                              uint64_t value) {
  if (espalier_group_has_word(view, offset) && (unsigned)until <= (unsigned)ESPALIER_UNTIL_AT_LEAST) {
    const uint64_t* word = espalier_group_word(view, offset);
    for (uint32_t looks = view->waits->looks; looks > 0; --looks)
      if (espalier_group_is_reached(__atomic_load_n(word, __ATOMIC_ACQUIRE), until, value)) return ESPALIER_OK;
  }
  return espalier_group_called_wait_until(view, offset, until, value);
}

#undef ESPALIER_INLINE
#undef ESPALIER_CALLED
#undef ESPALIER_SYMBOL_PREFIX
#undef ESPALIER_SYMBOL_PREFIX_IN
#undef ESPALIER_SYMBOL_PREFIX_OF

#ifdef __cplusplus
}
#endif
#endif
