/* What programs do between collectives. */
#ifndef SOAK_OTHERS_H
#define SOAK_OTHERS_H

#include <errno.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "calls.h"
#include "communicators.h"

/* A message to the next rank and one from the previous, in one step or begun in one and ended in another. */
typedef struct {
  Step step;
  int is_open, from;
  char *out, *in, *want;
  size_t bytes;
  MPI_Request requests[2];
} Message;

static void post(Message* m, const Step* s) {
  const View v = view_of(s->comm);
  const Type* t = &types[s->type];
  m->step = *s;
  m->is_open = 1;
  m->bytes = (size_t)s->count * (size_t)(t->cell * t->extent) + GUARD;
  m->out = take(m->bytes), m->in = take(m->bytes), m->want = take(m->bytes);
  memset(m->out, FRESH, m->bytes), memset(m->in, FRESH, m->bytes), memset(m->want, FRESH, m->bytes);
  m->from = (v.rank + v.size - 1) % v.size;
  Side out = {0}, want = {0};
  add(&out, 0, s->count, v.rank, v.rank, 0);
  add(&want, 0, s->count, m->from, m->from, 0);
  fill(s, m->out, &out, 0);
  fill(s, m->want, &want, 0);
  free(out.block), free(want.block), free(v.from), free(v.to);
  MPI_Irecv(m->in, (int)s->count, t->type, m->from, 7, v.comm, &m->requests[0]);
  MPI_Isend(m->out, (int)s->count, t->type, (v.rank + 1) % v.size, 7, v.comm, &m->requests[1]);
}

static void complete(Message* m) {
  if (!m->is_open) return;
  MPI_Waitall(2, m->requests, MPI_STATUSES_IGNORE);
  const long at = difference(m->want, m->in, m->bytes);
  count(&m->step, at < 0, "the message", at);
  free(m->out), free(m->in), free(m->want);
  m->is_open = 0;
}

static void window(const Step* s) {
  const View v = view_of(s->comm);
  int64_t *memory = NULL, out[8];
  MPI_Win win;
  MPI_Win_allocate(sizeof out, sizeof(int64_t), MPI_INFO_NULL, v.comm, &memory, &win);
  for (int i = 0; i < 8; ++i) out[i] = (int64_t)bits(s->seed, (uint64_t)v.rank, 9, (uint64_t)i), memory[i] = 0;
  MPI_Win_fence(0, win);
  MPI_Put(out, 8, MPI_INT64_T, (v.rank + 1) % v.size, 0, 8, MPI_INT64_T, win);
  MPI_Win_fence(0, win);
  long at = -1;
  for (int i = 0; i < 8; ++i)
    if (memory[i] != (int64_t)bits(s->seed, (uint64_t)((v.rank + v.size - 1) % v.size), 9, (uint64_t)i)) at = i;
  count(s, at < 0, "the window", at);
  MPI_Win_free(&win);
  free(v.from), free(v.to);
}

static void sleep_for(long us) {
  struct timespec left = {us / 1000000, us % 1000000 * 1000};
  while (nanosleep(&left, &left) != 0) { /* a signal of the timer */
  }
}

static void on_alarm(int number) { (void)number; }

static void set_timer(long us) {
  struct sigaction action = {.sa_handler = on_alarm}; /* calls of the system are not begun anew */
  const struct itimerval every = {{us / 1000000, us % 1000000}, {us / 1000000, us % 1000000}};
  sigaction(SIGALRM, &action, NULL);
  setitimer(ITIMER_REAL, &every, NULL);
}

static void fork_once(void) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  if (child > 0)
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {
    }
}

#endif
