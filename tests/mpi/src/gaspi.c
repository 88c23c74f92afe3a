/* The contract of the GASPI layer beyond the tutorial programs of examples/gaspi, and mistakes. */
#include <GASPI.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(call)                                                      \
  do {                                                                   \
    const gaspi_return_t code_ = (call);                                 \
    if (code_ != GASPI_SUCCESS) {                                        \
      fprintf(stderr, "gaspi: %d: %s\n", code_, gaspi_error_str(code_)); \
      exit(1);                                                           \
    }                                                                    \
  } while (0)
#define REQUIRE(condition)                                \
  do {                                                    \
    if (!(condition)) {                                   \
      fprintf(stderr, "gaspi: not so: %s\n", #condition); \
      exit(1);                                            \
    }                                                     \
  } while (0)

enum { big = 1 << 20 };
static gaspi_rank_t rank, ranks;

/* A long write, a short one, and then a notification alone: both are there. */
static void order(unsigned char* memory) {
  for (int round = 1; round <= 20; ++round) {
    if (rank == 0) {
      memset(memory, round, big);
      CHECK(gaspi_write(0, 0, 1, 0, 0, big, 2, GASPI_BLOCK));
      CHECK(gaspi_write(0, 0, 1, 0, big, 8, 2, GASPI_BLOCK));
      CHECK(gaspi_notify(0, 1, 65535, round, 2, GASPI_BLOCK));
      CHECK(gaspi_wait(2, GASPI_BLOCK));
    } else if (rank == 1) {
      gaspi_notification_id_t id;
      gaspi_notification_t value;
      gaspi_return_t code;
      do code = gaspi_notify_waitsome(0, 0, 65536, &id, GASPI_TEST);
      while (code == GASPI_TIMEOUT);
      CHECK(code);
      CHECK(gaspi_notify_reset(0, id, &value));
      REQUIRE(id == 65535 && value == (unsigned)round);
      for (int i = 0; i < big + 8; ++i) REQUIRE(memory[i] == round);
    }
    CHECK(gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK));
  }
}

static void reads_and_atomics(unsigned char* memory) {
  memset(memory, 10 + rank, 64);
  CHECK(gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK));
  if (rank == 0) {
    CHECK(gaspi_read(0, big, 1, 0, 0, 64, 0, GASPI_BLOCK));
    CHECK(gaspi_wait(0, GASPI_BLOCK));
    REQUIRE(memory[big] == 11 && memory[big + 63] == 11);
  }
  CHECK(gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK));
  if (rank == 1) memset(memory, 0, 64);
  CHECK(gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK));
  gaspi_atomic_value_t old;
  for (int i = 0; i < 100; ++i) CHECK(gaspi_atomic_fetch_add(0, 0, 1, 1, &old, GASPI_BLOCK));
  CHECK(gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK));
  CHECK(gaspi_atomic_compare_swap(0, 0, 1, 100ul * ranks, 100ul * ranks, &old, GASPI_BLOCK));
  REQUIRE(old == 100ul * ranks);
}

static void limits(void) {
  gaspi_notification_id_t id;
  REQUIRE(gaspi_notify_waitsome(0, 0, 10, &id, 5) == GASPI_TIMEOUT);
  REQUIRE(gaspi_notify(0, 1, 1, 0, 0, GASPI_BLOCK) == GASPI_ERR_INV_NOTIF_VAL);
  REQUIRE(gaspi_notify(9, 1, 1, 1, 0, GASPI_BLOCK) == GASPI_ERR_INV_SEG);
  REQUIRE(gaspi_notify(0, ranks, 1, 1, 0, GASPI_BLOCK) == GASPI_ERR_INV_RANK);
  REQUIRE(gaspi_wait(8, GASPI_BLOCK) == GASPI_ERR_INV_QUEUE);
  REQUIRE(gaspi_barrier(5, GASPI_BLOCK) == GASPI_ERR_INV_GROUP);
  REQUIRE(strstr(gaspi_error_str(GASPI_ERR_INV_GROUP), "gaspi_barrier: there is no group 5") != NULL);
  REQUIRE(gaspi_proc_init(GASPI_BLOCK) == GASPI_ERR_INITED);
  for (int i = 0; i < 1024; ++i) CHECK(gaspi_write(0, 0, rank, 0, 8, 8, 7, GASPI_BLOCK));
  REQUIRE(gaspi_write(0, 0, rank, 0, 8, 8, 7, GASPI_BLOCK) == GASPI_QUEUE_FULL);
  CHECK(gaspi_wait(7, GASPI_BLOCK));
}

/* Sizes of their own, and an id that is used again. */
static void segments(void) {
  for (int round = 0; round < 3; ++round) {
    gaspi_pointer_t memory;
    gaspi_size_t bytes;
    CHECK(gaspi_segment_create(4, 100 * (rank + 1), GASPI_GROUP_ALL, GASPI_BLOCK, GASPI_ALLOC_DEFAULT));
    CHECK(gaspi_segment_ptr(4, &memory));
    CHECK(gaspi_segment_size(4, 1, &bytes));
    REQUIRE(bytes == 200 && *(char*)memory == 0);
    *(char*)memory = 1;
    CHECK(gaspi_segment_delete(4));
    REQUIRE(gaspi_segment_ptr(4, &memory) == GASPI_ERR_INV_SEG);
  }
}

