/* The collectives of this folder: right on a tree, and how long they take beside Espalier's own.
 *
 *     levels [--ranks N] [--tree TEXT] [--degree D] [--root R] [--rounds N]
 *
 * --rounds 0 checks the results alone. For Espalier's own on the same tree set ESPALIER_BARRIER, ESPALIER_REDUCE and
 * ESPALIER_BCAST to tree, and ESPALIER_TREE (docs/levels.md). */
#define _GNU_SOURCE /* of sched.h: which processor a process runs on */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "levels.h"

enum { most_values = 2048, batch = 50, k = 10 };

struct setting {
  int ranks, rounds;
  espalier_levels_options levels;
};

struct rank {
  int number, ranks, root;
  espalier_comm* comm;
  espalier_levels* levels;
  size_t count;
  double values[most_values], received[most_values];
};

static void check(int code, const char* what) {
  if (code == ESPALIER_OK) return;
  fprintf(stderr, "%s: error %d: %s\n", what, code, espalier_error_text());
  exit(1);
}

/* --- what is called: ours, and Espalier's own ---------------------------------------------------------------------- */

static void barrier(struct rank* me) { check(levels_barrier(me->levels), "barrier"); }
static void own_barrier(struct rank* me) { check(espalier_barrier(me->comm), "own barrier"); }
static void reduce(struct rank* me) {
  check(levels_reduce(me->levels, me->values, me->received, me->count), "reduce");
}
static void own_reduce(struct rank* me) {
  check(espalier_reduce(me->comm, me->values, me->received, me->count, ESPALIER_DOUBLE, ESPALIER_SUM, me->root), "own reduce");
}
static void bcast(struct rank* me) { check(levels_bcast(me->levels, me->values, me->count * sizeof(double)), "bcast"); }
static void own_bcast(struct rank* me) {
  check(espalier_bcast(me->comm, me->values, me->count * sizeof(double), me->root), "own bcast");
}
static void top_k(struct rank* me) {
  memcpy(me->received, me->values, k * sizeof(double));
  check(levels_top_k(me->levels, me->received, k), "top_k");
}

/* --- whether they are right ---------------------------------------------------------------------------------------- */

/* From the largest down, all different. */
static void fill(struct rank* me) {
  for (size_t i = 0; i < most_values; ++i) me->values[i] = (double)((most_values - i) * (size_t)me->ranks) + me->number;
}

static int is_right(struct rank* me, void (*call)(struct rank*)) {
  const double all = me->ranks;
  int right = 1;
  fill(me);
  call(me);
  for (size_t i = 0; i < me->count && call == reduce && me->number == me->root; ++i)
    right &= me->received[i] == all * all * (double)(most_values - i) + all * (all - 1) / 2;
  for (size_t i = 0; i < me->count && call == bcast; ++i)
    right &= me->values[i] == (double)((most_values - i) * (size_t)me->ranks) + me->root;
  for (int i = 0; i < k && call == top_k; ++i)
    right &= me->received[i] == (double)((size_t)(most_values - i / me->ranks) * (size_t)me->ranks) + me->ranks - 1 - i % me->ranks;
  return right;
}

/* --- how long they take -------------------------------------------------------------------------------------------- */

/* Each rank has a processor of its own where there are enough. Two that share one, if only for a while, are timed otherwise. */
static void take_processor(const struct rank* me) {
  cpu_set_t all, own;
  if (sched_getaffinity(0, sizeof all, &all) != 0 || CPU_COUNT(&all) < me->ranks) return;
  for (int processor = 0, left = me->number; processor < CPU_SETSIZE; ++processor) {
    if (!CPU_ISSET(processor, &all) || left-- > 0) continue;
    CPU_ZERO(&own);
    CPU_SET(processor, &own);
    sched_setaffinity(0, sizeof own, &own);
    return;
  }
}

