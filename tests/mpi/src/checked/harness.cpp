#include "harness.hpp"

#include <signal.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace checked {
namespace {

constexpr int most_failures_printed = 10;  // per rank: a broken collective fails thousands of times
constexpr int hung_status = 86;

int world_rank = -1;
int patience = 60;
const char* current_subject = "";
Call current{"nothing yet", nullptr};
long long passes = 0;
long long failures = 0;
std::uint64_t digest_state = 0xcbf29ce484222325u;

volatile sig_atomic_t calls_begun = 0;  // written by the program, read by its own signal handler
int calls_seen = -1;
int seconds_stuck = 0;

int describe(char* text, std::size_t size) {
  return std::snprintf(text, size, "%s: %s on %s, root %d, count %ld, type %s, op %s", current_subject,
                       current.collective, current.group ? current.group->name.c_str() : "-", current.root,
                       current.count, current.type, current.op);
}

void name_the_call(const char* what) {
  char where[400], line[512];
  describe(where, sizeof where);
  int length = std::snprintf(line, sizeof line, "%s rank %d in call %d, %s\n", what, world_rank,
                             static_cast<int>(calls_begun), where);
  if (write(STDERR_FILENO, line, static_cast<std::size_t>(length)) < 0) _exit(hung_status);
}

// A crash inside a library says nothing by itself; the default action follows, for the core and the exit
// status.
void crash(int number) {
  name_the_call("CRASHED");
  signal(number, SIG_DFL);
  raise(number);
}

// Ticks once a second. Ranks wait for the slowest watchdog before they end the job, so that each names its
// own call.
void tick(int) {
  if (calls_seen != calls_begun) {
    calls_seen = calls_begun;
    seconds_stuck = 0;
    return;
  }
  ++seconds_stuck;
  if (seconds_stuck == patience) name_the_call("HUNG");
  if (seconds_stuck >= patience + 3) _exit(hung_status);
}

}  // namespace

void start(int seconds) {
  patience = seconds;
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  struct sigaction action = {};
  action.sa_handler = tick;
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, nullptr);
  for (int number : {SIGSEGV, SIGBUS, SIGFPE, SIGABRT}) signal(number, crash);
  itimerval every_second = {{1, 0}, {1, 0}};
  setitimer(ITIMER_REAL, &every_second, nullptr);
}

void subject(const char* name) {
  current_subject = name;
  calls_begun = calls_begun + 1;
}

void begin(const Call& call) {
  current = call;
  calls_begun = calls_begun + 1;
}

void pass() { ++passes; }

void fail(long element, const std::string& expected, const std::string& got) {
  if (++failures > most_failures_printed) return;
  char where[400];
  describe(where, sizeof where);
  std::fprintf(stderr,
               "FAILED %s, rank %d of the communicator (world %d), element %ld: expected %s, got %s\n", where,
               current.group ? current.group->rank : -1, world_rank, element, expected.c_str(), got.c_str());
}

int finish() {
  constexpr int tag = 4711;
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  begin({"the final count", nullptr});
  long long mine[2] = {passes, failures};
  if (world_rank != 0) {
    MPI_Send(mine, 2, MPI_LONG_LONG, 0, tag, MPI_COMM_WORLD);
    MPI_Recv(mine, 2, MPI_LONG_LONG, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return mine[1] ? 1 : 0;
  }
  for (int rank = 1; rank < size; ++rank) {
    long long theirs[2];
    MPI_Recv(theirs, 2, MPI_LONG_LONG, rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    mine[0] += theirs[0];
    mine[1] += theirs[1];
  }
  for (int rank = 1; rank < size; ++rank) MPI_Send(mine, 2, MPI_LONG_LONG, rank, tag, MPI_COMM_WORLD);
  std::printf("digest %016llx\n", static_cast<unsigned long long>(digest_state));
  std::printf("%lld passed, %lld failed, %d ranks\n", mine[0], mine[1], size);
  std::fflush(stdout);
  return mine[1] ? 1 : 0;
}

void digest(const void* bytes, std::size_t size) {
  const auto* byte = static_cast<const unsigned char*>(bytes);
  for (std::size_t i = 0; i < size; ++i) digest_state = (digest_state ^ byte[i]) * 0x100000001b3u;
}

namespace {

bool is_set(const char* name) {
  const char* asked = std::getenv(name);
  return asked && std::strcmp(asked, "1") == 0;
}

}  // namespace

bool on_bare_host() { return is_set("CHECKED_BARE"); }

static int errors = 0;
static void count_error(MPI_Comm*, int*, ...) { ++errors; }

ErrorsCounted::ErrorsCounted() {
  errors = 0;
  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &world_);
  MPI_Comm_get_errhandler(MPI_COMM_SELF, &self_);
  MPI_Comm_create_errhandler(count_error, &counting_);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, counting_);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, counting_);
}

ErrorsCounted::~ErrorsCounted() {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, world_);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, self_);
  for (MPI_Errhandler* handler : {&world_, &self_, &counting_}) MPI_Errhandler_free(handler);
}

bool ErrorsCounted::none() const { return errors == 0; }

double now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

void sleep_for(double seconds) {
  timespec left = {static_cast<time_t>(seconds),
                   static_cast<long>((seconds - static_cast<time_t>(seconds)) * 1e9)};
  while (nanosleep(&left, &left) != 0 && errno == EINTR) {
  }
}

std::string hex(const void* bytes, std::size_t size) {
  std::string text;
  const auto* byte = static_cast<const unsigned char*>(bytes);
  char digits[3];
  for (std::size_t i = 0; i < std::min<std::size_t>(size, 32); ++i) {
    std::snprintf(digits, sizeof digits, "%02x", byte[i]);
    text += digits;
  }
  return text;
}

}  // namespace checked
