#define _GNU_SOURCE
#include "session.h"

#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

int session_leave(void) {
  const pid_t launcher = getppid();
  if (getsid(0) == getpid()) return 0;
  // The leader of a process group may not make a session, so it joins the launcher's group first.
  if (getpgrp() == getpid() && setpgid(0, getpgid(launcher))) return -1;
  if (setsid() < 0 || getsid(0) != getpid()) return -1;
  // A launcher that is killed no longer reaches this rank by its group.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  return getppid() == launcher ? 0 : -1;
}

int session_is_shared(int rank) {
  long mine = getsid(0), least = 0, most = 0;
  PMPI_Reduce(&mine, &least, 1, MPI_LONG, MPI_MIN, 0, MPI_COMM_WORLD);
  PMPI_Reduce(&mine, &most, 1, MPI_LONG, MPI_MAX, 0, MPI_COMM_WORLD);
  return !rank && least == most;
}

int session_is_own(int rank) {
  int mine = getsid(0) == getpid(), all = 0;
  PMPI_Reduce(&mine, &all, 1, MPI_INT, MPI_MIN, 0, MPI_COMM_WORLD);
  return !rank && all;
}

int session_is_autogroup(void) {
  FILE* f = fopen("/proc/sys/kernel/sched_autogroup_enabled", "r");
  const int on = f && fgetc(f) == '1';
  if (f) fclose(f);
  return on;
}
