/* Espalier without MPI: four processes add up their parts of pi.
 *
 *     cc allreduce.c -lespalier -lm && ./a.out
 *
 * The processes need nothing in common but a name. Here the program starts them itself with fork(); it could
 * as well be four programs started by a script, each with its rank in an argument. */
#include <espalier/espalier.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ranks = 4, steps = 1000000, patience_ms = 10000 };

/* Every function says how it went; the text says it in words. */
static void check(int code, const char* what) {
  if (code == ESPALIER_OK) return;
  fprintf(stderr, "%s: %s\n", what, espalier_error_text());
  exit(1);
}

/* The integral of 4 / (1 + x^2) from 0 to 1 is pi; each rank sums every fourth strip of it. */
static double my_part_of_pi(int rank) {
  double sum = 0;
  for (int i = rank; i < steps; i += ranks) {
    const double x = (i + 0.5) / steps;
    sum += 4 / (1 + x * x);
  }
  return sum / steps;
}

static int run(const char* name, int rank) {
  /* Rank 0 waits under this name until the others have come. From then on the ranks share memory; nothing of
   * it can be seen in the file system, and nothing is left when they end, however they end. */
  espalier_comm* comm = NULL;
  check(espalier_comm_meet(name, rank, ranks, patience_ms, &comm), "meeting");

  /* The sum over all ranks, on all ranks, with the same bits everywhere. */
  const double mine = my_part_of_pi(rank);
  double pi = 0;
  check(espalier_allreduce(comm, &mine, &pi, 1, ESPALIER_DOUBLE, ESPALIER_SUM), "allreduce");

  /* ESPALIER_IN_PLACE: the data are in the receive buffer already. Here all ranks find the largest error
   * together. */
  double error = fabs(pi - acos(-1));
  check(espalier_allreduce(comm, ESPALIER_IN_PLACE, &error, 1, ESPALIER_DOUBLE, ESPALIER_MAX), "allreduce");

  if (rank == 0)
    printf("pi is about %.12f (off by %.1e), by %d ranks\n", pi, error, espalier_comm_size(comm));
  espalier_comm_free(comm);
  return error < 1e-9 ? 0 : 1;
}

int main(void) {
  /* One name for each run, so that two runs at a time do not meet each other. */
  char name[32];
  snprintf(name, sizeof name, "pi-%ld", (long)getpid());

  /* The children are ranks 1 to 3, this process is rank 0. A process forks before it uses Espalier: shared
   * memory is not handed on to children. */
  for (int rank = 1; rank < ranks; ++rank) {
    const pid_t child = fork();
    if (child < 0) {
      perror("fork");
      return 1;
    }
    if (child == 0) return run(name, rank);
  }
  int failed = run(name, 0);
  int status = 0;
  while (wait(&status) > 0) failed |= status != 0;
  return failed;
}
