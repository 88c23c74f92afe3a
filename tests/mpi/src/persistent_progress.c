/* Between start and wait a rank owes the others nothing, and a start waits for no rank: ranks that start late
   or one after the other, that wait for a message from a rank that has completed, that are busy, that are a
   round ahead.
   "-gather" leaves a collective out, for hosts that have it wrong. With a folder as argument the stricter
   question, that most hosts answer with no: are all others done while rank 0, which has started, calls no MPI
   at all? */
#include <mpi.h>

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { token_tag = 3, long_tag = 4 };
typedef enum { barrier, bcast, reduce, allreduce, gather, alltoall, scan, kinds } Kind;
static const char* const names[kinds] = {"barrier", "bcast",    "reduce", "allreduce",
                                         "gather",  "alltoall", "scan"};

static int rank, size, last, failed, left_out[kinds];
static long checks;

/* Rank 0 gives, the last rank receives at least. */
typedef struct {
  Kind kind;
  int n;
  long *out, *in;
  MPI_Request request;
} Case;

static void expect(int good, const Case* c, const char* what) {
  ++checks;
  if (good) return;
  if (++failed <= 10)
    fprintf(stderr, "FAILED %s of %d on rank %d: %s\n", c ? names[c->kind] : "message", c ? c->n : 1, rank,
            what);
}

static long told(int source, int target, int i, int round) {
  return source * 1000L + target * 100000L + i * 3L + round * 7L;
}

static long sum(int before, int i, int round) {
  long total = 0;
  for (int source = 0; source < before; ++source) total += told(source, 0, i, round);
  return total;
}

static Case prepare(Kind kind, int n) {
  const MPI_Comm comm = MPI_COMM_WORLD;
  const MPI_Info info = MPI_INFO_NULL;
  Case c = {kind, n, malloc(size * n * sizeof(long)), malloc(size * n * sizeof(long)), MPI_REQUEST_NULL};
  MPI_Request* request = &c.request;
  if (kind == barrier) MPI_Barrier_init(comm, info, request);
  if (kind == bcast) MPI_Bcast_init(c.in, n, MPI_LONG, 0, comm, info, request);
  if (kind == reduce) MPI_Reduce_init(c.out, c.in, n, MPI_LONG, MPI_SUM, last, comm, info, request);
  if (kind == allreduce) MPI_Allreduce_init(c.out, c.in, n, MPI_LONG, MPI_SUM, comm, info, request);
  if (kind == gather) MPI_Gather_init(c.out, n, MPI_LONG, c.in, n, MPI_LONG, last, comm, info, request);
  if (kind == alltoall) MPI_Alltoall_init(c.out, n, MPI_LONG, c.in, n, MPI_LONG, comm, info, request);
  if (kind == scan) MPI_Scan_init(c.out, c.in, n, MPI_LONG, MPI_SUM, comm, info, request);
  return c;
}

static void release(Case* c) {
  MPI_Request_free(&c->request);
  free(c->out);
  free(c->in);
}

static void fill_and_start(Case* c, int round) {
  for (int i = 0; i < size * c->n; ++i) {
    c->out[i] = told(rank, c->kind == alltoall ? i / c->n : 0, i % c->n, round);
    c->in[i] = c->kind == bcast && rank == 0 ? told(0, 0, i, round) : -1;
  }
  MPI_Start(&c->request);
}

static void check(const Case* c, int round) {
  int good = 1, receives = c->kind != barrier && (rank == last || (c->kind != reduce && c->kind != gather));
  int blocks = c->kind == gather || c->kind == alltoall ? size : 1;
  for (int i = 0; i < blocks * c->n && receives; ++i) {
    long right = told(i / c->n, c->kind == alltoall ? rank : 0, i % c->n, round);
    if (c->kind == reduce || c->kind == allreduce) right = sum(size, i, round);
    if (c->kind == scan) right = sum(rank + 1, i, round);
    good &= c->in[i] == right;
  }
  expect(good, c, "what came out");
}

static void wait_and_check(Case* c, int round) {
  MPI_Wait(&c->request, MPI_STATUS_IGNORE);
  check(c, round);
}

static void test_and_check(Case* c, int round) {
  for (int flag = 0; !flag; sched_yield()) MPI_Test(&c->request, &flag, MPI_STATUS_IGNORE);
  check(c, round);
}

