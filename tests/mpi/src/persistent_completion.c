/* Every way to complete persistent collectives: alone, and in arrays among messages, inactive and null
   requests. For hosts that have it wrong: "idle-messages" lets persistent messages be what is inactive,
   "-testall" leaves a way out. */
#include <mpi.h>

#include <sched.h>
#include <stdio.h>
#include <string.h>

enum { count = 300, rounds = 4, once_tag = 1, again_tag = 2 };

static int rank, size, left, right, failed;
static long checks;

static void expect(int good, const char* what, const char* when) {
  ++checks;
  if (good) return;
  if (++failed <= 10) fprintf(stderr, "FAILED %s, %s, on rank %d\n", what, when, rank);
}

/* --- What is completed */

enum { sum, receive_once, null, inactive, receive_again, send_again, send_once, cast, many };

static MPI_Request requests[many];
static long mine[count], sums[count], cast_data[count], idle[2], outgoing, arrived_once, arrived_again;
static int done[many];
static const int is_active[many] = {1, 1, 0, 0, 1, 1, 1, 1};

static void prepare(int idle_messages) {
  MPI_Allreduce_init(mine, sums, count, MPI_LONG, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[sum]);
  if (idle_messages)
    MPI_Send_init(&idle[0], 1, MPI_LONG, right, again_tag, MPI_COMM_WORLD, &requests[inactive]);
  else
    MPI_Allreduce_init(&idle[0], &idle[1], 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD, MPI_INFO_NULL,
                       &requests[inactive]);
  MPI_Bcast_init(cast_data, count, MPI_LONG, size - 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[cast]);
  MPI_Recv_init(&arrived_again, 1, MPI_LONG, left, again_tag, MPI_COMM_WORLD, &requests[receive_again]);
  MPI_Send_init(&outgoing, 1, MPI_LONG, right, again_tag, MPI_COMM_WORLD, &requests[send_again]);
  requests[null] = requests[receive_once] = requests[send_once] = MPI_REQUEST_NULL;
}

static void begin(int round) {
  static const int persistent[] = {sum, receive_again, send_again, cast};
  for (int i = 0; i < count; ++i) {
    mine[i] = rank * 100L + i + round;
    sums[i] = -1;
    cast_data[i] = rank == size - 1 ? round * 1000L + i : -1;
  }
  outgoing = rank * 10L + round;
  arrived_once = arrived_again = -1;
  for (int k = 0; k < many; ++k) done[k] = 0;
  MPI_Irecv(&arrived_once, 1, MPI_LONG, left, once_tag, MPI_COMM_WORLD, &requests[receive_once]);
  MPI_Isend(&outgoing, 1, MPI_LONG, right, once_tag, MPI_COMM_WORLD, &requests[send_once]);
  for (int k = 0; k < 4; ++k) MPI_Start(&requests[persistent[k]]);
}

static void check_end(int round, const char* how) {
  int same = 1;
  for (int i = 0; i < count; ++i) {
    same &= sums[i] == size * (long)(i + round) + size * (size - 1L) / 2 * 100;
    same &= cast_data[i] == round * 1000L + i;
  }
  expect(same, how, "what the collectives bring");
  expect(arrived_once == left * 10L + round && arrived_again == arrived_once, how, "what the messages bring");
  expect(requests[receive_once] == MPI_REQUEST_NULL && requests[send_once] == MPI_REQUEST_NULL, how,
         "messages that are not persistent leave null");
  for (int k = 0; k < many; ++k) {
    expect(done[k] == is_active[k], how, "each active request completes once, and no other");
    if (k != null && k != receive_once && k != send_once)
      expect(requests[k] != MPI_REQUEST_NULL, how, "persistent requests stay");
  }
}

/* --- Statuses */

static MPI_Status spoilt(void) {
  MPI_Status status = {0};
  status.MPI_SOURCE = status.MPI_TAG = 7777;
  return status;
}

static int is_empty(const MPI_Status* status) {
  int bytes = -1, cancelled = -1;
  MPI_Get_count(status, MPI_BYTE, &bytes);
  MPI_Test_cancelled(status, &cancelled);
  return status->MPI_SOURCE == MPI_ANY_SOURCE && status->MPI_TAG == MPI_ANY_TAG && bytes == 0 && !cancelled;
}

/* What a collective's says is undefined. */
static void look_at(int k, const MPI_Status* status, const char* how) {
  int numbers = -1;
  if (k == null || k == inactive)
    expect(is_empty(status), how, "the status of null and inactive requests is empty");
  if (k != receive_once && k != receive_again) return;
  MPI_Get_count(status, MPI_LONG, &numbers);
  expect(status->MPI_SOURCE == left && status->MPI_TAG == (k == receive_once ? once_tag : again_tag) &&
             numbers == 1,
         how, "the status of a message that has come");
}

