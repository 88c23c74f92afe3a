"""What is put before mpirun so that a job runs as in a container: other mounts, other processes, another user."""

import shutil
import subprocess

import pytest

SMALL = "mount -t tmpfs -o size=64m tmpfs /dev/shm"
READ_ONLY = "mount -t tmpfs -o ro,size=4k tmpfs /dev/shm"
GONE = "umount -l /dev/shm && mount -t tmpfs -o ro,size=4k tmpfs /dev/shm"

# An ordinary user's own: he is root in there, and has no more rights outside than he had.
CONTAINER = ["unshare", "--user", "--map-root-user", "--mount", "--propagation", "private", "--pid", "--fork", "--kill-child",
             "--mount-proc", "--ipc", "--uts"]
ORDINARY_USER = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all"]
# Runs the job, and names what it has left behind in memory of its own and in processes.
_AND_LOOK = """
"$@"; code=$?
ls -A /dev/shm | sed 's/^/left behind: /' >&2
for process in /proc/[0-9]*; do
  [ "$process" = /proc/$$ ] || tr '\\0' ' ' < $process/cmdline 2> /dev/null | grep -v '^tr \\|^grep ' | sed 's/^/still runs: /' >&2
done
exit $code
"""


def in_a_mount_namespace(script):
    """Runs mpirun after `script` has changed what is mounted, seen by no other process."""
    if not shutil.which("unshare"):
        pytest.skip("there is no `unshare` command")
    prefix = ["unshare", "--mount", "--propagation", "private"]
    if subprocess.run([*prefix, "sh", "-c", script], capture_output=True).returncode != 0:
        prefix.insert(1, "--map-root-user")
        _try([*prefix, "sh", "-c", script], "change mounts in a namespace")
    return [*prefix, "sh", "-c", f'{script} && exec "$@"', "sh"]


def in_a_container(script=SMALL, as_user=()):
    """The same, with processes, System V IPC and a host name of its own. `as_user`: what begins the words, to be another user."""
    if not shutil.which("unshare"):
        pytest.skip("there is no `unshare` command")
    _try([*as_user, *CONTAINER, "sh", "-c", script], "make a user's own namespaces")
    return [*as_user, *CONTAINER, "sh", "-c", f"{script} || exit 125\n{_AND_LOOK}", "sh"]


def _try(words, what):
    tried = subprocess.run(words, capture_output=True, text=True)
    if tried.returncode != 0:
        pytest.skip(f"this system does not let us {what}: {tried.stderr.strip()}")
