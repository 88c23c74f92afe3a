/* One nonblocking call of each kind, with its data and what is to come out. The file that includes this has
   `rank`, `size` and `expect()`. */
#include <limits.h>

struct call {
  int kind, count, round, root;
  long *send, *receive;
  int *out_counts, *out_places, *in_counts, *in_places; /* of the v forms */
  MPI_Datatype* types;                                  /* of the w form */
  MPI_Request request;
};

enum { anything_goes = -2 };

static long value(int from, long i, int round) { return from * 1000003L + i * 7919L + round * 104729L; }

static long sum_of_ranks(int first, int last, long i, int round) {
  long sum = 0;
  for (int r = first; r <= last; ++r) sum += value(r, i, round);
  return sum;
}
static long sum_of(long i, int round) { return sum_of_ranks(0, size - 1, i, round); }

static MPI_Datatype every_second;

static size_t room(const struct call* c) { return 2 * (size_t)c->count * (size_t)size + 2; }

/* In every second round, where MPI has such a thing. */
static int in_place(const struct call* c) { return c->round % 2; }
/* What a rank sends lies where it receives. */
static void put_in_place(struct call* c, size_t at, size_t count) {
  memcpy(c->receive + at, c->send, count * sizeof(long));
}
static const void* sent(struct call* c, size_t at, size_t count) {
  if (!in_place(c)) return c->send;
  put_in_place(c, at, count);
  return MPI_IN_PLACE;
}

static int is_root(const struct call* c) { return rank == c->root; }
static size_t n_of(const struct call* c) { return (size_t)c->count; }
static size_t own_block(const struct call* c) { return (size_t)rank * n_of(c); }
/* Of unequal blocks: those of rank r have gaps of one between them where they are received. */
static int part_of(int r, int count) { return r % 2 ? count / 2 : count; }
static int pair_part(const struct call* c, int from, int to) {
  return (from + to + c->round) % 3 * c->count / 2;
}
static void unequal(struct call* c) {
  for (int r = 0; r < size; ++r) {
    c->out_counts[r] = c->in_counts[r] = part_of(r, c->count);
    c->out_places[r] = r * c->count;
    c->in_places[r] = r * (c->count + 1);
  }
}
static long in_unequal(const struct call* c, long i, int only_part_of_pair) {
  const int from = (int)(i / (c->count + 1)), at = (int)(i % (c->count + 1));
  if (from >= size) return -1;
  if (only_part_of_pair)
    return at < pair_part(c, from, rank) ? value(from, (long)rank * c->count + at, c->round) : -1;
  return at < part_of(from, c->count) ? value(from, at, c->round) : -1;
}

/* Each kind: what begins it, and what is to be at place i where it receives: -1 where nothing comes. */
#define KIND(name)                                         \
  static void begin_##name(struct call* c, MPI_Comm comm); \
  static long wanted_##name(const struct call* c, long i); \
  static void begin_##name(struct call* c, MPI_Comm comm)
#define WANTED(name) static long wanted_##name(const struct call* c, long i)

KIND(barrier) { MPI_Ibarrier(comm, &c->request); }
WANTED(barrier) { return c->count < 0 ? i : -1; }

KIND(bcast) {
  if (is_root(c)) put_in_place(c, 0, n_of(c));
  MPI_Ibcast(c->receive, c->count, MPI_LONG, c->root, comm, &c->request);
}
WANTED(bcast) { return i < c->count ? value(c->root, i, c->round) : -1; }

/* Ranks may have different datatypes of one signature. */
KIND(bcast_vectors) {
  for (int i = 0; is_root(c) && i < c->count; ++i) c->receive[2 * i] = c->send[i];
  MPI_Ibcast(c->receive, c->count, is_root(c) ? every_second : MPI_LONG, c->root, comm, &c->request);
}
WANTED(bcast_vectors) {
  if (is_root(c)) return i % 2 == 0 && i / 2 < c->count ? value(rank, i / 2, c->round) : -1;
  return wanted_bcast(c, i);
}

KIND(reduce) {
  const void* send = is_root(c) ? sent(c, 0, n_of(c)) : c->send;
  MPI_Ireduce(send, c->receive, c->count, MPI_LONG, MPI_SUM, c->root, comm, &c->request);
}
WANTED(reduce) { return is_root(c) && i < c->count ? sum_of(i, c->round) : -1; }

KIND(allreduce) {
  MPI_Iallreduce(sent(c, 0, n_of(c)), c->receive, c->count, MPI_LONG, MPI_SUM, comm, &c->request);
}
WANTED(allreduce) { return i < c->count ? sum_of(i, c->round) : -1; }