static void take(int k, const MPI_Status* status, const char* how) {
  expect(k >= 0 && k < many, how, "an index within the array");
  if (k < 0 || k >= many) return;
  ++done[k];
  if (status) look_at(k, status, how);
}

/* --- The ways */

static void by_wait(int with_status) {
  MPI_Status status = spoilt();
  for (int k = 0; k < many; ++k) {
    int next = (k + rank) % many;
    MPI_Wait(&requests[next], with_status ? &status : MPI_STATUS_IGNORE);
    if (with_status) look_at(next, &status, "wait");
    done[next] += is_active[next];
  }
}

static void by_test(int with_status) {
  MPI_Status status = spoilt();
  for (int k = many - 1; k >= 0; --k) {
    for (int flag = 0; !flag; sched_yield())
      MPI_Test(&requests[k], &flag, with_status ? &status : MPI_STATUS_IGNORE);
    if (with_status) look_at(k, &status, "test");
    done[k] += is_active[k];
  }
}

static void by_all(int with_status, int waits) {
  MPI_Status statuses[many];
  for (int k = 0; k < many; ++k) statuses[k] = spoilt();
  MPI_Status* told = with_status ? statuses : MPI_STATUSES_IGNORE;
  if (waits) MPI_Waitall(many, requests, told);
  for (int flag = waits; !flag; sched_yield()) MPI_Testall(many, requests, &flag, told);
  for (int k = 0; k < many; ++k) {
    done[k] += is_active[k];
    if (with_status) look_at(k, &statuses[k], waits ? "waitall" : "testall");
  }
}
static void by_waitall(int with_status) { by_all(with_status, 1); }
static void by_testall(int with_status) { by_all(with_status, 0); }

static void by_waitany(int with_status) {
  MPI_Status status = spoilt();
  for (int index = 0; index != MPI_UNDEFINED;) {
    MPI_Waitany(many, requests, &index, with_status ? &status : MPI_STATUS_IGNORE);
    if (index != MPI_UNDEFINED)
      take(index, with_status ? &status : NULL, "waitany");
    else if (with_status)
      expect(is_empty(&status), "waitany", "an empty status when nothing is active");
  }
}

static void by_testany(int with_status) {
  MPI_Status status = spoilt();
  for (int index = 0, flag = 0; !flag || index != MPI_UNDEFINED; sched_yield()) {
    MPI_Testany(many, requests, &index, &flag, with_status ? &status : MPI_STATUS_IGNORE);
    expect(flag || index == MPI_UNDEFINED, "testany", "no index where nothing is complete");
    if (flag && index != MPI_UNDEFINED) take(index, with_status ? &status : NULL, "testany");
  }
}

static void by_some(int with_status, int waits) {
  MPI_Status statuses[many];
  int indices[many];
  for (int out = 0; out != MPI_UNDEFINED; sched_yield()) {
    (waits ? MPI_Waitsome : MPI_Testsome)(many, requests, &out, indices,
                                          with_status ? statuses : MPI_STATUSES_IGNORE);
    expect(out == MPI_UNDEFINED || out >= waits, "some", "how many are complete");
    for (int n = 0; n < out; ++n)
      take(indices[n], with_status ? &statuses[n] : NULL, waits ? "waitsome" : "testsome");
  }
}
static void by_waitsome(int with_status) { by_some(with_status, 1); }
static void by_testsome(int with_status) { by_some(with_status, 0); }

/* Asking changes nothing: what is complete stays so until a rank waits. (MPICH and Intel MPI make
   persistent messages inactive when asked about them, so their statuses are not looked at twice.) */
static void by_get_status(int with_status) {
  MPI_Status status = spoilt();
  for (int k = 0; k < many; ++k)
    for (int again = 0; again < 2 && k != receive_again && k != send_again; ++again) {
      for (int flag = 0; !flag; sched_yield())
        MPI_Request_get_status(requests[k], &flag, with_status ? &status : MPI_STATUS_IGNORE);
      if (with_status) look_at(k, &status, "get_status");
    }
  expect(requests[receive_once] != MPI_REQUEST_NULL, "get_status", "the request is still there");
  by_waitall(with_status);
}

#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)

static void by_get_status_all(int with_status) {
  MPI_Status statuses[many];
  for (int flag = 0; !flag; sched_yield())
    MPI_Request_get_status_all(many, requests, &flag, with_status ? statuses : MPI_STATUSES_IGNORE);
  for (int k = 0; with_status && k < many; ++k) look_at(k, &statuses[k], "get_status_all");
  by_waitall(0);
}

