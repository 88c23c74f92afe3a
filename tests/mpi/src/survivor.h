/* What a rank says of itself while another one may end or do harm, and the thread that says it where the rank waits. */
#ifndef SURVIVOR_H
#define SURVIVOR_H

#include <mpi.h>

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Seconds: a call that takes so long waits for another rank. The host's calls, named "host: ...", are told nothing of a rank
   that has ended, so most such waits are of them. */
enum { patience = 8, patience_with_host = 3 };

static const char* volatile call = "MPI_Init";
static volatile long done; /* calls */
static int rank;

/* A line at once, by one write: lines of several ranks do not mix. */
static void say(const char* format, ...) {
  char line[1024];
  va_list values;
  va_start(values, format);
  const int length = vsnprintf(line, sizeof line, format, values);
  va_end(values);
  if (write(STDOUT_FILENO, line, length < (int)sizeof line ? (size_t)length : sizeof line - 1) < 0) _exit(2);
}

static void* watch(void* unused) {
  (void)unused;
  for (long seen = -1, since = 0;; usleep(100000)) {
    if (done != seen) {
      seen = done;
      since = 0;
    } else if (++since > (strncmp(call, "host:", 5) == 0 ? patience_with_host : patience) * 10) {
      say("rank %d: waits %s\n", rank, call);
      _exit(0);
    }
  }
}

/* The text of an error, in one line. */
static void explain(int code, char text[MPI_MAX_ERROR_STRING]) {
  int length = 0;
  MPI_Error_string(code, text, &length);
  for (char* at = text; *at; ++at)
    if (*at == '\n') *at = ' ';
}

#endif
