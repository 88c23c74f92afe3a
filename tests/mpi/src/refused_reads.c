/* A library to preload behind Espalier's: the system refuses reads of other processes' memory from the REFUSE_AFTER-th on, or
 * while REFUSE_READS is set in the program's environment, as seccomp filters do, and changes of the ptrace scope. Maps of
 * other processes' files are refused with the latter. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static int is_refused(void) {
  static int reads = 0;
  const char* after = getenv("REFUSE_AFTER");
  return getenv("REFUSE_READS") || (after && ++reads > atoi(after));
}

ssize_t process_vm_readv(pid_t process, const struct iovec* local, unsigned long locals, const struct iovec* remote,
                         unsigned long remotes, unsigned long flags) {
  if (process != getpid() && is_refused()) {
    const char* why = getenv("REFUSE_WHY");
    errno = why ? atoi(why) : EPERM;
    return -1;
  }
  ssize_t (*next)(pid_t, const struct iovec*, unsigned long, const struct iovec*, unsigned long, unsigned long);
  *(void**)&next = dlsym(RTLD_NEXT, "process_vm_readv");
  return next(process, local, locals, remote, remotes, flags);
}

int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const int mode = va_arg(more, int);
  va_end(more);
  int process, descriptor;
  if (getenv("REFUSE_READS") && sscanf(path, "/proc/%d/fd/%d", &process, &descriptor) == 2 && process != getpid()) {
    errno = EACCES;
    return -1;
  }
  int (*next)(const char*, int, ...);
  *(void**)&next = dlsym(RTLD_NEXT, "open");
  return next(path, flags, mode);
}
