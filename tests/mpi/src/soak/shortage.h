/* Shortages that a rank has from the end of MPI_Init on: SOAK_SHORTAGE=descriptors:8 leaves it so many more than are open,
   memory:64 so many MiB of address space. Its launcher has none. */
#ifndef SOAK_SHORTAGE_H
#define SOAK_SHORTAGE_H

#include <dirent.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "crash.h"

enum { GIVEN_UP = 3, LEFT_FOR_LIBRARIES = 4 << 20 };

/* Ends the job with an error that names the reason. */
static void give_up(const char* what) {
  fprintf(stderr, "soak: no %s\n", what);
  MPI_Abort(MPI_COMM_WORLD, GIVEN_UP);
  _exit(GIVEN_UP);
}

/* Descriptors below the highest one that are free would be more than asked for. */
static rlim_t descriptors_in_use(void) {
  int most = 2, next = 0;
  DIR* folder = opendir("/proc/self/fd");
  for (struct dirent* entry; folder && (entry = readdir(folder));)
    if (atoi(entry->d_name) > most) most = atoi(entry->d_name);
  if (folder) closedir(folder);
  while (next >= 0 && next < most) next = open("/dev/null", O_RDONLY | O_CLOEXEC);
  return (rlim_t)(next > most ? next : most) + 1;
}

static rlim_t address_space_in_use(void) {
  unsigned long pages = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  if (!file || fscanf(file, "%lu", &pages) != 1) give_up("statm");
  fclose(file);
  return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

static void set_limit(int resource, rlim_t most) {
  struct rlimit limit;
  getrlimit(resource, &limit);
  limit.rlim_cur = limit.rlim_max == RLIM_INFINITY || most < limit.rlim_max ? most : limit.rlim_max;
  setrlimit(resource, &limit);
}

/* It is the libraries that lack memory, not the program: what it takes itself gets room, and little is left behind that. */
static int lacks_memory;

static void lift(void) {
  if (lacks_memory) set_limit(RLIMIT_AS, RLIM_INFINITY);
}

static void tighten(void) {
  if (lacks_memory) set_limit(RLIMIT_AS, address_space_in_use() + LEFT_FOR_LIBRARIES);
}

static void* take_again(void* memory, size_t bytes) {
  void* taken = realloc(memory, bytes);
  if (taken || !bytes) return taken;
  lift();
  taken = realloc(memory, bytes);
  if (!taken) give_up("memory for a buffer");
  tighten();
  return taken;
}

static void* take(size_t bytes) { return take_again(NULL, bytes); }

/* A stack that finds no address space to grow into is a segmentation fault, whatever the function that needs it does. */
static void grow_stack(void) {
  volatile char room[1 << 20];
  for (size_t i = 0; i < sizeof room; i += 4096) room[i] = 0;
}

static void begin_shortage(void) {
  const char* asked = getenv("SOAK_SHORTAGE");
  const char* number = asked ? strchr(asked, ':') : NULL;
  if (!number) return;
  watch_crashes();
  const rlim_t more = (rlim_t)strtoul(number + 1, NULL, 10);
  if (!strncmp(asked, "descriptors:", 12)) set_limit(RLIMIT_NOFILE, descriptors_in_use() + more);
  lacks_memory = !strncmp(asked, "memory:", 7);
  grow_stack();
  if (lacks_memory) set_limit(RLIMIT_AS, address_space_in_use() + (more << 20));
}

#endif
