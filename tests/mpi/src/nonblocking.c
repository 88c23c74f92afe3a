/* Nonblocking collectives: what comes out of them, every way to complete them, what ranks may do between start
   and completion. Arguments are the parts to run, or, with "-" before them, those to leave out. "-strangers": the
   first collective of a communicator is a blocking one, as over nodes its ranks have to meet. */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int rank, size, left, right, failed, ranks_meet;
static long checks;

static void expect(int good, const char* part, const char* what) {
  ++checks;
  if (good) return;
  if (++failed <= 10) fprintf(stderr, "FAILED %s, %s, on rank %d\n", part, what, rank);
}

#include "nonblocking_calls.h"

/* --- Parts */

static void alone(void) {
  static const int counts[] = {1, 5, 12, 13, 40, 511, 600, 5000, 60000};
  int round = 0;
  for (unsigned c = 0; c < sizeof counts / sizeof *counts; ++c)
    for (int kind = 0; kind < kinds; ++kind)
      for (int i = 0; i < (counts[c] > 1000 ? 2 : 8); ++i) {
        struct call call;
        begin(&call, kind, counts[c], ++round, MPI_COMM_WORLD);
        MPI_Wait(&call.request, MPI_STATUS_IGNORE);
        end(&call, "alone");
      }
}

/* Blocks that go over nodes in several messages. */
static void long_blocks(void) {
  if (!ranks_meet || size > 5) return;
  static const char* const names[] = {"alltoallv", "alltoallw", "gatherv", "scatterv", "allgatherv"};
  for (int kind = 0, round = 0; kind < kinds; ++kind)
    for (unsigned i = 0; i < sizeof names / sizeof *names; ++i) {
      struct call call;
      if (strcmp(table[kind].name, names[i])) continue;
      begin(&call, kind, 300000, ++round, MPI_COMM_WORLD);
      MPI_Wait(&call.request, MPI_STATUS_IGNORE);
      end(&call, "long_blocks");
    }
}

/* More than the first pages of lines have room for. */
enum { most = 90 };

static void many(void) {
  static struct call calls[most];
  for (int turn = 0; turn < 4; ++turn) {
    for (int i = 0; i < most; ++i)
      begin(&calls[i], (i + turn) % kinds, i % 7 == 3 ? 1500 : 1 + i % 20, turn * most + i, MPI_COMM_WORLD);
    for (int i = 0; i < most; ++i) {
      struct call* call = &calls[(turn + rank) % 2 ? i : most - 1 - i];
      MPI_Wait(&call->request, MPI_STATUS_IGNORE);
      end(call, "many");
    }
  }
}

/* A rank is late by longer than the others wait before they ask where it is, over nodes; they have begun many calls by then. */
static void late(void) {
  static struct call calls[most];
  const struct timespec second = {1, 0};
  if (rank == size - 1) nanosleep(&second, NULL);
  for (int i = 0; i < most; ++i) begin(&calls[i], i % kinds, 10, i, MPI_COMM_WORLD);
  for (int i = 0; i < most; ++i) {
    MPI_Wait(&calls[i].request, MPI_STATUS_IGNORE);
    end(&calls[i], "late");
  }
}