static double now_us(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

static double timed(struct rank* me, void (*call)(struct rank*)) {
  own_barrier(me);
  const double begin = now_us();
  for (int i = 0; i < batch; ++i) call(me);
  return (now_us() - begin) / batch;
}

static int smaller(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static void measure(struct rank* me, int rounds, const char* name, void (*call)(struct rank*), void (*own)(struct rank*)) {
  double* times = calloc((size_t)rounds * 2, sizeof(double));
  for (int i = 0; i < rounds; ++i) { /* in turns: what else runs on the machine hits both */
    times[i] = timed(me, call);
    if (own) times[rounds + i] = timed(me, own);
  }
  qsort(times, (size_t)rounds, sizeof(double), smaller);
  qsort(times + rounds, (size_t)rounds, sizeof(double), smaller);
  /* Of the fastest tenth: on a busy machine few batches have all their ranks on cores. */
  const double ours = times[rounds / 10], theirs = times[rounds + rounds / 10];
  if (me->number == me->root && own)
    printf("%-8s %6zu B  levels %8.3f us  own %8.3f us  ratio %.2f\n", name, me->count * sizeof(double), ours, theirs, ours / theirs);
  else if (me->number == me->root)
    printf("%-8s %6zu B  levels %8.3f us\n", name, me->count * sizeof(double), ours);
  free(times);
}

/* --- the run ------------------------------------------------------------------------------------------------------- */

static const struct {
  const char* name;
  void (*call)(struct rank*);
  void (*own)(struct rank*);
  size_t counts[3];
} cases[] = {{"barrier", barrier, own_barrier, {0}},
             {"reduce", reduce, own_reduce, {1, 128, most_values}},
             {"bcast", bcast, own_bcast, {1, 128, most_values}},
             {"top_k", top_k, NULL, {k}}};

static int run(const char* name, int number, const struct setting* setting) {
  static struct rank me;
  me.number = number;
  me.ranks = setting->ranks;
  me.root = setting->levels.root;
  if (setting->rounds > 0) take_processor(&me);
  check(espalier_comm_meet(name, number, me.ranks, 20000, &me.comm), "meeting");
  int right = 1;
  for (size_t c = 0; c < sizeof cases / sizeof *cases; ++c) {
    check(espalier_levels_create(me.comm, &setting->levels, &me.levels), "levels");
    if (number == 0 && c == 0) printf("%d ranks: %s\n", me.ranks, espalier_levels_tree(me.levels));
    for (size_t i = 0; i == 0 || (i < 3 && cases[c].counts[i] > 0); ++i) {
      me.count = cases[c].counts[i];
      for (int times = 0; times < 3; ++times) right &= is_right(&me, cases[c].call);
      if (setting->rounds > 0) measure(&me, setting->rounds, cases[c].name, cases[c].call, cases[c].own);
    }
    espalier_levels_free(me.levels);
  }
  check(espalier_allreduce(me.comm, ESPALIER_IN_PLACE, &right, 1, ESPALIER_INT32, ESPALIER_MIN), "allreduce");
  if (number == 0) printf("levels: %s\n", right ? "right" : "WRONG");
  fflush(stdout);
  espalier_comm_free(me.comm);
  return right ? 0 : 1;
}

static struct setting parse(int argc, char** argv) {
  struct setting setting = {4, 0, levels_example_options()};
  for (int i = 1; i < argc; i += 2) {
    const char* value = i + 1 < argc ? argv[i + 1] : NULL;
    int* number = NULL;
    if (!strcmp(argv[i], "--ranks")) number = &setting.ranks;
    if (!strcmp(argv[i], "--rounds")) number = &setting.rounds;
    if (!strcmp(argv[i], "--degree")) number = &setting.levels.degree;
    if (!strcmp(argv[i], "--root")) number = &setting.levels.root;
    const int is_tree = !strcmp(argv[i], "--tree");
    if (!value || (!number && !is_tree)) {
      fprintf(stderr, "levels: what is %s?\n", argv[i]);
      exit(2);
    }
    if (is_tree)
      setting.levels.tree = value;
    else
      *number = atoi(value);
  }
  return setting;
}

int main(int argc, char** argv) {
  const struct setting setting = parse(argc, argv);
  char name[32];
  snprintf(name, sizeof name, "levels-%ld", (long)getpid());
  for (int rank = 1; rank < setting.ranks; ++rank) {
    const pid_t child = fork();
    if (child < 0) {
      perror("fork");
      return 1;
    }
    if (child == 0) return run(name, rank, &setting);
  }
  int failed = run(name, 0, &setting), status = 0;
  while (wait(&status) > 0) failed |= status != 0;
  return failed;
}
