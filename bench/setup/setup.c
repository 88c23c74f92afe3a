/* What it costs to set communicators, requests and windows up, with whatever library serves the MPI names.

     setup CPUS cycles CYCLES ROUNDS SECONDS [CASE...]
        times single cycles of each case (cases.c) from a common start; a round of a case ends after SECONDS
     setup CPUS live N     makes N communicators by MPI_Comm_dup, uses each once, keeps all, and frees them
     setup CPUS churn N    N cycles of MPI_Comm_dup, MPI_Allreduce, MPI_Comm_free; memory, descriptors and maps before and
                           after

   CPUS, such as 0,1, are the processors that the job may use, also where the launcher fixes each rank to one. Rank 0 prints JSON, one object a line; times are microseconds. bench/README.md describes it. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "../mpi/clock.h"
#include "../mpi/flag_exchange.h"
#include "../mpi/session.h"
#include "../mpi/team.h"
#include "usage.h"

enum { BATCH = 5, WARM = 3, CHURN_WARM = 300 };

static struct team team;
static double one = 1, sum;

static int ascending(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return x < y ? -1 : x > y;
}

// From the common start to the end on the slowest rank; the answer counts on rank 0.
static double time_of(void (*work)(void)) {
  team_gather(&team);
  const int64_t start = team_start(&team);
  work();
  const int64_t mine = clock_ticks();
  team.area->rank[team.rank].ticks[0] = mine;
  team_start(&team);
  int64_t last = start;
  for (int r = 0; !team.rank && r < team.size; ++r)
    if (team.area->rank[r].ticks[0] > last) last = team.area->rank[r].ticks[0];
  return team_ns(&team, last - start) / 1000;
}

static void print_times(FILE* out, double* us, int number) {
  double all = 0;
  for (int i = 0; i < number; ++i) all += us[i];
  qsort(us, number, sizeof *us, ascending);
  fprintf(out, ", \"cycles\": %d, \"us\": %.3f, \"mean_us\": %.3f, \"low_us\": %.3f, \"high_us\": %.3f", number,
          us[number / 2], all / number, us[number / 4], us[number * 3 / 4]);
}

static void time_case(FILE* out, const struct setup_case* work, int round, int cycles, double seconds,
                      double* us) {
  const double flag_ns = flag_exchange_ns(&team);
  for (int i = 0; i < WARM; ++i) work->cycle();
  const int64_t begin = clock_kernel_ns();
  int done = 0, up = 0;
  while (done < cycles && !up) {
    for (int i = 0; i < BATCH && done < cycles; ++i) us[done++] = time_of(work->cycle);
    up = (int)team_agree(&team, (double)(clock_kernel_ns() - begin) / 1e9 > seconds);
  }
  if (!out) return;
  fprintf(out, "{\"kind\": \"case\", \"case\": \"%s\", \"round\": %d", work->name, round);
  print_times(out, us, done);
  fprintf(out, ", \"f_ns\": %.1f}\n", flag_ns);
}

static int time_cases(FILE* out, int words, char** word) {
  const int cycles = atoi(word[0]), rounds = atoi(word[1]);
  const double seconds = atof(word[2]);
  if (cycles < 1) return 2;
  double* us = calloc(cycles, sizeof *us);
  cases_begin(team.rank);
  for (int round = 0; round < rounds; ++round)
    for (int i = 0; i < (words > 3 ? words - 3 : setup_cases_number); ++i) {
      const struct setup_case* work = words > 3 ? case_named(word[3 + i]) : &setup_cases[i];
      if (!work) return 2;
      time_case(out, work, round, cycles, seconds, us);
    }
  cases_end();
  free(us);
  return 0;
}

static MPI_Comm made;
static int refused;

static void make_one(void) {
  made = MPI_COMM_NULL;
  refused = MPI_Comm_dup(MPI_COMM_WORLD, &made) != MPI_SUCCESS;
  if (!refused) MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, made);
}

static void free_one(void) { MPI_Comm_free(&made); }

// Some hosts have no more than 2,000 communicators: then it ends with those.
static int live(FILE* out, int wanted) {
  MPI_Comm* comms = calloc(wanted, sizeof *comms);
  double *making = calloc(wanted, sizeof *making);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int i = 0; i < WARM; ++i) make_one(), free_one();
  const struct usage before = usage_now();
  int number = 0;
  for (; number < wanted; ++number) {
    making[number] = time_of(make_one);
    int any = 0;
    PMPI_Allreduce(&refused, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (any) break;
    comms[number] = made;
  }
  const struct usage after = usage_now();
  for (int i = 0; i < number; ++i) MPI_Comm_free(&comms[i]);
  const struct usage freed = usage_now();
  if (out) {
    fprintf(out, "{\"kind\": \"live\", \"wanted\": %d, \"number\": %d", wanted, number);
    if (number) print_times(out, making, number);
  }
  usage_print(out, "before", &before, team.size);
  usage_print(out, "after", &after, team.size);
  usage_print(out, "freed", &freed, team.size);
  if (out) fputs("}\n", out);
  free(comms), free(making);
  return 0;
}

static void cycle(void) { make_one(), free_one(); }

static int churn(FILE* out, int cycles) {
  for (int i = 0; i < CHURN_WARM; ++i) cycle();
  const struct usage before = usage_now();
  const int64_t begin = clock_kernel_ns();
  for (int i = 0; i < cycles; ++i) cycle();
  const double us = (double)(clock_kernel_ns() - begin) / 1e3;
  const struct usage after = usage_now();
  if (out) fprintf(out, "{\"kind\": \"churn\", \"cycles\": %d, \"mean_us\": %.3f", cycles, us / cycles);
  usage_print(out, "before", &before, team.size);
  usage_print(out, "after", &after, team.size);
  if (out) fputs("}\n", out);
  return 0;
}

static void read_cpus(struct options* o, const char* text) {
  for (const char* at = text; *at && o->cpus < MAX_CPUS; at += *at == ',') {
    char* end;
    o->cpu[o->cpus++] = (int)strtol(at, &end, 10);
    if (end == at) break;
    at = end;
  }
}

static int start(const struct options* o) {
  PMPI_Comm_rank(MPI_COMM_WORLD, &team.rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &team.size);
  team_pin(&team, o);
  team.area = area_make(team.rank, team.size, NULL);
  if (!team.area) return -1;
  if (!team.rank) team.area->nanoseconds_per_tick = clock_calibrate();
  PMPI_Barrier(MPI_COMM_WORLD);
  team.weak_yields = (int)team_agree(
      &team, team.oversubscribed && session_is_autogroup() && !session_is_shared(team.rank));
  return 0;
}

static int run(FILE* out, int words, char** word) {
  if (words >= 6 && !strcmp(word[2], "cycles")) return time_cases(out, words - 3, word + 3);
  if (words == 4 && !strcmp(word[2], "live")) return live(out, atoi(word[3]));
  if (words == 4 && !strcmp(word[2], "churn")) return churn(out, atoi(word[3]));
  return 2;
}

int main(int argc, char** argv) {
  struct options o = {.pin = PIN_AUTO};
  if (argc > 1) read_cpus(&o, argv[1]);
  team_pin(&team, &o);  // hosts and Espalier look at the affinity in MPI_Init
  MPI_Init(&argc, &argv);
  if (start(&o)) PMPI_Abort(MPI_COMM_WORLD, 1);
  FILE* out = team.rank ? NULL : stdout;
  const int code = run(out, argc, argv);
  if (code && out) fprintf(stderr, "setup: the arguments are not as setup.c describes them\n");
  if (!code && out)
    printf("{\"kind\": \"end\", \"ranks\": %d, \"pinned\": %d, \"weak_yields\": %d}\n", team.size, team.pinned,
           team.weak_yields);
  MPI_Finalize();
  return code;
}
