#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "persistent.h"

static int complain(const char* what, const char* value) {
  fprintf(stderr, "compare: bad %s '%s' (see bench/README.md for the options)\n", what, value);
  return -1;
}

static int parse_collectives(struct options* o, const char* list) {
  char copy[512];
  snprintf(copy, sizeof copy, "%s", list);
  memset(o->wanted, 0, sizeof o->wanted);
  for (char* word = strtok(copy, ","); word; word = strtok(NULL, ",")) {
    const enum collective found = collective_parse(word);
    if (found == COLLECTIVES) return complain("collective", word);
    o->wanted[found] = 1;
  }
  return 0;
}

// Sizes are whole numbers of doubles.
static int parse_sizes(struct options* o, const char* list) {
  char copy[512];
  snprintf(copy, sizeof copy, "%s", list);
  o->sizes = 0;
  for (char* word = strtok(copy, ","); word; word = strtok(NULL, ",")) {
    char* end;
    const unsigned long long bytes = strtoull(word, &end, 10);
    if (*end || bytes == 0 || bytes % sizeof(double) || bytes > (1ull << 30)) return complain("size", word);
    if (o->sizes == MAX_POINTS) return complain("list of sizes, it is too long at", word);
    o->bytes[o->sizes++] = bytes;
  }
  return 0;
}

static int parse_pin(struct options* o, const char* value) {
  if (!strcmp(value, "auto")) return o->pin = PIN_AUTO, 0;
  if (!strcmp(value, "yes")) return o->pin = PIN_YES, 0;
  if (!strcmp(value, "no")) return o->pin = PIN_NO, 0;
  return complain("pinning", value);
}

// A launcher may have pinned the rank already, so that it cannot see the other processors by itself.
static int parse_cpus(struct options* o, const char* list) {
  char copy[1024];
  snprintf(copy, sizeof copy, "%s", list);
  o->cpus = 0;
  for (char* word = strtok(copy, ","); word; word = strtok(NULL, ",")) {
    char* end;
    const long cpu = strtol(word, &end, 10);
    if (*end || cpu < 0 || o->cpus == MAX_CPUS) return complain("processor", word);
    o->cpu[o->cpus++] = (int)cpu;
  }
  return 0;
}

static int parse_shape(struct options* o, const char* value) {
  if (!strcmp(value, "decreasing")) return o->shape = DECREASING, 0;
  if (!strcmp(value, "regular")) return o->shape = REGULAR, 0;
  if (!strcmp(value, "one")) return o->shape = ONE, 0;
  return complain("shape of blocks", value);
}

static int parse_sessions(struct options* o, const char* value) {
  o->own_sessions = !strcmp(value, "own");
  return o->own_sessions || !strcmp(value, "launcher") ? 0 : complain("kind of sessions", value);
}

static int parse_late(struct options* o, const char* value) {
  char* end;
  o->late_us = strtod(value, &end);
  return !*end && o->late_us > 0 && o->late_us <= 1e6 ? 0 : complain("time of a late arrival", value);
}

static int parse_compute(struct options* o, const char* value) {
  char* end;
  o->compute_us = strtod(value, &end);
  return !*end && o->compute_us >= 0 && o->compute_us <= 1e6 ? 0 : complain("time of computing", value);
}

static int parse_memory(struct options* o, const char* value) {
  char* end;
  o->memory = strtoull(value, &end, 10);
  return !*end && o->memory > 0 ? 0 : complain("bound of memory", value);
}

static int parse_shift(struct options* o, const char* value) {
  char* end;
  const long bytes = strtol(value, &end, 10);
  o->shift = (int)bytes;
  return !*end && bytes >= 0 && bytes <= 4096 && bytes % (long)sizeof(double) == 0 ? 0
                                                                                   : complain("shift", value);
}

static int parse_value(struct options* o, const char* key, const char* value) {
  if (!strcmp(key, "--collectives")) return parse_collectives(o, value);
  if (!strcmp(key, "--sizes")) return parse_sizes(o, value);
  if (!strcmp(key, "--cpus")) return parse_cpus(o, value);
  if (!strcmp(key, "--pin")) return parse_pin(o, value);
  if (!strcmp(key, "--sessions")) return parse_sessions(o, value);
  if (!strcmp(key, "--shape")) return parse_shape(o, value);
  if (!strcmp(key, "--late")) return parse_late(o, value);
  if (!strcmp(key, "--compute")) return parse_compute(o, value);
  if (!strcmp(key, "--memory")) return parse_memory(o, value);
  if (!strcmp(key, "--out")) return o->out = value, 0;
  if (!strcmp(key, "--area")) return o->area = value, 0;
  if (!strcmp(key, "--points")) return o->points = value, 0;
  if (!strcmp(key, "--shift")) return parse_shift(o, value);
  if (!strcmp(key, "--seconds")) return o->seconds = atof(value), 0;
  if (!strcmp(key, "--rounds")) {
    o->rounds = atoi(value);
    return o->rounds > 0 ? 0 : complain("number of rounds", value);
  }
  return complain("option", key);
}

static int* find_switch(struct options* o, const char* key) {
  if (!strcmp(key, "--reused")) return &o->reused;
  if (!strcmp(key, "--allocated")) return &o->allocated;
  if (!strcmp(key, "--persistent")) return &o->persistent;
  if (!strcmp(key, "--nonblocking")) return &o->nonblocking;
  if (!strcmp(key, "--host-only")) return &o->host_only;
  if (!strcmp(key, "--limits")) return &o->limits;
  if (!strcmp(key, "--messages")) return &o->messages;
  if (!strcmp(key, "--each")) return &o->each;
  if (!strcmp(key, "--calls-only")) return &o->calls_only;
  if (!strcmp(key, "--rotate-roots")) return &o->rotate_roots;
  if (!strcmp(key, "--derived")) return &o->derived;
  return NULL;
}

int options_parse(struct options* o, int argc, char** argv) {
  memset(o, 0, sizeof *o);
  o->rounds = 10;
  o->memory = (size_t)1 << 30;
  for (int c = 0; c < COLLECTIVES; ++c) o->wanted[c] = !collective_on_demand(c);
  parse_sizes(o, "8,64,512,4096,32768,262144,1048576,4194304");
  for (int i = 1; i < argc; ++i) {
    int* on = find_switch(o, argv[i]);
    if (on) {
      *on = 1;
      continue;
    }
    if (i + 1 == argc) return complain("option or missing value", argv[i]);
    if (parse_value(o, argv[i], argv[i + 1])) return -1;
    ++i;
  }
  if (o->persistent && o->nonblocking) return complain("option beside --nonblocking:", "--persistent");
  if (o->compute_us > 0 && !o->persistent && !o->nonblocking)
    return complain("option without --nonblocking or --persistent:", "--compute");
#if !HAS_PERSISTENT_COLLECTIVES
  if (o->persistent)
    return complain("option of this MPI, which has no persistent collectives:", "--persistent");
#endif
  return 0;
}
