/* Runs its arguments with one system call refused:  refuse_call CALL ERRNO RANK|all program [arguments]
 * RANK: only the process of that number (PMI_RANK, PMIX_RANK or ESPALIER_TEST_RANK). */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Which calls of that number are refused, by the low half of one argument. Others are the loader's, the C library's or
 * the host MPI's, without which no program runs. */
enum test { always, equals, at_least, at_most };

static const struct refusal {
  const char* name;
  int number;
  enum test test;
  unsigned argument, value;
} refusals[] = {
    {"memfd_create", SYS_memfd_create, always, 0, 0},
    {"socket", SYS_socket, equals, 1, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK}, /* as Espalier asks for one */
    {"bind", SYS_bind, at_least, 2, 17}, /* to more than an address of the Internet */
    {"listen", SYS_listen, always, 0, 0},
    {"connect", SYS_connect, at_least, 2, 17},
    {"accept4", SYS_accept4, always, 0, 0},
    {"getsockopt", SYS_getsockopt, equals, 2, SO_PEERCRED},
    {"sendto", SYS_sendto, always, 0, 0},
    {"recvfrom", SYS_recvfrom, always, 0, 0},
    {"sendmsg", SYS_sendmsg, always, 0, 0},
    {"recvmsg", SYS_recvmsg, always, 0, 0},
    {"poll", SYS_poll, always, 0, 0},
    {"fcntl", SYS_fcntl, at_least, 1, 1024}, /* F_LINUX_SPECIFIC_BASE: seals, F_DUPFD_CLOEXEC */
    {"fchmod", SYS_fchmod, always, 0, 0},
    {"ftruncate", SYS_ftruncate, always, 0, 0},
    {"fallocate", SYS_fallocate, always, 0, 0},
    {"mmap", SYS_mmap, at_least, 1, 100u << 20}, /* of more bytes than a library has */
    {"madvise", SYS_madvise, always, 0, 0},
    {"getrandom", SYS_getrandom, always, 0, 0},
    {"process_vm_readv", SYS_process_vm_readv, always, 0, 0},
    {"pidfd_open", SYS_pidfd_open, always, 0, 0},
    {"futex", SYS_futex, at_most, 1, 1}, /* FUTEX_WAIT and FUTEX_WAKE between processes */
};

static unsigned number_of(const char* name) {
  static const struct {
    const char* name;
    unsigned number;
  } codes[] = {{"EPERM", EPERM}, {"EMFILE", EMFILE}, {"ENOSYS", ENOSYS}, {"ENOMEM", ENOMEM}, {"ENOSPC", ENOSPC}};
  for (size_t i = 0; i < sizeof codes / sizeof *codes; ++i)
    if (strcmp(name, codes[i].name) == 0) return codes[i].number;
  return 0;
}

static int is_meant(const char* who) {
  static const char* const variables[] = {"ESPALIER_TEST_RANK", "PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK"};
  for (size_t i = 0; i < sizeof variables / sizeof *variables; ++i) {
    const char* rank = getenv(variables[i]);
    if (rank) return strcmp(who, "all") == 0 || strcmp(who, rank) == 0;
  }
  return strcmp(who, "all") == 0;
}

static int refuse(const struct refusal* r, unsigned code) {
  const struct sock_filter test[] = {
      [always] = BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0, 0, 0),
      [equals] = BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, r->value, 0, 1),
      [at_least] = BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, r->value, 0, 1),
      [at_most] = BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, r->value, 1, 0),
  };
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)r->number, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args) + 8 * r->argument),
      test[r->test],
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | code),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

int main(int argc, char** argv) {
  const struct refusal* refusal = NULL;
  for (size_t i = 0; argc > 4 && i < sizeof refusals / sizeof *refusals; ++i)
    if (strcmp(argv[1], refusals[i].name) == 0) refusal = &refusals[i];
  if (!refusal || !number_of(argv[2])) {
    fprintf(stderr, "usage: refuse_call CALL ERRNO RANK|all program [arguments]\n");
    return 2;
  }
  if (is_meant(argv[3]) && !refuse(refusal, number_of(argv[2]))) {
    perror("refuse_call: the system allows no seccomp filter");
    return 3;
  }
  execvp(argv[4], argv + 4);
  perror(argv[4]);
  return 127;
}
