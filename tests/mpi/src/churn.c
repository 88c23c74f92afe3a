/* Creates, uses and frees communicators many times; memory, descriptors and maps must end as they began.
     churn [cycles] */
#include <mpi.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct usage {
  long kibibytes, shared_kibibytes, descriptors, maps;
};

static long field(const char* name) {
  char line[256];
  long value = -1;
  FILE* file = fopen("/proc/self/status", "r");
  while (file && fgets(line, sizeof line, file))
    if (strncmp(line, name, strlen(name)) == 0) value = atol(line + strlen(name));
  if (file) fclose(file);
  return value;
}

static long descriptors(void) {
  long count = 0;
  DIR* folder = opendir("/proc/self/fd");
  while (folder && readdir(folder)) ++count;
  if (folder) closedir(folder);
  return count;
}

static long maps(void) {
  long count = 0;
  FILE* file = fopen("/proc/self/maps", "r");
  for (int c; file && (c = fgetc(file)) != EOF;) count += c == '\n';
  if (file) fclose(file);
  return count;
}

static struct usage measure(void) {
  struct usage now = {field("VmRSS:"), field("RssShmem:"), descriptors(), maps()};
  return now;
}

static int use(MPI_Comm comm, int cycle) {
  int rank, size, failed = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  long mine = rank + cycle, sum = 0, told = rank == cycle % size ? cycle : -1;
  MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, comm);
  failed |= sum != (long)size * cycle + (long)size * (size - 1) / 2;
  MPI_Bcast(&told, 1, MPI_LONG, cycle % size, comm);
  failed |= told != cycle;
  if (cycle % 4 == 0) {
    enum { many = 5000 };
    static double numbers[many], sums[many];
    for (int i = 0; i < many; ++i) numbers[i] = i + rank;
    MPI_Allreduce(numbers, sums, many, MPI_DOUBLE, MPI_SUM, comm);
    for (int i = 0; i < many; ++i) failed |= sums[i] != (double)size * i + size * (size - 1) / 2;
  }
  MPI_Barrier(comm);
  return failed;
}

static int cycle(int number, int rank) {
  MPI_Comm comm, second;
  int failed = 0;
  if (number % 2) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  } else {
    MPI_Comm_split(MPI_COMM_WORLD, number % 3 ? rank % 2 : 0, -rank, &comm);
  }
  failed |= use(comm, number);
  /* At times two live at once, freed in the other order, and one is dropped unused. */
  if (number % 5 == 0) {
    MPI_Comm_dup(comm, &second);
    if (number % 10 == 0) failed |= use(second, number + 1);
    MPI_Comm_free(&comm);
    comm = second;
  }
  if (number % 7 == 0)
    MPI_Comm_disconnect(&comm);
  else
    MPI_Comm_free(&comm);
  return failed;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int cycles = argc > 1 ? atoi(argv[1]) : 10000, warm_up = 600, rank, failed = 0;
  const long slack_kibibytes =
      4096; /* the heap's own breathing; a leak of 1 KiB a cycle is over twice that */
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < warm_up; ++i) failed |= cycle(i, rank);
  struct usage before = measure();
  for (int i = 0; i < cycles; ++i) failed |= cycle(i, rank);
  struct usage after = measure();
  int grown = after.kibibytes > before.kibibytes + slack_kibibytes ||
              after.descriptors > before.descriptors || after.maps > before.maps + 2;
  if (grown || failed || rank == 0)
    fprintf(grown || failed ? stderr : stdout,
            "churn, rank %d, %d cycles%s: %ld -> %ld KiB (shared %ld -> %ld), %ld -> %ld descriptors, %ld -> "
            "%ld maps%s\n",
            rank, cycles, failed ? ", WRONG RESULTS" : "", before.kibibytes, after.kibibytes,
            before.shared_kibibytes, after.shared_kibibytes, before.descriptors, after.descriptors,
            before.maps, after.maps, grown ? ": GROWN" : "");
  MPI_Finalize();
  return grown || failed;
}
