/* What puts with notifications cost beside messages of the host, and what a busy target costs.
 *   windows ROUNDS
 * Two ranks, on two nodes or on one. One JSON object a line on standard output. */
#include <espalier/espalier_window.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ids = 4, exchanges = 20, longest = 1 << 20, computes_us = 2000 };

typedef struct {
  espalier_window* window;
  int rank, peer_node;
  unsigned char *source, *target;
  long wrong;
} pair;

static void check(int code) {
  if (code == ESPALIER_OK) return;
  fprintf(stderr, "windows: %s\n", espalier_error_text());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static int by_size(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static void print_times(const char* what, size_t bytes, double* us, int count) {
  qsort(us, (size_t)count, sizeof *us, by_size);
  printf(
      "{\"what\": \"%s\", \"bytes\": %zu, \"rounds\": %d, \"median_us\": %.3f, \"low_us\": %.3f, "
      "\"high_us\": %.3f}\n",
      what, bytes, count, us[count / 2], us[count / 10], us[count - 1 - count / 10]);
}

/* Fresh data before every exchange, looked at after it. */
static void write_source(pair* p, size_t bytes, int n) { memset(p->source, 1 + (n + p->rank) % 251, bytes); }
static void look(pair* p, const unsigned char* data, size_t bytes, int n) {
  const unsigned char expected = (unsigned char)(1 + (n + 1 - p->rank) % 251);
  if (bytes > 0 && (data[0] != expected || data[bytes - 1] != expected || data[bytes / 2] != expected))
    ++p->wrong;
}

/* Two places for each rank, so that one can be looked at while the other is filled. */
static size_t place(int rank, int n) { return (size_t)(2 * rank + n % 2) * longest; }

static void put(pair* p, size_t bytes, int n) {
  const size_t offset = place(1 - p->rank, n);
  check(espalier_window_put_notify(p->window, p->peer_node, offset, p->source, bytes,
                                   (1 - p->rank) * ids + n % ids, 1));
  check(espalier_window_flush(p->window));
}

static void take(pair* p, int n) {
  int id;
  uint32_t value;
  check(espalier_window_notify_waitsome(p->window, p->rank * ids + n % ids, 1, 60000, &id));
  check(espalier_window_notify_reset(p->window, id, &value));
}

/* Half a round trip of a put with its notification. */
static double by_window(pair* p, size_t bytes) {
  const unsigned char* memory = espalier_window_memory(p->window);
  MPI_Barrier(MPI_COMM_WORLD);
  double sum = 0;
  for (int n = 0; n < exchanges; ++n) {
    write_source(p, bytes, n);
    const double begin = MPI_Wtime();
    if (p->rank == 0)
      put(p, bytes, n), take(p, n);
    else
      take(p, n), put(p, bytes, n);
    sum += MPI_Wtime() - begin;
    look(p, memory + place(p->rank, n), bytes, n);
  }
  return 1e6 * sum / exchanges / 2;
}

/* The same by the host's messages. */
static double by_messages(pair* p, size_t bytes) {
  const int peer = 1 - p->rank, count = (int)bytes;
  MPI_Barrier(MPI_COMM_WORLD);
  double sum = 0;
  for (int n = 0; n < exchanges; ++n) {
    write_source(p, bytes, n);
    const double begin = MPI_Wtime();
    if (p->rank == 0) MPI_Send(p->source, count, MPI_BYTE, peer, 0, MPI_COMM_WORLD);
    MPI_Recv(p->target, count, MPI_BYTE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (p->rank == 1) MPI_Send(p->source, count, MPI_BYTE, peer, 0, MPI_COMM_WORLD);
    sum += MPI_Wtime() - begin;
    look(p, p->target, bytes, n);
  }
  return 1e6 * sum / exchanges / 2;
}

static void compare(pair* p, size_t bytes, int rounds) {
  double* window = malloc(sizeof *window * (size_t)rounds);
  double* messages = malloc(sizeof *messages * (size_t)rounds);
  for (int r = -2; r < rounds; ++r) { /* two to warm up */
    const double first = by_window(p, bytes), second = by_messages(p, bytes);
    if (r >= 0) window[r] = first, messages[r] = second;
  }
  if (p->rank == 0) {
    print_times("put_notify", bytes, window, rounds);
    print_times("send", bytes, messages, rounds);
  }
  free(window), free(messages);
}

static void compute(pair* p, double us, double look_every_us) {
  const double begin = MPI_Wtime();
  double last = begin;
  uint32_t value;
  for (double now = begin; 1e6 * (now - begin) < us; now = MPI_Wtime())
    if (look_every_us > 0 && 1e6 * (now - last) >= look_every_us) {
      check(espalier_window_notify_test(p->window, p->rank * ids + ids - 1, &value));
      last = now;
    }
}

/* Rank 0 puts while rank 1 computes: how long its put and flush hold it up, and how long until its put is
 * answered, beyond what rank 1 computes. */
static void busy_target(pair* p, size_t bytes, double look_every_us, int rounds, const char* what) {
  double* held = malloc(sizeof *held * (size_t)rounds);
  double* answered = malloc(sizeof *answered * (size_t)rounds);
  for (int r = 0; r < rounds; ++r) {
    write_source(p, bytes, r);
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    if (p->rank == 0) {
      put(p, bytes, 0);
      held[r] = 1e6 * (MPI_Wtime() - begin);
      take(p, 0);
      answered[r] = 1e6 * (MPI_Wtime() - begin);
    } else {
      compute(p, computes_us, look_every_us);
      take(p, 0);
      put(p, 8, 0);
    }
  }
  if (p->rank == 0) {
    char name[64];
    snprintf(name, sizeof name, "%s, sender held", what);
    print_times(name, bytes, held, rounds);
    snprintf(name, sizeof name, "%s, answered", what);
    print_times(name, bytes, answered, rounds);
  }
  free(held), free(answered);
}

int main(int argc, char** argv) {
  static const size_t sizes[] = {0, 8, 1024, 8000, 65536, longest};
  MPI_Init(&argc, &argv);
  const int rounds = argc > 1 ? atoi(argv[1]) : 20;
  espalier_comm* world;
  check(espalier_comm_world(&world));
  pair p = {.rank = espalier_comm_rank(world), .source = malloc(longest), .target = malloc(longest)};
  if (espalier_comm_size(world) != 2) MPI_Abort(MPI_COMM_WORLD, 2);
  check(espalier_window_create(world, 4 * longest, 2 * ids, &p.window));
  p.peer_node = espalier_window_node_of(p.window, 1 - p.rank);
  if (p.rank == 0)
    printf("{\"what\": \"window\", \"transport\": \"%s\", \"nodes\": %d}\n",
           espalier_window_transport(p.window), espalier_window_nodes(p.window));
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) compare(&p, sizes[i], rounds);
  for (int long_one = 0; long_one < 2; ++long_one) {
    busy_target(&p, long_one ? 65536 : 8, 0, rounds, "busy");
    busy_target(&p, long_one ? 65536 : 8, 100, rounds, "busy, looks every 100 us");
  }
  long wrong = 0;
  MPI_Reduce(&p.wrong, &wrong, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (p.rank == 0) printf("{\"what\": \"end\", \"wrong\": %ld}\n", wrong);
  check(espalier_window_free(p.window));
  espalier_comm_free(world);
  MPI_Finalize();
  return wrong != 0;
}