KIND(minloc) {
  for (int i = 0; i < c->count; ++i) {
    ((int*)c->send)[2 * i] = (rank * 5 + i + c->round) % size;
    ((int*)c->send)[2 * i + 1] = rank;
  }
  MPI_Iallreduce(c->send, c->receive, c->count, MPI_2INT, MPI_MINLOC, comm, &c->request);
}
WANTED(minloc) {
  int pair[2] = {INT_MAX, 0};
  long both = 0;
  for (int r = 0; r < size; ++r)
    if ((r * 5 + i + c->round) % size < pair[0]) pair[0] = (int)((r * 5 + i + c->round) % size), pair[1] = r;
  memcpy(&both, pair, sizeof both);
  return i < c->count ? both : -1;
}

KIND(gather) {
  const void* send = is_root(c) ? sent(c, own_block(c), n_of(c)) : c->send;
  MPI_Igather(send, c->count, MPI_LONG, c->receive, c->count, MPI_LONG, c->root, comm, &c->request);
}
WANTED(gather) {
  return is_root(c) && i < (long)c->count * size ? value((int)(i / c->count), i % c->count, c->round) : -1;
}

KIND(gather_vectors) {
  MPI_Igather(c->send, c->count, MPI_LONG, c->receive, c->count, every_second, c->root, comm, &c->request);
}
WANTED(gather_vectors) { return i % 2 ? -1 : wanted_gather(c, i / 2); }

KIND(gatherv) {
  MPI_Igatherv(c->send, part_of(rank, c->count), MPI_LONG, c->receive, c->in_counts, c->in_places, MPI_LONG,
               c->root, comm, &c->request);
}
WANTED(gatherv) { return is_root(c) ? in_unequal(c, i, 0) : -1; }

KIND(scatter) {
  void* receive = is_root(c) && in_place(c) ? MPI_IN_PLACE : c->receive;
  MPI_Iscatter(c->send, c->count, MPI_LONG, receive, c->count, MPI_LONG, c->root, comm, &c->request);
}
WANTED(scatter) {
  if (i >= c->count || (is_root(c) && in_place(c))) return -1;
  return value(c->root, (long)rank * c->count + i, c->round);
}

KIND(scatterv) {
  MPI_Iscatterv(c->send, c->out_counts, c->out_places, MPI_LONG, c->receive, part_of(rank, c->count),
                MPI_LONG, c->root, comm, &c->request);
}
WANTED(scatterv) {
  return i < part_of(rank, c->count) ? value(c->root, (long)rank * c->count + i, c->round) : -1;
}

KIND(allgather) {
  MPI_Iallgather(sent(c, own_block(c), n_of(c)), c->count, MPI_LONG, c->receive, c->count, MPI_LONG, comm,
                 &c->request);
}
WANTED(allgather) {
  return i < (long)c->count * size ? value((int)(i / c->count), i % c->count, c->round) : -1;
}

KIND(allgather_vectors) {
  MPI_Iallgather(c->send, c->count, MPI_LONG, c->receive, c->count, every_second, comm, &c->request);
}
WANTED(allgather_vectors) { return i % 2 ? -1 : wanted_allgather(c, i / 2); }

KIND(allgatherv) {
  const int own = part_of(rank, c->count);
  const void* send = sent(c, (size_t)c->in_places[rank], (size_t)own);
  MPI_Iallgatherv(send, own, MPI_LONG, c->receive, c->in_counts, c->in_places, MPI_LONG, comm, &c->request);
}
WANTED(allgatherv) { return in_unequal(c, i, 0); }

KIND(alltoall) {
  const void* send = sent(c, 0, n_of(c) * (size_t)size);
  MPI_Ialltoall(send, c->count, MPI_LONG, c->receive, c->count, MPI_LONG, comm, &c->request);
}
WANTED(alltoall) {
  if (i >= (long)c->count * size) return -1;
  return value((int)(i / c->count), (long)rank * c->count + i % c->count, c->round);
}

KIND(alltoallv) {
  for (int r = 0; r < size; ++r) {
    c->out_counts[r] = pair_part(c, rank, r);
    c->in_counts[r] = pair_part(c, r, rank);
  }
  MPI_Ialltoallv(c->send, c->out_counts, c->out_places, MPI_LONG, c->receive, c->in_counts, c->in_places,
                 MPI_LONG, comm, &c->request);
}
WANTED(alltoallv) { return in_unequal(c, i, 1); }

