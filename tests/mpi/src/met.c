/* One rank of a meeting by the C API:  met NAME RANK SIZE TIMEOUT_MS [SECONDS]
 * Prints the sum of all ranks, by a short and by a long call, or what is wrong; keeps its memory for so many seconds.
 * Ends with the code of the call. */
#include <espalier/espalier.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
  if (argc < 5) return 100;
  int rank = atoi(argv[2]), size = atoi(argv[3]);
  espalier_comm* comm;
  int code = espalier_comm_meet(argv[1], rank, size, atoi(argv[4]), &comm);
  if (code != ESPALIER_OK) {
    printf("%s\n", espalier_error_text());
    return code;
  }
  long mine = rank, sum = -1;
  for (int i = 0; i < 100 && code == ESPALIER_OK; ++i)
    code = espalier_allreduce(comm, &mine, &sum, 1, ESPALIER_INT64, ESPALIER_SUM);
  size_t count = 200000;
  long *many = malloc(count * sizeof *many), wrong = 0;
  for (size_t i = 0; i < count; ++i) many[i] = rank + (long)i;
  if (code == ESPALIER_OK) code = espalier_allreduce(comm, ESPALIER_IN_PLACE, many, count, ESPALIER_INT64, ESPALIER_SUM);
  for (size_t i = 0; i < count; ++i) wrong += many[i] != (long)size * (size - 1) / 2 + size * (long)i;
  if (code != ESPALIER_OK)
    printf("%s\n", espalier_error_text());
  else
    printf("sum %ld, %ld wrong\n", sum, wrong);
  fflush(stdout);
  if (argc > 5) sleep((unsigned)atoi(argv[5]));
  espalier_comm_free(comm);
  free(many);
  return code;
}
