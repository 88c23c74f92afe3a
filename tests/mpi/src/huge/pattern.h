/* Bytes of a long prime period: filling and checking go at the speed of memcpy and memcmp, and no distance of a power of two,
   which is what a number cut to 32 bits would be wrong by, leads to equal bytes. Sums of such bytes have the same period. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { PERIOD = 65521 };

typedef struct Pattern {
  uint8_t bytes[PERIOD];
} Pattern;

static void pattern_of(Pattern* pattern, int seed) {
  uint64_t state = 0x9e3779b97f4a7c15u * (uint64_t)(seed + 1);
  for (size_t i = 0; i < PERIOD; ++i) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    pattern->bytes[i] = (uint8_t)(state >> 40);
  }
}

static void pattern_add(Pattern* sum, const Pattern* other) {
  for (size_t i = 0; i < PERIOD; ++i) sum->bytes[i] = (uint8_t)(sum->bytes[i] + other->bytes[i]);
}

static void fill(uint8_t* bytes, size_t count, const Pattern* pattern) {
  for (size_t at = 0; at < count; at += PERIOD)
    memcpy(bytes + at, pattern->bytes, count - at < PERIOD ? count - at : PERIOD);
}

/* Whether `count` bytes are those of the pattern from its place `phase` on. */
static int holds(const uint8_t* bytes, size_t count, const Pattern* pattern, size_t phase) {
  phase %= PERIOD;
  for (size_t at = 0; at < count;) {
    size_t here = PERIOD - phase < count - at ? PERIOD - phase : count - at;
    if (memcmp(bytes + at, pattern->bytes + phase, here)) return 0;
    at += here, phase = 0;
  }
  return 1;
}
