#define _GNU_SOURCE
#include "area.h"

#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct area* map(int fd) {
  void* p = mmap(NULL, sizeof(struct area), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
  return p == MAP_FAILED ? NULL : p;
}

static int create(const char* file) {
  const int fd = file ? open(file, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600)
                      : memfd_create("espalier-bench", MFD_CLOEXEC);
  if (fd >= 0 && ftruncate(fd, sizeof(struct area)) == 0) return fd;
  fprintf(stderr, "compare: cannot make shared memory: %s\n", strerror(errno));
  return -1;
}

// Without a file the others open rank 0's descriptor through /proc, so nothing ever has a name in a file
// system.
struct area* area_make(int rank, int size, const char* file) {
  char path[512] = "";
  int fd = -1;
  if (size > MAX_RANKS) {
    if (!rank) fprintf(stderr, "compare: %d ranks, but at most %d are supported\n", size, MAX_RANKS);
    return NULL;
  }
  if (!rank) {
    fd = create(file);
    if (file)
      snprintf(path, sizeof path, "%s", file);
    else
      snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getpid(), fd);
  }
  PMPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD);
  if (rank) fd = open(path, O_RDWR | O_CLOEXEC);
  struct area* area = fd >= 0 ? map(fd) : NULL;
  if (!area) fprintf(stderr, "compare: rank %d cannot map %s: %s\n", rank, path, strerror(errno));
  PMPI_Barrier(MPI_COMM_WORLD);  // rank 0 must not close before all have opened
  if (fd >= 0) close(fd);
  if (!rank && file) unlink(file);
  return area;
}
