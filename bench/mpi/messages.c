#include "messages.h"

#include <mpi.h>

#include "clock.h"

enum { TAG = 77, LONG_BYTES = 32 * 1024, SHORT_ROW = 64, LONG_ROW = 8, TRIPS = 4 };

static void send(struct bench* b, int to, int bytes) {
  PMPI_Send(b->work.send, bytes, MPI_BYTE, to, TAG, MPI_COMM_WORLD);
}

static void receive(struct bench* b, int from, int bytes) {
  PMPI_Recv(b->work.receive, bytes, MPI_BYTE, from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static double there_and_back(struct bench* b, int partner, int bytes) {
  const int64_t begin = clock_ticks();
  for (int i = 0; i < TRIPS; ++i) {
    if (!b->team.rank) send(b, partner, bytes);
    receive(b, b->team.rank ? 0 : partner, bytes);
    if (b->team.rank) send(b, 0, bytes);
  }
  return team_ns(&b->team, clock_ticks() - begin) / 1000 / (2 * TRIPS);
}

// A row of messages and one short answer: the time is that of the row, a message's way and the answer's way.
static double row(struct bench* b, int partner, int bytes, int length) {
  MPI_Request requests[SHORT_ROW];
  const int64_t begin = clock_ticks();
  if (!b->team.rank) {
    for (int i = 0; i < length; ++i)
      PMPI_Isend(b->work.send, bytes, MPI_BYTE, partner, TAG, MPI_COMM_WORLD, &requests[i]);
    PMPI_Waitall(length, requests, MPI_STATUSES_IGNORE);
    receive(b, partner, 0);
  } else {
    for (int i = 0; i < length; ++i) receive(b, 0, bytes);
    send(b, 0, 0);
  }
  return team_ns(&b->team, clock_ticks() - begin) / 1000;
}

static void both(struct bench* b, int partner, int bytes, struct messages* result) {
  const int length = bytes < LONG_BYTES ? SHORT_ROW : LONG_ROW;
  there_and_back(b, partner, bytes);  // warm-up: connections, registered memory
  for (int i = 0; i < MESSAGE_SAMPLES; ++i) {
    result->half_trip_us[i] = there_and_back(b, partner, bytes);
    const double one = row(b, partner, bytes, 1);
    result->gap_us[i] = (row(b, partner, bytes, length) - one) / (length - 1);
  }
}

void messages_measure(struct bench* b, int partner, size_t bytes, struct messages* result) {
  team_wait_asleep(&b->team);
  if (!b->team.rank || b->team.rank == partner) both(b, partner, (int)bytes, result);
  team_wait_asleep(&b->team);
}