/* The same, with places in bytes; what comes from ranks of odd numbers has gaps where it is received. */
KIND(alltoallw) {
  for (int r = 0; r < size; ++r) {
    c->out_counts[r] = pair_part(c, rank, r);
    c->in_counts[r] = pair_part(c, r, rank);
    c->out_places[r] = r * c->count * (int)sizeof(long);
    c->in_places[r] = 2 * c->out_places[r];
    c->types[r] = MPI_LONG;
    c->types[size + r] = r % 2 ? every_second : MPI_LONG;
  }
  MPI_Ialltoallw(c->send, c->out_counts, c->out_places, c->types, c->receive, c->in_counts, c->in_places,
                 c->types + size, comm, &c->request);
}
WANTED(alltoallw) {
  const int from = (int)(i / (2 * c->count));
  const long at = i % (2 * c->count), k = from % 2 ? at / 2 : at;
  if (from >= size || (from % 2 && at % 2) || k >= pair_part(c, from, rank)) return -1;
  return value(from, (long)rank * c->count + k, c->round);
}

KIND(reduce_scatter_block) {
  const void* send = sent(c, 0, n_of(c) * (size_t)size);
  MPI_Ireduce_scatter_block(send, c->receive, c->count, MPI_LONG, MPI_SUM, comm, &c->request);
}
WANTED(reduce_scatter_block) {
  if (i >= c->count) return in_place(c) ? anything_goes : -1;
  return sum_of((long)rank * c->count + i, c->round);
}

KIND(reduce_scatter) {
  const void* send = sent(c, 0, n_of(c) * (size_t)size);
  MPI_Ireduce_scatter(send, c->receive, c->in_counts, MPI_LONG, MPI_SUM, comm, &c->request);
}
WANTED(reduce_scatter) {
  long begin = 0;
  for (int r = 0; r < rank; ++r) begin += part_of(r, c->count);
  if (i >= part_of(rank, c->count)) return in_place(c) ? anything_goes : -1;
  return sum_of(begin + i, c->round);
}

KIND(scan) { MPI_Iscan(sent(c, 0, n_of(c)), c->receive, c->count, MPI_LONG, MPI_SUM, comm, &c->request); }
WANTED(scan) { return i < c->count ? sum_of_ranks(0, rank, i, c->round) : -1; }

KIND(exscan) { MPI_Iexscan(sent(c, 0, n_of(c)), c->receive, c->count, MPI_LONG, MPI_SUM, comm, &c->request); }
WANTED(exscan) {
  if (i >= c->count) return -1;
  return rank == 0 ? anything_goes : sum_of_ranks(0, rank - 1, i, c->round);
}

#define ROW(name) {#name, begin_##name, wanted_##name}
static const struct {
  const char* name;
  void (*begin)(struct call*, MPI_Comm);
  long (*wanted)(const struct call*, long);
} table[] = {ROW(allreduce),
             ROW(bcast),
             ROW(barrier),
             ROW(allgather),
             ROW(bcast_vectors),
             ROW(reduce),
             ROW(minloc),
             ROW(gather),
             ROW(gather_vectors),
             ROW(gatherv),
             ROW(scatter),
             ROW(scatterv),
             ROW(allgather_vectors),
             ROW(allgatherv),
             ROW(alltoall),
             ROW(alltoallv),
             ROW(alltoallw),
             ROW(reduce_scatter_block),
             ROW(reduce_scatter),
             ROW(scan),
             ROW(exscan)};
enum { allreduce, bcast, kinds = sizeof table / sizeof *table };

static void begin(struct call* c, int kind, int count, int round, MPI_Comm comm) {
  c->kind = kind;
  c->count = count;
  c->round = round;
  c->root = round % size;
  c->request = MPI_REQUEST_NULL;
  c->send = malloc(room(c) * sizeof(long));
  c->receive = malloc(room(c) * sizeof(long));
  c->out_counts = malloc(4 * (size_t)size * sizeof(int));
  c->out_places = c->out_counts + size;
  c->in_counts = c->out_places + size;
  c->in_places = c->in_counts + size;
  c->types = malloc(2 * (size_t)size * sizeof *c->types);
  for (size_t i = 0; i < room(c); ++i) {
    c->send[i] = value(rank, (long)i, round);
    c->receive[i] = -1;
  }
  unequal(c);
  table[kind].begin(c, comm);
  expect(c->request != MPI_REQUEST_NULL, table[kind].name, "a request");
}

static int is_right(const struct call* c) {
  for (size_t i = 0; i < room(c); ++i) {
    const long wanted = table[c->kind].wanted(c, (long)i);
    if (wanted != anything_goes && c->receive[i] != wanted) return 0;
  }
  return 1;
}

static void end(struct call* c, const char* part) {
  expect(c->request == MPI_REQUEST_NULL, part, "the handle is null when it is complete");
  expect(is_right(c), part, table[c->kind].name);
  free(c->send);
  free(c->receive);
  free(c->out_counts);
  free(c->types);
}