/* Arrays with messages, null requests and collectives, completed in every way. */
static void ways(void) {
  enum { n = kinds };
  static const char* const all[] = {"waitall",  "waitany", "waitsome", "testall",   "testany",
                                    "testsome", "test",    "wait",     "get_status"};
  for (int way = 0; way < 9; ++way)
    for (int turn = 0; turn < 3; ++turn) {
      struct call calls[n];
      MPI_Request requests[n + 3];
      MPI_Status statuses[n + 3];
      int indices[n + 3], done[n + 3] = {0}, flag = 0, index, some;
      long out = rank + 10 * turn, in = -1;
      for (int i = 0; i < n; ++i) {
        begin(&calls[i], i % kinds, turn == 2 ? 3000 : 3, way * 100 + turn * 20 + i, MPI_COMM_WORLD);
        requests[i] = calls[i].request;
      }
      requests[n] = MPI_REQUEST_NULL;
      MPI_Irecv(&in, 1, MPI_LONG, left, 5, MPI_COMM_WORLD, &requests[n + 1]);
      MPI_Isend(&out, 1, MPI_LONG, right, 5, MPI_COMM_WORLD, &requests[n + 2]);
      switch (way) {
        case 0:
          MPI_Waitall(n + 3, requests, turn ? statuses : MPI_STATUSES_IGNORE);
          if (turn) expect(statuses[n + 1].MPI_SOURCE == left, all[way], "the status of the message");
          break;
        case 1:
          for (int k = 0; k < n + 2; ++k) {
            MPI_Waitany(n + 3, requests, &index, &statuses[0]);
            expect(index >= 0 && index != n && !done[index]++, all[way], "an index, once");
            if (index == n + 1) expect(statuses[0].MPI_SOURCE == left, all[way], "the status of the message");
          }
          MPI_Waitany(n + 3, requests, &index, MPI_STATUS_IGNORE);
          expect(index == MPI_UNDEFINED, all[way], "then none is left");
          break;
        case 2:
          for (int k = 0; k < n + 2; k += some) {
            MPI_Waitsome(n + 3, requests, &some, indices, statuses);
            expect(some > 0, all[way], "some");
            for (int j = 0; j < some; ++j) expect(!done[indices[j]]++, all[way], "each once");
          }
          break;
        case 3:
          while (!flag) MPI_Testall(n + 3, requests, &flag, turn ? statuses : MPI_STATUSES_IGNORE);
          break;
        case 4:
          for (int k = 0; k < n + 2; k += flag) {
            MPI_Testany(n + 3, requests, &index, &flag, MPI_STATUS_IGNORE);
            if (flag) expect(index >= 0 && !done[index]++, all[way], "an index, once");
          }
          MPI_Testany(n + 3, requests, &index, &flag, MPI_STATUS_IGNORE);
          expect(flag && index == MPI_UNDEFINED, all[way], "then none is left");
          break;
        case 5:
          for (int k = 0; k < n + 2; k += some) {
            MPI_Testsome(n + 3, requests, &some, indices, MPI_STATUSES_IGNORE);
            for (int j = 0; j < some; ++j) expect(!done[indices[j]]++, all[way], "each once");
          }
          break;
        case 6:
          for (int i = n + 2; i >= 0; --i)
            for (flag = 0; !flag;) MPI_Test(&requests[i], &flag, &statuses[i]);
          break;
        case 7:
          for (int i = n + 2; i >= 0; --i) MPI_Wait(&requests[i], &statuses[i]);
          break;
        case 8:
          for (int i = 0; i < n; ++i) {
            for (flag = 0; !flag;) MPI_Request_get_status(requests[i], &flag, MPI_STATUS_IGNORE);
            expect(requests[i] != MPI_REQUEST_NULL, all[way], "the request stays");
          }
          MPI_Waitall(n + 3, requests, MPI_STATUSES_IGNORE);
          break;
      }
      expect(in == left + 10 * turn, all[way], "the message");
      for (int i = 0; i < n; ++i) {
        calls[i].request = requests[i];
        end(&calls[i], all[way]);
      }
    }
}

