/* Nonblocking and persistent reductions with operators that the program makes: one that does not commute, on a
   datatype with a gap, and one that does. The operator is freed before the requests are complete, and so is the
   datatype, of which the operator wants the program's own handle. */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The function x -> a * x + b, modulo a prime. No operator touches the gap. */
struct line {
  long a, b, gap;
};
static const long prime = 1000003, untouched = -77;
enum { longest = 3000, kinds = 6, ranks_at_most = 16 };
enum kind { allreduce, reduce, scan, exscan, block, blocks };
static const char* const names[] = {"allreduce",     "reduce", "scan", "exscan", "reduce_scatter_block",
                                    "reduce_scatter"};

static int rank, size, failed, calls_of_operator, wrong_types;
static long checks;
static MPI_Datatype own_type;

static void expect(int good, const char* what, int kind, int length) {
  ++checks;
  if (!good && ++failed <= 10)
    fprintf(stderr, "FAILED %s, %s of %d on rank %d\n", what, names[kind], length, rank);
}

/* First the left one. */
static struct line after(struct line left, struct line right) {
  struct line both = {right.a * left.a % prime, (right.a * left.b + right.b) % prime, untouched};
  return both;
}

static void compose(void* in, void* inout, int* count, MPI_Datatype* type) {
  const struct line* left = in;
  struct line* right = inout;
  ++calls_of_operator;
  wrong_types += *type != own_type;
  for (int i = 0; i < *count; ++i) right[i] = after(left[i], right[i]);
}

static struct line given(int of, int i, int round) {
  struct line made = {2 + (of * 7 + i + round) % 1000, (of * 31 + i * 3 + round) % prime, untouched};
  return made;
}

/* What ranks 0 to `last` make of element i. */
static struct line folded(int last, int i, int round) {
  struct line all = given(0, i, round);
  for (int r = 1; r <= last; ++r) all = after(all, given(r, i, round));
  return all;
}

struct call {
  MPI_Request request;
  int kind, length, in_place, root, counts[ranks_at_most], total, first;
  struct line *send, *receive;
};

/* `length` of the vector, or of rank 0's part of it. */
static void make(struct call* call, int kind, int length, int in_place) {
  call->kind = kind;
  call->length = length;
  call->in_place = in_place;
  call->root = length % size;
  call->total = call->first = 0;
  for (int r = 0; r < size; ++r) {
    call->counts[r] = kind == blocks ? (length + r) % 5 * length / 2 : length;
    if (r < rank) call->first += call->counts[r];
    call->total += call->counts[r];
  }
  if (kind < block) call->total = length;
  call->send = malloc(sizeof(struct line) * (size_t)(call->total + 1));
  call->receive = malloc(sizeof(struct line) * (size_t)(call->total + 1));
}

static int is_target(const struct call* call) { return call->kind != reduce || rank == call->root; }

static void fill(const struct call* call, int round) {
  const int in_place = call->in_place && is_target(call);
  for (int i = 0; i < call->total; ++i) {
    call->send[i] = given(rank, i, round);
    call->receive[i] = in_place ? call->send[i] : (struct line){-1, -1, untouched};
  }
}

static const void* sent(const struct call* call) {
  return call->in_place && is_target(call) ? MPI_IN_PLACE : call->send;
}

static void begin(struct call* call, MPI_Datatype type, MPI_Op op) {
  const void* send = sent(call);
  const MPI_Comm comm = MPI_COMM_WORLD;
  MPI_Request* request = &call->request;
  switch (call->kind) {
    case allreduce:
      MPI_Iallreduce(send, call->receive, call->length, type, op, comm, request);
      break;
    case reduce:
      MPI_Ireduce(send, call->receive, call->length, type, op, call->root, comm, request);
      break;
    case scan:
      MPI_Iscan(send, call->receive, call->length, type, op, comm, request);
      break;
    case exscan:
      MPI_Iexscan(send, call->receive, call->length, type, op, comm, request);
      break;
    case block:
      MPI_Ireduce_scatter_block(send, call->receive, call->length, type, op, comm, request);
      break;
    case blocks:
      MPI_Ireduce_scatter(send, call->receive, call->counts, type, op, comm, request);
      break;
  }
}

static int prepare(struct call* call, MPI_Datatype type, MPI_Op op) {
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
  const void* send = sent(call);
  const MPI_Comm comm = MPI_COMM_WORLD;
  const MPI_Info info = MPI_INFO_NULL;
  MPI_Request* request = &call->request;
  switch (call->kind) {
    case allreduce:
      MPI_Allreduce_init(send, call->receive, call->length, type, op, comm, info, request);
      break;
    case reduce:
      MPI_Reduce_init(send, call->receive, call->length, type, op, call->root, comm, info, request);
      break;
    case scan:
      MPI_Scan_init(send, call->receive, call->length, type, op, comm, info, request);
      break;
    case exscan:
      MPI_Exscan_init(send, call->receive, call->length, type, op, comm, info, request);
      break;
    case block:
      MPI_Reduce_scatter_block_init(send, call->receive, call->length, type, op, comm, info, request);
      break;
    case blocks:
      MPI_Reduce_scatter_init(send, call->receive, call->counts, type, op, comm, info, request);
      break;
  }
  return 1;
#else
  (void)call, (void)type, (void)op;
  return 0;
#endif
}