static void by_get_status_any(int with_status) {
  MPI_Status status = spoilt();
  for (int index = 0, flag = 0; index != MPI_UNDEFINED || !flag; sched_yield()) {
    MPI_Request_get_status_any(many, requests, &index, &flag, with_status ? &status : MPI_STATUS_IGNORE);
    if (!flag || index == MPI_UNDEFINED) continue;
    if (with_status) look_at(index, &status, "get_status_any");
    MPI_Wait(&requests[index], MPI_STATUS_IGNORE);
    take(index, NULL, "get_status_any");
  }
}

static void by_get_status_some(int with_status) {
  MPI_Status statuses[many];
  int indices[many];
  for (int out = 0; out != MPI_UNDEFINED; sched_yield()) {
    MPI_Request_get_status_some(many, requests, &out, indices, with_status ? statuses : MPI_STATUSES_IGNORE);
    for (int n = 0; n < out; ++n) {
      if (with_status) look_at(indices[n], &statuses[n], "get_status_some");
      MPI_Wait(&requests[indices[n]], MPI_STATUS_IGNORE);
      take(indices[n], NULL, "get_status_some");
    }
  }
}

#endif

static const struct {
  const char* name;
  void (*complete)(int with_status);
} ways[] = {
    {"wait", by_wait},
    {"test", by_test},
    {"waitall", by_waitall},
    {"testall", by_testall},
    {"waitany", by_waitany},
    {"testany", by_testany},
    {"waitsome", by_waitsome},
    {"testsome", by_testsome},
    {"get_status", by_get_status},
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
    {"get_status_all", by_get_status_all},
    {"get_status_any", by_get_status_any},
    {"get_status_some", by_get_status_some},
#endif
};

/* Persistent requests that are not started are complete, with an empty status, and stay as they are. */
static void check_inactive(void) {
  MPI_Request idle_ones[] = {requests[inactive], MPI_REQUEST_NULL, requests[receive_again]};
  MPI_Status status = spoilt(), statuses[3] = {spoilt(), spoilt(), spoilt()};
  int flag = 0, index = 0, out = 0, indices[3];
  MPI_Wait(&idle_ones[0], &status);
  expect(is_empty(&status), "inactive", "wait");
  status = spoilt();
  MPI_Test(&idle_ones[0], &flag, &status);
  expect(flag && is_empty(&status), "inactive", "test");
  status = spoilt();
  MPI_Request_get_status(idle_ones[0], &flag, &status);
  expect(flag && is_empty(&status), "inactive", "get_status");
  MPI_Waitall(3, idle_ones, statuses);
  for (int k = 0; k < 3; ++k) expect(is_empty(&statuses[k]), "inactive", "waitall");
  MPI_Testall(3, idle_ones, &flag, statuses);
  expect(flag && is_empty(&statuses[0]), "inactive", "testall");
  MPI_Waitany(3, idle_ones, &index, &status);
  expect(index == MPI_UNDEFINED && is_empty(&status), "inactive", "waitany");
  MPI_Testany(3, idle_ones, &index, &flag, &status);
  expect(flag && index == MPI_UNDEFINED && is_empty(&status), "inactive", "testany");
  MPI_Waitsome(3, idle_ones, &out, indices, MPI_STATUSES_IGNORE);
  expect(out == MPI_UNDEFINED, "inactive", "waitsome");
  MPI_Testsome(3, idle_ones, &out, indices, MPI_STATUSES_IGNORE);
  expect(out == MPI_UNDEFINED, "inactive", "testsome");
  expect(idle_ones[0] == requests[inactive] && idle_ones[2] == requests[receive_again], "inactive",
         "the handles stay");
}

static int is_among(int argc, char** argv, const char* first, const char* then) {
  for (int k = 1; k < argc; ++k)
    if (!strncmp(argv[k], first, strlen(first)) && !strcmp(argv[k] + strlen(first), then)) return 1;
  return 0;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  left = (rank + size - 1) % size;
  right = (rank + 1) % size;
  prepare(is_among(argc, argv, "idle-", "messages"));
  check_inactive();
  for (int way = 0; way < (int)(sizeof ways / sizeof ways[0]); ++way)
    for (int round = 0; round < rounds && !is_among(argc, argv, "-", ways[way].name); ++round) {
      begin(round);
      ways[way].complete(round % 2);
      check_end(round, ways[way].name);
    }
  check_inactive();
  for (int k = 0; k < many; ++k) {
    if (requests[k] != MPI_REQUEST_NULL) MPI_Request_free(&requests[k]);
    expect(requests[k] == MPI_REQUEST_NULL, "free", "the request is null");
  }
  long own[2] = {checks, failed}, all[2] = {0, 0};
  MPI_Reduce(own, all, 2, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("persistent_completion: %ld checks, %ld failed\n", all[0], all[1]);
  MPI_Finalize();
  return failed > 0;
}
