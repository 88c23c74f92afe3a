/* Runs its arguments with the system calls refused that Docker's default profile refuses a process without capabilities
 * ("Seccomp security profiles for Docker" in its manual):  docker_seccomp [--old-kernel] program [arguments]
 * --old-kernel: also those that are refused on kernels before 4.8, where ptrace could get around the filter. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const int refused[] = {
    SYS_acct, SYS_add_key, SYS_bpf, SYS_clock_adjtime, SYS_clock_settime, SYS_delete_module, SYS_finit_module,
    SYS_fsconfig, SYS_fsmount, SYS_fsopen, SYS_fspick, SYS_get_mempolicy, SYS_init_module, SYS_io_uring_enter,
    SYS_io_uring_register, SYS_io_uring_setup, SYS_kcmp, SYS_kexec_load, SYS_keyctl, SYS_lookup_dcookie, SYS_mbind,
    SYS_mount, SYS_move_mount, SYS_move_pages, SYS_nfsservctl, SYS_open_by_handle_at, SYS_open_tree, SYS_perf_event_open,
    SYS_pidfd_getfd, SYS_pivot_root, SYS_process_madvise, SYS_quotactl, SYS_reboot, SYS_request_key, SYS_set_mempolicy,
    SYS_setdomainname, SYS_sethostname, SYS_setns, SYS_settimeofday, SYS_swapoff, SYS_swapon, SYS_syslog, SYS_umount2,
    SYS_unshare, SYS_userfaultfd, SYS_vhangup,
#ifdef SYS_iopl
    SYS_ioperm, SYS_iopl,
#endif
};
static const int refused_before_4_8[] = {SYS_process_vm_readv, SYS_process_vm_writev, SYS_ptrace};

enum { address_family_vsock = 40, new_namespaces = 0x7e020000, most = 256 };

struct rules {
  struct sock_filter filter[most];
  unsigned short length;
};

static void add(struct rules* rules, struct sock_filter step) { rules->filter[rules->length++] = step; }

static void refuse(struct rules* rules, int number, unsigned error) {
  add(rules, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1));
  add(rules, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error));
}

/* Where the low half of the first argument passes the test; the call's number is in the accumulator again behind it. */
static void refuse_by_argument(struct rules* rules, int number, struct sock_filter test) {
  add(rules, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 4));
  add(rules, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)));
  add(rules, test);
  add(rules, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM));
  add(rules, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
}

static int confine(int old_kernel) {
  struct rules rules = {.length = 0};
  add(&rules, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)));
  for (size_t i = 0; i < sizeof refused / sizeof *refused; ++i) refuse(&rules, refused[i], EPERM);
  for (size_t i = 0; old_kernel && i < sizeof refused_before_4_8 / sizeof *refused_before_4_8; ++i)
    refuse(&rules, refused_before_4_8[i], EPERM);
  refuse(&rules, SYS_clone3, ENOSYS); /* its flags cannot be looked at, so the C library is to take clone */
  refuse_by_argument(&rules, SYS_clone,
                     (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, new_namespaces, 0, 1));
  refuse_by_argument(&rules, SYS_socket,
                     (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, address_family_vsock, 0, 1));
  add(&rules, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  struct sock_fprog program = {rules.length, rules.filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

int main(int argc, char** argv) {
  const int old_kernel = argc > 1 && strcmp(argv[1], "--old-kernel") == 0;
  if (argc < 2 + old_kernel) {
    fprintf(stderr, "usage: docker_seccomp [--old-kernel] program [arguments]\n");
    return 2;
  }
  if (!confine(old_kernel)) {
    perror("docker_seccomp: the system allows no seccomp filter");
    return 3;
  }
  execvp(argv[1 + old_kernel], argv + 1 + old_kernel);
  perror(argv[1 + old_kernel]);
  return 127;
}