static void send_token(int to) { MPI_Send(&rank, 1, MPI_INT, to, token_tag, MPI_COMM_WORLD); }
static void await_token(int from) {
  int token = -1;
  MPI_Recv(&token, 1, MPI_INT, from, token_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  expect(token == from, NULL, "the sender's rank");
}

/* --- The situations */

/* Each rank starts when the one before it has. */
static void in_turn(Case* c) {
  if (rank > 0) await_token(rank - 1);
  fill_and_start(c, 1);
  if (rank < last) send_token(rank + 1);
  wait_and_check(c, 1);
}

/* Rank 0 waits, after its start, for a message that the last rank sends when it has completed. */
static void message_after_completion(Case* c) {
  fill_and_start(c, 2);
  if (rank == 0 && last > 0) await_token(last);
  wait_and_check(c, 2);
  if (rank == last && last > 0) send_token(0);
}

/* One after the other rank comes late; the others poll, or wait. */
static void late(Case* c) {
  for (int who = 0; who < size; ++who) {
    if (rank == who) usleep(2000);
    fill_and_start(c, who);
    (rank + who) % 2 ? test_and_check(c, who) : wait_and_check(c, who);
  }
}

/* Rank 0 computes between its start and its wait. */
static void busy(Case* c) {
  fill_and_start(c, 3);
  for (double end = MPI_Wtime() + 0.002; rank == 0 && MPI_Wtime() < end;) continue;
  wait_and_check(c, 3);
}

/* Rank 0 completes, changes its buffers and starts again before the others have looked at what it gave. */
static void a_round_ahead(Case* c) {
  fill_and_start(c, 0);
  for (int round = 0; round < 4; ++round) {
    if (rank > 0) await_token(0);
    wait_and_check(c, round);
    fill_and_start(c, round + 1);
    for (int to = 1; to < size && rank == 0; ++to) send_token(to);
  }
  wait_and_check(c, 4);
}

/* Rank 0's long message needs rank 0's help while that waits for a collective, which the receiver starts only
   when the message is there. */
static void message_in_flight(Case* c) {
  enum { length = 512 * 1024 };
  static long message[length];
  MPI_Request sent = MPI_REQUEST_NULL;
  for (int polls = 0; polls < 2; ++polls) {
    for (int i = 0; i < length; ++i) message[i] = rank == 0 ? i + polls : -1;
    if (rank == 0 && last > 0) MPI_Isend(message, length, MPI_LONG, last, long_tag, MPI_COMM_WORLD, &sent);
    if (rank == last && last > 0)
      MPI_Recv(message, length, MPI_LONG, 0, long_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    fill_and_start(c, polls);
    polls ? test_and_check(c, polls) : wait_and_check(c, polls);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
    expect(message[length - 1] == (rank == 0 || rank == last ? length - 1 + polls : -1), NULL, "a long one");
  }
}

/* The last rank gets its message although the collective that it also waits for is not started elsewhere. */
static void message_first(Case* c) {
  MPI_Request both[2] = {c->request, MPI_REQUEST_NULL};
  int token = -1, index = -1, flag = 1, out = -1, indices[2];
  if (rank == last && last > 0) {
    fill_and_start(c, 5);
    for (int some = 0; some < 2; ++some) {
      MPI_Irecv(&token, 1, MPI_INT, 0, token_tag, MPI_COMM_WORLD, &both[1]);
      some ? MPI_Waitsome(2, both, &out, &index, MPI_STATUSES_IGNORE)
           : MPI_Waitany(2, both, &index, MPI_STATUS_IGNORE);
      expect(index == 1 && token == 0, c, "the message comes first");
      MPI_Test(&both[0], &flag, MPI_STATUS_IGNORE);
      MPI_Testsome(2, both, &out, indices, MPI_STATUSES_IGNORE);
      expect(!flag && out == 0, c, "it is not complete before all have started");
      send_token(0);
    }
  } else {
    for (int k = 0; k < 2 && rank == 0 && last > 0; ++k) {
      send_token(last);
      await_token(last);
    }
    fill_and_start(c, 5);
  }
  wait_and_check(c, 5);
}

static void check_situations(Case* c) {
  in_turn(c);
  message_after_completion(c);
  late(c);
  busy(c);
  a_round_ahead(c);
  /* A rank that only gives may be done before others start. */
  if (c->kind == allreduce || c->kind == barrier || c->kind == alltoall) message_in_flight(c);
  message_first(c);
}

/* Rank 0 stays away from MPI until a file tells it that the last rank has completed. */
static void check_without_rank_0(Case* c, const char* folder) {
  char name[4096];
  snprintf(name, sizeof name, "%s/%s-%d", folder, names[c->kind], c->n);
  fill_and_start(c, 6);
  if (rank == 0) {
    int waited = 0;
    for (; access(name, F_OK) && waited < 5000; ++waited) usleep(1000);
    expect(waited < 5000, c, "the others do not complete while rank 0 is away");
  }
  wait_and_check(c, 6);
  if (rank == last) fclose(fopen(name, "w"));
}

int main(int argc, char** argv) {
  static const int lengths[] = {1, 14, 1000, 20000};
  const char* folder = NULL;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  last = size - 1;
  for (int k = 1; k < argc; ++k) {
    if (argv[k][0] != '-') folder = argv[k];
    for (Kind kind = 0; kind < kinds; ++kind)
      if (argv[k][0] == '-' && !strcmp(argv[k] + 1, names[kind])) left_out[kind] = 1;
  }
  for (Kind kind = 0; kind < kinds; ++kind)
    for (int k = 0; k < (kind == barrier ? 1 : 4) && !left_out[kind]; ++k) {
      Case c = prepare(kind, lengths[k]);
      folder ? check_without_rank_0(&c, folder) : check_situations(&c);
      release(&c);
    }
  long own[2] = {checks, failed}, all[2] = {0, 0};
  MPI_Reduce(own, all, 2, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("persistent_progress: %ld checks, %ld failed\n", all[0], all[1]);
  MPI_Finalize();
  return failed > 0;
}