static int same(struct line x, struct line y) { return x.a == y.a && x.b == y.b && x.gap == y.gap; }

static void check(const struct call* call, const char* what, int round) {
  const int kind = call->kind;
  int results = !is_target(call) || (kind == exscan && rank == 0) ? 0 : call->length, good = 1;
  if (kind == blocks) results = call->counts[rank];
  const int first = kind < block ? 0 : call->first;
  const int last = kind == scan ? rank : kind == exscan ? rank - 1 : size - 1;
  for (int i = 0; i < results; ++i) good &= same(call->receive[i], folded(last, first + i, round));
  if (!call->in_place || !is_target(call))
    for (int i = 0; i < call->total; ++i) good &= same(call->send[i], given(rank, i, round));
  expect(good, what, kind, call->length);
}

static void drop(struct call* call) {
  free(call->send);
  free(call->receive);
}

static MPI_Datatype with_gap(void) {
  MPI_Datatype two, made;
  MPI_Type_contiguous(2, MPI_LONG, &two);
  MPI_Type_create_resized(two, 0, sizeof(struct line), &made);
  MPI_Type_commit(&made);
  MPI_Type_free(&two);
  return made;
}

static const int lengths[] = {0, 1, 2, 5, 40, 700, longest};
enum { many = sizeof lengths / sizeof *lengths };

/* All of a length under way at once, completed in another order on each rank. */
static void nonblocking(void) {
  for (int l = 0; l < many; ++l)
    for (int in_place = 0; in_place < 2; ++in_place) {
      struct call calls[kinds];
      MPI_Datatype type = own_type = with_gap();
      MPI_Op op;
      MPI_Op_create(compose, 0, &op);
      for (int kind = 0; kind < kinds; ++kind) {
        make(&calls[kind], kind, lengths[l], in_place);
        fill(&calls[kind], l);
        begin(&calls[kind], type, op);
      }
      MPI_Op_free(&op);
      MPI_Type_free(&type);
      expect(op == MPI_OP_NULL, "the operator is gone", 0, lengths[l]);
      for (int i = 0; i < kinds; ++i) {
        struct call* call = &calls[rank % 2 ? i : kinds - 1 - i];
        MPI_Wait(&call->request, MPI_STATUS_IGNORE);
        check(call, "nonblocking", l);
      }
      for (int kind = 0; kind < kinds; ++kind) drop(&calls[kind]);
    }
}

static void persistent(void) {
  for (int l = 0; l < many; ++l)
    for (int in_place = 0; in_place < 2; ++in_place) {
      struct call calls[kinds];
      MPI_Datatype type = own_type = with_gap();
      MPI_Op op;
      MPI_Op_create(compose, 0, &op);
      int prepared = 1;
      for (int kind = 0; kind < kinds; ++kind) {
        make(&calls[kind], kind, lengths[l], in_place);
        prepared &= prepare(&calls[kind], type, op);
      }
      MPI_Op_free(&op);
      MPI_Type_free(&type);
      for (int round = 0; prepared && round < 3; ++round) {
        for (int i = 0; i < kinds; ++i) {
          struct call* call = &calls[rank % 2 ? i : kinds - 1 - i];
          fill(call, round);
          MPI_Start(&call->request);
        }
        for (int i = 0; i < kinds; ++i) {
          MPI_Wait(&calls[i].request, MPI_STATUS_IGNORE);
          check(&calls[i], "persistent", round);
        }
      }
      for (int kind = 0; kind < kinds; ++kind) {
        if (prepared) MPI_Request_free(&calls[kind].request);
        drop(&calls[kind]);
      }
    }
}

static void add(void* in, void* inout, int* count, MPI_Datatype* type) {
  wrong_types += *type != MPI_DOUBLE;
  for (int i = 0; i < *count; ++i) ((double*)inout)[i] += ((double*)in)[i];
}

/* One operator in many calls, on a predefined datatype, tested until they are complete. */
static void commuting(void) {
  enum { at_once = 40 };
  double mine[at_once], sums[at_once];
  MPI_Request requests[at_once];
  MPI_Op op;
  MPI_Op_create(add, 1, &op);
  for (int i = 0; i < at_once; ++i) {
    mine[i] = rank + i;
    MPI_Iallreduce(&mine[i], &sums[i], 1, MPI_DOUBLE, op, MPI_COMM_WORLD, &requests[i]);
  }
  for (int flag = 0; !flag;) MPI_Testall(at_once, requests, &flag, MPI_STATUSES_IGNORE);
  for (int i = 0; i < at_once; ++i)
    expect(sums[i] == size * (size - 1) / 2 + size * i, "commuting", allreduce, 1);
  MPI_Op_free(&op);
}

int main(int count, char** arguments) {
  int all = 0;
  MPI_Init(&count, &arguments);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  nonblocking();
  if (count == 1 || strcmp(arguments[1], "-persistent") != 0) persistent();
  expect(calls_of_operator > 0 || rank == 0, "the operator is called", 0, 0);
  commuting();
  expect(wrong_types == 0, "the operator gets the program's datatype", 0, 0);
  MPI_Reduce(&failed, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("user_reductions: %ld checks, %d failed\n", checks, all);
  MPI_Finalize();
  return all != 0;
}
