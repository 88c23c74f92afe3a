// An Ethernet switch in user space that delays every frame, for kernels that have no netem.
//
//   delaying_switch [--delay MICROSECONDS] [--rate MEGABITS_PER_SECOND] INTERFACE INTERFACE...
//
// Joins the interfaces, which must belong to no bridge and have no address. A frame that comes in leaves
// `--delay` later (500 us if not said) through the port behind which its destination was seen, or through all
// others. With `--rate` a frame also occupies the wire into the switch, and then the wire out of it, for its
// length at that rate (several frames' worth where the kernel left a long segment in one piece); both ways at
// the same time, as full duplex does. Order is kept. What does not fit into 64 MiB a port is dropped.
//
// Writes "ready" to standard output when frames pass. Ends on SIGTERM or SIGINT and prints counts to standard
// error; is killed by the kernel when its parent ends. Runs under the real-time scheduler if it may,
// so that ranks that never rest do not add to the delay. Needs CAP_NET_RAW. Exit status 1 after an error.
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <exception>

#include "options.hpp"
#include "switch.hpp"

static std::atomic<bool> stopped = false;  // lock-free, so a signal handler may set it

static void be_punctual() {
  prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
  mlockall(MCL_CURRENT);
  const sched_param priority = {.sched_priority = 10};
  if (sched_setscheduler(0, SCHED_FIFO, &priority))
    std::perror("delaying_switch: no real-time scheduling, so busy ranks add to the delay");
}

static void end_with_parent(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) std::raise(SIGKILL);  // it ended before the line above
}

static void end_on_signals() {
  struct sigaction action = {};
  action.sa_handler = [](int) { stopped.store(true, std::memory_order_relaxed); };
  sigset_t blocked;
  sigemptyset(&blocked);
  for (const int number : {SIGTERM, SIGINT}) {
    sigaction(number, &action, nullptr);
    sigaddset(&blocked, number);
  }
  sigprocmask(SIG_BLOCK, &blocked, nullptr);  // they arrive while the switch waits, so that none is missed
}

int main(int argc, char** argv) try {
  end_with_parent(getppid());
  const Options options = parse_options(argc, argv);
  end_on_signals();
  Switch joined(options);
  be_punctual();
  std::puts("ready");
  std::fflush(stdout);
  joined.run(stopped);
  joined.print_counts();
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "delaying_switch: %s\n", error.what());
  return 1;
}
