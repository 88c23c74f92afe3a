/* Ping-pong by GASPI: two ranks write to each other in turn, and a notification says that the data are there.
 *
 *     espalier run -n 2 ./ping_pong */
#include <GASPI.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(call)                                                                          \
  do {                                                                                       \
    const gaspi_return_t code_ = (call);                                                     \
    if (code_ != GASPI_SUCCESS) {                                                            \
      fprintf(stderr, "ping_pong: %s gives %d: %s\n", #call, code_, gaspi_error_str(code_)); \
      exit(EXIT_FAILURE);                                                                    \
    }                                                                                        \
  } while (0)

enum { segment = 0, queue = 0, ball = 0, rounds = 1000, most = 1 << 16 };

static void await_ball(int expected) {
  gaspi_notification_id_t id;
  gaspi_notification_t value;
  CHECK(gaspi_notify_waitsome(segment, ball, 1, &id, GASPI_BLOCK));
  CHECK(gaspi_notify_reset(segment, id, &value));
  if (id != ball || (int)value != expected) {
    fprintf(stderr, "ping_pong: notification %d with value %u instead of %d\n", id, value, expected);
    exit(EXIT_FAILURE);
  }
}

/* The sender's data lie in the first half of its segment, what it receives in the second. */
static void play(int rank, int bytes, int round, unsigned char* memory) {
  const int other = 1 - rank;
  for (int turn = 0; turn < 2; ++turn) {
    const unsigned char mark = (unsigned char)(round + turn);
    if (turn == rank) {
      for (int i = 0; i < bytes; ++i) memory[i] = (unsigned char)(mark + i);
      CHECK(gaspi_write_notify(segment, 0, other, segment, most, bytes, ball, round + 1, queue, GASPI_BLOCK));
      CHECK(gaspi_wait(queue, GASPI_BLOCK));
      continue;
    }
    await_ball(round + 1);
    for (int i = 0; i < bytes; ++i)
      if (memory[most + i] != (unsigned char)(mark + i)) {
        fprintf(stderr, "ping_pong: byte %d of %d is wrong\n", i, bytes);
        exit(EXIT_FAILURE);
      }
  }
}

int main(void) {
  gaspi_rank_t rank, ranks;
  gaspi_pointer_t memory;
  CHECK(gaspi_proc_init(GASPI_BLOCK));
  CHECK(gaspi_proc_rank(&rank));
  CHECK(gaspi_proc_num(&ranks));
  CHECK(gaspi_segment_create(segment, 2 * most, GASPI_GROUP_ALL, GASPI_BLOCK, GASPI_MEM_INITIALIZED));
  CHECK(gaspi_segment_ptr(segment, &memory));
  for (int bytes = 8; rank < 2 && bytes <= most; bytes *= 16) {
    gaspi_time_t begin, end;
    CHECK(gaspi_time_get(&begin));
    for (int round = 0; round < rounds; ++round) play(rank, bytes, round, memory);
    CHECK(gaspi_time_get(&end));
    if (rank == 0) printf("ping_pong: %d bytes, %.2f us\n", bytes, (end - begin) * 1000 / rounds / 2);
  }
  CHECK(gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK));
  if (rank == 0) printf("ping_pong: ranks %d, right\n", ranks);
  CHECK(gaspi_proc_term(GASPI_BLOCK));
  return EXIT_SUCCESS;
}
