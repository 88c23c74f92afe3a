/* Runs the steps of a program. */
#ifndef SOAK_RUN_H
#define SOAK_RUN_H

#include "files.h"
#include "others.h"
#include "shortage.h"

/* What a thread has begun and not ended. */
typedef struct {
  Work* open;
  int opened;
  Message message;
} Thread;

/* At the same steps on all ranks: persistent calls are started once more here. */
static void wait_for_all(Thread* thread) {
  for (int i = 0; i < thread->opened; ++i) finish_call(&thread->open[i]);
  free(thread->open);
  thread->open = NULL;
  thread->opened = 0;
}

/* Not on what it is not for: a minimiser leaves steps out, on all ranks alike. */
static int fits(const Step* s, const View* v) {
  if (v->is_inter) return s->verb == BARRIER || s->verb == BCAST || (s->verb == ALLREDUCE && s->form == BLOCKING);
  if (s->verb == NEIGHBOR_ALLGATHER || s->verb == NEIGHBOR_ALLTOALL) {
    int kind;
    MPI_Topo_test(v->comm, &kind);
    return kind == MPI_CART || kind == MPI_DIST_GRAPH;
  }
  return 1;
}

static void collective(Thread* thread, const Step* s) {
  Work work = {.step = *s, .view = view_of(s->comm)};
  if (!fits(s, &work.view)) {
    free(work.view.from), free(work.view.to);
    return;
  }
  work.root = s->root % (work.view.is_inter && !work.view.group ? work.view.remote : work.view.size);
  work.shape = shape_of(s, &work.view, work.root);
  begin_call(&work);
  if (s->form == BLOCKING) return finish_call(&work);
  thread->open = take_again(thread->open, sizeof(Work) * (size_t)(thread->opened + 1));
  thread->open[thread->opened++] = work;
}

static void run_step(Thread* thread, const Step* s) {
  if (s->verb == WAIT) return wait_for_all(thread);
  if (s->verb == COMPLETE) return complete(&thread->message);
  if (s->verb == TIMER) return set_timer(s->us);
  if (s->verb == DELAY) return s->rank == world_rank ? sleep_for(s->us) : (void)0;
  if (s->verb == FORK) return s->rank == world_rank ? fork_once() : (void)0;
  if (s->verb >= DUP && s->verb <= FREE) {
    wait_for_all(thread); /* nothing is under way on a communicator that is freed */
    complete(&thread->message);
    return s->verb == FREE ? free_communicator(s->to) : make_communicator(s);
  }
  if (communicators[s->comm] == MPI_COMM_NULL) return;
  if (s->verb < WAIT) return collective(thread, s);
  if (is_inter(communicators[s->comm])) return;
  if (s->verb == WINDOW) return window(s);
  if (s->verb == FILE_IO) return use_file(s);
  complete(&thread->message);
  post(&thread->message, s);
  if (s->verb == RING) complete(&thread->message);
}

/* Those of one thread between two JOINs. */
typedef struct {
  const Step* steps;
  int number, which;
} Part;

static void* run_part(void* argument) {
  const Part* part = argument;
  Thread thread = {.open = NULL};
  for (int i = 0; i < part->number; ++i)
    if (part->steps[i].thread == part->which) run_step(&thread, &part->steps[i]);
  wait_for_all(&thread);
  complete(&thread.message);
  return NULL;
}

static void begin_thread(pthread_t* thread, Part* part) {
  if (!pthread_create(thread, NULL, run_part, part)) return;
  lift();
  if (pthread_create(thread, NULL, run_part, part)) give_up("memory for a thread");
  tighten();
}

static int run_threads(const Step* steps, int number) {
  int length = 0;
  while (length < number && steps[length].verb != JOIN) ++length;
  pthread_t threads[THREADS];
  Part parts[THREADS];
  for (int t = 0; t < THREADS; ++t) {
    parts[t] = (Part){steps, length, t + 1};
    begin_thread(&threads[t], &parts[t]);
  }
  for (int t = 0; t < THREADS; ++t) pthread_join(threads[t], NULL);
  return length;
}

static void run_program(const Step* steps, int number) {
  Thread thread = {.open = NULL};
  for (int i = 0; i < number; ++i)
    if (steps[i].thread > 0) {
      wait_for_all(&thread);
      complete(&thread.message);
      i += run_threads(steps + i, number - i);
    } else if (steps[i].verb != JOIN) {
      run_step(&thread, &steps[i]);
    }
  wait_for_all(&thread);
  complete(&thread.message);
  set_timer(0);
}

/* By messages of their own, which are not under test. Rank 0 says what came of it. */
static int sum_up(void) {
  int size;
  uint64_t mine[3] = {(uint64_t)calls_done, (uint64_t)calls_wrong, digest}, theirs[3];
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (world_rank != 0) {
    MPI_Send(mine, 3, MPI_UINT64_T, 0, 11, MPI_COMM_WORLD);
    return calls_wrong != 0;
  }
  for (int r = 1; r < size; ++r) {
    MPI_Recv(theirs, 3, MPI_UINT64_T, r, 11, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < 3; ++i) mine[i] += theirs[i];
  }
  printf("soak: %llu results on %d ranks, %llu wrong, digest %016llx\n", (unsigned long long)mine[0], size,
         (unsigned long long)mine[1], (unsigned long long)mine[2]);
  return mine[1] != 0;
}

static int soak(int argc, char** argv, const Step* steps, int number) {
  int provided, status;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  for (int i = 1; i < COMMUNICATORS; ++i) communicators[i] = MPI_COMM_NULL;
  communicators[0] = MPI_COMM_WORLD;
  make_types();
  begin_shortage();
  run_program(steps, number);
  for (int i = 1; i < COMMUNICATORS; ++i) free_communicator(i);
  free_types();
  status = sum_up();
  MPI_Finalize();
  return status;
}

#endif