/* No start waits: each rank starts when a message of the one before has come. */
static void starts(void) {
  for (int round = 0; round < 40; ++round) {
    struct call call;
    int token = 0;
    if (rank > 0) MPI_Recv(&token, 1, MPI_INT, rank - 1, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    begin(&call, round % kinds, round % 3 ? 4 : 4000, round, MPI_COMM_WORLD);
    if (rank < size - 1) MPI_Send(&token, 1, MPI_INT, rank + 1, 6, MPI_COMM_WORLD);
    MPI_Wait(&call.request, MPI_STATUS_IGNORE);
    end(&call, "starts");
  }
}

/* Who has started owes nothing: rank 0 waits for a message that the last rank sends when it is through. */
static void owes(void) {
  for (int round = 0; round < 40; ++round) {
    struct call call;
    int token = 0;
    begin(&call, round % kinds, round % 3 ? 4 : 4000, round, MPI_COMM_WORLD);
    if (rank == 0 && size > 1) MPI_Recv(&token, 1, MPI_INT, size - 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&call.request, MPI_STATUS_IGNORE);
    if (rank == size - 1 && size > 1) MPI_Send(&token, 1, MPI_INT, 0, 7, MPI_COMM_WORLD);
    end(&call, "owes");
  }
}

/* The same with many calls under way: rank 0 waits in the host for ranks that complete all of theirs first. */
static void blocked(void) {
  enum { calls_at_once = 100 };
  static struct call calls[calls_at_once];
  for (int turn = 0; turn < 6; ++turn) {
    int token = 0;
    for (int i = 0; i < calls_at_once; ++i)
      begin(&calls[i], turn < 3 ? allreduce : (i + turn) % kinds, i % 10 == 3 ? 3000 : 1 + i % 20,
            turn * 100 + i, MPI_COMM_WORLD);
    if (rank == 0)
      for (int peer = 1; peer < size; ++peer)
        MPI_Recv(&token, 1, MPI_INT, peer, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < calls_at_once; ++i) {
      struct call* call = &calls[(turn + rank) % 2 ? i : calls_at_once - 1 - i];
      MPI_Wait(&call->request, MPI_STATUS_IGNORE);
      end(call, "blocked");
    }
    if (rank > 0) MPI_Send(&token, 1, MPI_INT, 0, 8, MPI_COMM_WORLD);
  }
}

/* Blocking collectives, messages and other nonblocking ones between start and completion. */
static void between(void) {
  struct call outer;
  begin(&outer, allreduce, 2000, 1, MPI_COMM_WORLD);
  for (int round = 0; round < 100; ++round) {
    struct call call;
    long sum = 0, one = round;
    begin(&call, round % kinds, 10, round, MPI_COMM_WORLD);
    MPI_Allreduce(&one, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    expect(sum == (long)size * round, "between", "a blocking allreduce");
    if (round % 5 == 0) MPI_Barrier(MPI_COMM_WORLD);
    MPI_Wait(&call.request, MPI_STATUS_IGNORE);
    end(&call, "between");
  }
  MPI_Wait(&outer.request, MPI_STATUS_IGNORE);
  end(&outer, "between");
}

/* Communicators that are freed before their calls are complete; of every second one the first
   collective is nonblocking, unless that would be the host's. */
static void freed(void) {
  for (int round = 0; round < 60; ++round) {
    struct call calls[3];
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (round % 2 || ranks_meet) MPI_Barrier(comm);
    for (int i = 0; i < 3; ++i) begin(&calls[i], (round + i) % kinds, i == 1 ? 3000 : 7, round + i, comm);
    MPI_Comm_free(&comm);
    for (int i = 2; i >= 0; --i) {
      MPI_Wait(&calls[i].request, MPI_STATUS_IGNORE);
      end(&calls[i], "freed");
    }
  }
}

/* A root runs ahead of its readers. */
static void ahead(void) {
  enum { rounds = 500 };
  for (int round = 0; round < rounds; ++round) {
    struct call call;
    begin(&call, bcast, round % 10 ? 3 : 700, round - round % size, MPI_COMM_WORLD);
    MPI_Wait(&call.request, MPI_STATUS_IGNORE);
    end(&call, "ahead");
  }
}

static int no_errors(int code) { return code == MPI_SUCCESS; }

/* A program that has asked whether a call is complete may free it. */
static void asked(void) {
  for (int round = 0; round < 2 * kinds; ++round) {
    struct call call;
    begin(&call, round % kinds, round < kinds ? 4 : 4000, round, MPI_COMM_WORLD);
    for (int flag = 0; !flag;) MPI_Request_get_status(call.request, &flag, MPI_STATUS_IGNORE);
    MPI_Request_free(&call.request);
    expect(call.request == MPI_REQUEST_NULL, "asked", "the request is gone");
    end(&call, "asked");
  }
}

/* What MPI forbids. The last rank begins when the others, whose call is active, have tried to free it. */
static void mistakes(void) {
  struct call call;
  MPI_Request copy;
  int token = 0;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int peer = 0; rank == size - 1 && peer < size - 1; ++peer)
    MPI_Recv(&token, 1, MPI_INT, peer, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  begin(&call, allreduce, 10, 1, MPI_COMM_WORLD);
  copy = call.request;
  if (rank < size - 1) {
    expect(!no_errors(MPI_Request_free(&copy)), "mistakes", "MPI_Request_free of an active call is an error");
    expect(copy == call.request, "mistakes", "the request is still there");
    MPI_Send(&token, 1, MPI_INT, size - 1, 9, MPI_COMM_WORLD);
  }
  expect(!no_errors(MPI_Cancel(&call.request)), "mistakes", "MPI_Cancel is an error");
  expect(!no_errors(MPI_Start(&call.request)), "mistakes", "MPI_Start is an error");
  MPI_Wait(&call.request, MPI_STATUS_IGNORE);
  end(&call, "mistakes");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

static void add(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *count; ++i) ((long*)inout)[i] += ((long*)in)[i];
}

static void users(void) {
  MPI_Op op;
  long mine = rank + 1, sum = 0;
  MPI_Request request;
  MPI_Op_create(add, 1, &op);
  MPI_Iallreduce(&mine, &sum, 1, MPI_LONG, op, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect(sum == size * (size + 1L) / 2, "users", "a user's operator");
  MPI_Op_free(&op);
}

static void large(void) {
#if MPI_VERSION >= 4 && !defined(OPEN_MPI)
  long data[40], all[40 * 64], sum[40];
  MPI_Request requests[3];
  for (int i = 0; i < 40; ++i) data[i] = rank == 0 ? i : -1;
  MPI_Ibcast_c(data, 40, MPI_LONG, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  for (int i = 0; i < 40; ++i) expect(data[i] == i, "large", "MPI_Ibcast_c");
  for (int i = 0; i < 40; ++i) data[i] = value(rank, i, 0);
  MPI_Iallgather_c(data, 40, MPI_LONG, all, 40, MPI_LONG, MPI_COMM_WORLD, &requests[1]);
  MPI_Iallreduce_c(data, sum, 40, MPI_LONG, MPI_SUM, MPI_COMM_WORLD, &requests[2]);
  MPI_Waitall(2, requests + 1, MPI_STATUSES_IGNORE);
  for (int i = 0; i < 40; ++i) {
    expect(sum[i] == sum_of(i, 0), "large", "MPI_Iallreduce_c");
    for (int r = 0; r < size; ++r) expect(all[r * 40 + i] == value(r, i, 0), "large", "MPI_Iallgather_c");
  }
#endif
}

static const struct {
  const char* name;
  void (*run)(void);
} parts[] = {{"starts", starts},     {"alone", alone}, {"many", many},       {"late", late},
             {"ways", ways},         {"owes", owes},   {"blocked", blocked}, {"between", between},
             {"freed", freed},       {"ahead", ahead}, {"large", large},     {"long_blocks", long_blocks},
             {"mistakes", mistakes}, {"users", users}, {"asked", asked}};

static int is_wanted(const char* name, int count, char** arguments) {
  int named = 0, some = 0;
  for (int i = 1; i < count; ++i) {
    if (arguments[i][0] == '-') {
      if (!strcmp(arguments[i] + 1, name)) return 0;
    } else {
      some = 1;
      named |= !strcmp(arguments[i], name);
    }
  }
  return named || !some;
}

int main(int count, char** arguments) {
  int all = 0;
  MPI_Init(&count, &arguments);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  left = (rank + size - 1) % size;
  right = (rank + 1) % size;
  for (int i = 1; i < count; ++i) ranks_meet |= !strcmp(arguments[i], "-strangers");
  MPI_Barrier(MPI_COMM_WORLD); /* over nodes the ranks meet in a blocking call */
  MPI_Datatype pair;
  MPI_Type_vector(1, 1, 2, MPI_LONG, &pair);
  MPI_Type_create_resized(pair, 0, 2 * (MPI_Aint)sizeof(long), &every_second);
  MPI_Type_commit(&every_second);
  MPI_Type_free(&pair);
  for (unsigned i = 0; i < sizeof parts / sizeof *parts; ++i)
    if (is_wanted(parts[i].name, count, arguments)) parts[i].run();
  MPI_Type_free(&every_second);
  MPI_Reduce(&failed, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("nonblocking: %ld checks, %d failed\n", checks, all);
  MPI_Finalize();
  return all != 0;
}
