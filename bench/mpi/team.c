#define _GNU_SOURCE
#include "team.h"

#include <limits.h>
#include <linux/futex.h>
#include <mpi.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "progress.h"

static int launcher_rank(void) {
  static const char* const keys[] = {
      "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "PALS_LOCAL_RANKID", "JSM_NAMESPACE_LOCAL_RANK",
      "FLUX_TASK_LOCAL_ID",         "PMI_RANK",        "SLURM_LOCALID"};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; ++i)
    if (getenv(keys[i])) return atoi(getenv(keys[i]));
  return -1;
}

static int launcher_size(void) {
  static const char* const keys[] = {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "PALS_LOCAL_SIZE",
                                     "PMI_SIZE", "SLURM_STEP_NUM_TASKS"};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; ++i)
    if (getenv(keys[i])) return atoi(getenv(keys[i]));
  return -1;
}

int team_pin_to(int cpu) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  return sched_setaffinity(0, sizeof one, &one);
}

static void list_cpus(struct team* team, const struct options* o) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  for (int i = 0; i < o->cpus; ++i) CPU_SET(o->cpu[i], &allowed);
  if (!o->cpus) sched_getaffinity(0, sizeof allowed, &allowed);
  for (int cpu = 0; cpu < CPU_SETSIZE && team->cores < MAX_CPUS; ++cpu)
    if (CPU_ISSET(cpu, &allowed)) team->cpu[team->cores++] = cpu;
}

// A rank that is not fixed to one processor keeps those that its launcher gave it, as far as they are named.
static void stay_inside(const struct team* team) {
  cpu_set_t allowed, named, inside;
  CPU_ZERO(&named);
  for (int i = 0; i < team->cores; ++i) CPU_SET(team->cpu[i], &named);
  if (sched_getaffinity(0, sizeof allowed, &allowed)) return;
  CPU_AND(&inside, &allowed, &named);
  if (!CPU_EQUAL(&inside, &allowed))
    sched_setaffinity(0, sizeof named, CPU_COUNT(&inside) ? &inside : &named);
}

void team_pin(struct team* team, const struct options* o) {
  const int rank = team->size ? team->rank : launcher_rank();
  const int size = team->size ? team->size : launcher_size();
  if (!team->cores) list_cpus(team, o);
  team->oversubscribed = size > team->cores;
  const int wanted = o->pin == PIN_YES || (o->pin == PIN_AUTO && !team->oversubscribed);
  if (!wanted) stay_inside(team);
  if (wanted && rank >= 0 && size > 0) team->pinned = team_pin_to(team->cpu[rank % team->cores]) == 0;
}

double team_ns(const struct team* team, int64_t ticks) {
  return (double)ticks * team->area->nanoseconds_per_tick;
}

void team_wait_step(const struct team* team, int* steps) {
  cpu_relax();
  if (team->oversubscribed || *steps > 100000) sched_yield();
  // A rank that finished early may still hold a message the others need: let its MPI move from time to time.
  if (team->apart) {
    if (++*steps % 16 == 0) progress_poke();  // a network's message waits for that every time
    return;
  }
  if (++*steps % (team->oversubscribed ? 2000 : 200000) == 0) {
    int there;
    PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &there, MPI_STATUS_IGNORE);
  }
}

// How long after the last arrival the common start lies: time for the news to reach every rank.
static int64_t lead_ticks(const struct team* team) {
  if (team->oversubscribed) return 0;
  return (int64_t)((800.0 + 100.0 * team->size) / team->area->nanoseconds_per_tick);
}

// True for the last rank to arrive, which releases the others. acq_rel: what every rank wrote before its
// arrival is seen by all after the release.
static int arrive(struct team* team) {
  struct area* area = team->area;
  const long long mine = ++team->sync;
  if (atomic_fetch_add_explicit(&area->arrived, 1, memory_order_acq_rel) + 1 != mine * team->size) return 0;
  area->start = clock_ticks() + lead_ticks(team);
  atomic_store_explicit(&area->released, mine, memory_order_release);
  return 1;
}

static int released(const struct team* team) {
  return atomic_load_explicit(&team->area->released, memory_order_acquire) >= team->sync;
}

// The half of `released` that every sync changes.
static int* released_word(const struct team* team) {
  const int low = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 0 : 1;
  return (int*)&team->area->released + low;
}

static void sleep_until_released(const struct team* team) {
  const struct timespec nap = {.tv_nsec = team->apart ? 50 * 1000 : 200 * 1000};
  const int before = (int)(team->sync - 1);
  syscall(SYS_futex, released_word(team), FUTEX_WAIT, before, &nap, NULL, 0);
}

static void wake_all(const struct team* team) {
  syscall(SYS_futex, released_word(team), FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

int64_t team_start(struct team* team) {
  int steps = 0;
  if (!arrive(team))
    while (!released(team)) team_wait_step(team, &steps);
  const int64_t start = team->area->start;
  while (clock_ticks() < start) continue;
  return start;
}

void team_wait_asleep(struct team* team) {
  if (arrive(team)) return wake_all(team);
  while (!released(team)) {
    sleep_until_released(team);
    team_wait_step(team, &(int){1999});  // the host may move after every sleep
  }
}

void team_gather(struct team* team) {
  if (team->weak_yields) team_wait_asleep(team);
}

int64_t team_agree(struct team* team, int64_t value) {
  if (!team->rank) team->area->agreed[0] = value;
  team_start(team);
  const int64_t all = team->area->agreed[0];
  team_start(team);
  return all;
}

int team_open(struct team* team, const char* program, const char* path, FILE** file) {
  *file = team->rank ? NULL : path ? fopen(path, "w") : stdout;
  if (!team->rank && !*file) fprintf(stderr, "%s: cannot write %s\n", program, path);
  return (int)team_agree(team, *file == NULL);
}