/* Rank 1 comes when rank 0 has seen the call time out; the others keep on trying. Each call is made again until it is done. */
#define LATE(call, id)                                                        \
  do {                                                                        \
    gaspi_return_t late_ = GASPI_TIMEOUT;                                     \
    if (rank == 1) await_from_0(id);                                          \
    if (rank == 0) {                                                          \
      REQUIRE((call) == GASPI_TIMEOUT);                                       \
      CHECK(gaspi_notify(0, 1, id, 1, 0, GASPI_TEST));                        \
    }                                                                         \
    while (late_ == GASPI_TIMEOUT) late_ = (call);                            \
    CHECK(late_);                                                             \
  } while (0)

static void await_from_0(gaspi_notification_id_t id) {
  gaspi_notification_id_t found;
  gaspi_notification_t value;
  CHECK(gaspi_notify_waitsome(0, id, 1, &found, GASPI_BLOCK));
  CHECK(gaspi_notify_reset(0, id, &value));
}

static void timeouts(unsigned char* memory) {
  gaspi_group_t group;
  gaspi_pointer_t made;
  int one = 1, sum = 0;
  CHECK(gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK));
  LATE(gaspi_barrier(GASPI_GROUP_ALL, GASPI_TEST), 100);
  LATE(gaspi_allreduce(&one, &sum, 1, GASPI_OP_SUM, GASPI_TYPE_INT, GASPI_GROUP_ALL, 2), 101);
  REQUIRE(sum == ranks);
  CHECK(gaspi_group_create(&group));
  for (gaspi_rank_t other = 0; other < ranks; ++other) CHECK(gaspi_group_add(group, other));
  LATE(gaspi_group_commit(group, GASPI_TEST), 102);
  LATE(gaspi_segment_create(5, 4096 * (rank + 1), group, 1, GASPI_MEM_INITIALIZED), 103);
  CHECK(gaspi_segment_ptr(5, &made));
  CHECK(gaspi_segment_delete(5));
  LATE(gaspi_segment_create(5, 64, group, GASPI_TEST, GASPI_MEM_INITIALIZED), 104);
  memset(memory, 3 + rank, big);
  for (int i = 0; i < 10; ++i)
    CHECK(gaspi_write(0, 0, (rank + 1) % ranks, 0, big, big / 2, 1, GASPI_TEST));
  gaspi_return_t code;
  do code = gaspi_wait(1, GASPI_TEST);
  while (code == GASPI_TIMEOUT);
  CHECK(code);
  CHECK(gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK));
  REQUIRE(memory[big] == 3 + (rank + ranks - 1) % ranks);
}

static void contract(void) {
  gaspi_pointer_t memory;
  CHECK(gaspi_segment_create(0, 2 * big, GASPI_GROUP_ALL, GASPI_BLOCK, GASPI_MEM_INITIALIZED));
  CHECK(gaspi_segment_ptr(0, &memory));
  order(memory);
  reads_and_atomics(memory);
  limits();
  segments();
  timeouts(memory);
  CHECK(gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK));
  if (rank == 0) printf("gaspi: right\n");
}

/* Each of two threads exchanges notifications with the same thread of the other rank, while the other thread waits. Two ids
 * in turn: the other rank may be one round behind. */
static void* exchange(void* number) {
  const gaspi_queue_id_t queue = *(const int*)number;
  for (unsigned round = 1; round <= 500; ++round) {
    const gaspi_notification_id_t mine = 2 * queue + round % 2;
    gaspi_notification_id_t id;
    gaspi_notification_t value;
    CHECK(gaspi_notify(0, 1 - rank, mine, round, queue, GASPI_BLOCK));
    CHECK(gaspi_notify_waitsome(0, mine, 1, &id, GASPI_BLOCK));
    CHECK(gaspi_notify_reset(0, id, &value));
    REQUIRE(id == mine && value == round);
    CHECK(gaspi_wait(queue, GASPI_BLOCK));
  }
  return NULL;
}

static void threads(void) {
  static int numbers[] = {0, 1};
  pthread_t thread[2];
  CHECK(gaspi_segment_create(0, 8, GASPI_GROUP_ALL, GASPI_BLOCK, GASPI_MEM_INITIALIZED));
  for (int i = 0; i < 2; ++i) REQUIRE(pthread_create(&thread[i], NULL, exchange, &numbers[i]) == 0);
  for (int i = 0; i < 2; ++i) REQUIRE(pthread_join(thread[i], NULL) == 0);
  CHECK(gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK));
  if (rank == 0) printf("gaspi: right\n");
}

static void mistake(const char* name) {
  CHECK(gaspi_segment_create(0, 4096, GASPI_GROUP_ALL, GASPI_BLOCK, GASPI_MEM_INITIALIZED));
  if (strcmp(name, "range") == 0) CHECK(gaspi_write(0, 0, 1, 0, 4088, 16, 0, GASPI_BLOCK));
  if (strcmp(name, "passive") == 0) CHECK(gaspi_passive_send(0, 0, 1, 8, GASPI_BLOCK));
  int one = 1, sum;
  if (rank == 1) CHECK(gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK));
  CHECK(gaspi_allreduce(&one, &sum, 1, GASPI_OP_SUM, GASPI_TYPE_INT, GASPI_GROUP_ALL, GASPI_BLOCK));
}

int main(int count, char** words) {
  CHECK(gaspi_proc_init(GASPI_BLOCK));
  CHECK(gaspi_proc_rank(&rank));
  CHECK(gaspi_proc_num(&ranks));
  const char* asked = count > 1 ? words[1] : "contract";
  if (strcmp(asked, "contract") == 0)
    contract();
  else if (strcmp(asked, "threads") == 0)
    threads();
  else
    mistake(asked);
  CHECK(gaspi_proc_term(GASPI_BLOCK));
  return 0;
}
