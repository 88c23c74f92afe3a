/* Says in whose code a rank crashes: "crashed in LIBRARY [as it reports an error]", the innermost frame that is not the C or C++
   library's. Under a shortage of memory hosts use what they did not get; tools/soak tells such crashes from those in Espalier. */
#ifndef SOAK_CRASH_H
#define SOAK_CRASH_H

#include <dlfcn.h>
#include <execinfo.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { FRAMES = 64, HANDLER_STACK = 256 << 10 };

static int is_of_the_language(const char* file) {
  const char* const known[] = {"libc.so", "libstdc++.so", "libgcc_s.so", "libpthread.so", "ld-linux"};
  for (size_t i = 0; i < sizeof known / sizeof *known; ++i)
    if (!strncmp(file, known[i], strlen(known[i]))) return 1;
  return 0;
}

/* The file's name of the code at `address`. */
static const char* file_of(void* address) {
  Dl_info info;
  if (!dladdr(address, &info) || !info.dli_fname) return "an unknown place";
  const char* slash = strrchr(info.dli_fname, '/');
  return slash ? slash + 1 : info.dli_fname;
}

/* Whether the host ends the job with an error, for which there may be no memory either. Open MPI's function is visible. */
static int is_reporting(void* const* frames, int count) {
  Dl_info info;
  for (int i = 0; i < count; ++i)
    if (dladdr(frames[i], &info) && info.dli_sname && strstr(info.dli_sname, "errors_are_fatal")) return 1;
  return 0;
}

/* Its own frame is the first. The handler is reset when this begins, so the second signal ends the process. */
static void say_whose_crash(int number) {
  void* frames[FRAMES];
  const int count = backtrace(frames, FRAMES);
  int i = 1;
  while (i < count && is_of_the_language(file_of(frames[i]))) ++i;
  fprintf(stderr, "crashed in %s%s\n", i < count ? file_of(frames[i]) : "an unknown place",
          is_reporting(frames, count) ? " as it reports an error" : "");
  raise(number);
}

/* Called while there is memory: the first backtrace() loads a library. The handler has a stack of its own, for the thread's may
   be what finds no room. */
static void watch_crashes(void) {
  const int watched[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
  void* frame;
  backtrace(&frame, 1);
  void* const memory = mmap(NULL, HANDLER_STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const stack_t stack = {.ss_sp = memory, .ss_size = HANDLER_STACK};
  if (memory != MAP_FAILED) sigaltstack(&stack, NULL);
  struct sigaction action = {.sa_handler = say_whose_crash, .sa_flags = SA_RESETHAND | SA_ONSTACK};
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < sizeof watched / sizeof *watched; ++i) sigaction(watched[i], &action, NULL);
}

#endif
