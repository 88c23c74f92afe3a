// Drives the host MPI of a rank that waits outside it.
#ifndef ESPALIER_BENCH_PROGRESS_H
#define ESPALIER_BENCH_PROGRESS_H

// Between progress_open and progress_close, both collective in no way, progress_poke runs the host's whole
// progress engine once; else it does nothing.
void progress_open(void);
void progress_poke(void);
void progress_close(void);

#endif
