#include "usage.h"

#include <dirent.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS = sizeof(struct usage) / sizeof(long) };

static long field(const char* path, const char* name) {
  char line[512];
  long value = 0;
  FILE* file = fopen(path, "r");
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
  return count - 3;  // ".", ".." and the folder itself
}

static long maps(void) {
  long count = 0;
  FILE* file = fopen("/proc/self/maps", "r");
  for (int c; file && (c = fgetc(file)) != EOF;) count += c == '\n';
  if (file) fclose(file);
  return count;
}

struct usage usage_now(void) {
  const char *status = "/proc/self/status", *rollup = "/proc/self/smaps_rollup";
  const struct usage now = {field(status, "VmRSS:"), field(status, "RssShmem:"), field(rollup, "Pss_Shmem:"),
                            descriptors(), maps()};
  return now;
}

void usage_print(FILE* out, const char* name, const struct usage* mine, int size) {
  static const char* const keys[FIELDS] = {"rss_kib", "shmem_kib", "own_shmem_kib", "descriptors", "maps"};
  long values[FIELDS], sums[FIELDS];
  memcpy(values, mine, sizeof values);
  PMPI_Reduce(values, sums, FIELDS, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (!out) return;
  fprintf(out, ", \"%s\": {", name);
  for (int i = 0; i < FIELDS; ++i)
    fprintf(out, "%s\"%s\": %.1f", i ? ", " : "", keys[i], (double)sums[i] / size);
  fputs("}", out);
}
