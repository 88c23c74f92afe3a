#include "cases.h"

#include <mpi.h>
#include <string.h>

#include "../mpi/persistent.h"

enum { WINDOW_BYTES = 4096 };

static int own_rank;
static MPI_Group all_ranks;
static double one = 1, sum;
static char window_memory[WINDOW_BYTES];

void cases_begin(int rank) {
  own_rank = rank;
  MPI_Comm_group(MPI_COMM_WORLD, &all_ranks);
}

void cases_end(void) { MPI_Group_free(&all_ranks); }

static void use_and_free(MPI_Comm comm) {
  MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
  MPI_Comm_free(&comm);
}

static void dup_unused(void) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_free(&comm);
}

static void dup_used(void) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  use_and_free(comm);
}

static void split(int color) {
  MPI_Comm comm;
  MPI_Comm_split(MPI_COMM_WORLD, color, own_rank, &comm);
  use_and_free(comm);
}

static void split_halves(void) { split(own_rank % 2); }
static void split_all(void) { split(0); }

static void create_group(void) {
  MPI_Comm comm;
  MPI_Comm_create_group(MPI_COMM_WORLD, all_ranks, 7, &comm);
  use_and_free(comm);
}

#if HAS_PERSISTENT_COLLECTIVES
static void allreduce_init(void) {
  MPI_Request request;
  MPI_Allreduce_init(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  MPI_Request_free(&request);
}

static void barrier_init(void) {
  MPI_Request request;
  MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  MPI_Request_free(&request);
}

static void bcast_init(void) {
  MPI_Request request;
  MPI_Bcast_init(&one, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  MPI_Request_free(&request);
}
#endif

static void win_create(void) {
  MPI_Win window;
  MPI_Win_create(window_memory, WINDOW_BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_free(&window);
}

static void win_allocate(void) {
  MPI_Win window;
  void* memory;
  MPI_Win_allocate(WINDOW_BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  MPI_Win_free(&window);
}

const struct setup_case setup_cases[] = {
    {"dup", dup_unused},
    {"dup, allreduce", dup_used},
    {"split in halves, allreduce", split_halves},
    {"split of all, allreduce", split_all},
    {"create_group, allreduce", create_group},
#if HAS_PERSISTENT_COLLECTIVES
    {"allreduce_init", allreduce_init},
    {"barrier_init", barrier_init},
    {"bcast_init", bcast_init},
#endif
    {"win_create", win_create},
    {"win_allocate", win_allocate},
};
const int setup_cases_number = sizeof setup_cases / sizeof *setup_cases;

const struct setup_case* case_named(const char* name) {
  for (int i = 0; i < setup_cases_number; ++i)
    if (!strcmp(setup_cases[i].name, name)) return &setup_cases[i];
  return NULL;
}
