// Which session, and with it which autogroup of Linux's fair scheduler, a rank belongs to. The scheduler
// shares a core between autogroups: a rank alone in its group gives nothing away by yielding.
#ifndef ESPALIER_BENCH_SESSION_H
#define ESPALIER_BENCH_SESSION_H

// Moves the calling process into a session of its own. 0 if it is in one afterwards. Called before MPI_Init.
int session_leave(void);

// 1 if all ranks are in one session, 0 if not. On all ranks, after MPI_Init; the answer counts on rank 0.
int session_is_shared(int rank);

// 1 if every rank leads its own session. On all ranks; the answer counts on rank 0.
int session_is_own(int rank);

// 1 if sessions are autogroups: /proc/sys/kernel/sched_autogroup_enabled.
int session_is_autogroup(void);

#endif
