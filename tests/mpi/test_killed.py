"""kill -9 of the whole job at random moments: nothing of Espalier's stays in /dev/shm, /tmp or as a process."""

import os
import random
import re
import signal
import subprocess
import time
from pathlib import Path

import hosts
import pytest

TIMES = int(os.environ.get("ESPALIER_TEST_KILLS", "6"))  # per host; ESPALIER_TEST_KILLS=200 for the full measure

# Folders of commands and tests that run at the same time. The library itself makes none.
PYTHONS = r"espalier-[a-z-]+-[a-z0-9_]{8}"
# What the hosts leave behind when they are killed, each seen: segments of MPICH, Open MPI, UCX and Intel MPI, and
# Open MPI's session folders. Whatever has another name is ours.
LEFT_BY_HOSTS = {
    "/dev/shm": [r"mpich_shm_\w+", r"mpich_shar_tmp\w+", r"sm_segment\..*", r"ucx_shm_posix_\w+", r"Intel_MPI_\w+"],
    "/tmp": [r"ompi\..*", r"pytest-of-\w+", PYTHONS],
}


def listing():
    found = set()
    for folder, patterns in LEFT_BY_HOSTS.items():
        for entry in Path(folder).iterdir():
            if not any(re.fullmatch(pattern, entry.name) for pattern in patterns):
                found.add(str(entry))
    return found


def ours(before):
    """New names. In /tmp only those that say so: other programs of this machine write there at the same time."""
    return {name for name in listing() - before if name.startswith("/dev/shm/") or "espalier" in name.lower()}


def processes_with(mark):
    """Every process whose environment carries the mark of this test."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            if mark.encode() in (entry / "environ").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def alive(pids):
    def running(pid):
        try:
            return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
        except OSError:
            return False

    return [pid for pid in pids if running(pid)]


def kill_all(mark):
    """All at once, and again for those that were being born; each by its own id."""
    for _ in range(50):
        left = alive(processes_with(mark))
        if not left:
            return []
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(0.02)
    return alive(processes_with(mark))


def start(host, ranks, mark, **more):
    program = hosts.program(host, "endless")
    assert hosts.BARE or host.library.exists(), f"{host.library} does not exist: run `make build` first"
    preload = hosts.preload_of(host, None if hosts.BARE else host.library)
    command = hosts.command_for(host, ranks, [program], preload, more)
    env = {**hosts.environment(host, ranks), "KILLED_TEST_MARK": mark}  # not ESPALIER_…: that would be an unknown key
    return subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True,
                            text=True)


def check_nothing_left(before, mark, what):
    """Other tests run meanwhile: of the names that are new when the job has ended, theirs go with their own jobs."""
    names, deadline = ours(before), time.monotonic() + 60 * hosts.SLOWER
    while time.monotonic() < deadline and (names or alive(processes_with(mark))):
        time.sleep(0.05)
        names &= listing()
    assert not names, f"left behind by {what}: {sorted(names)}"
    assert not alive(processes_with(mark)), f"processes outlived {what}"


@pytest.mark.every_host
@pytest.mark.slow
def test_kill_the_job(host):
    random.seed(host.name)
    before = listing()
    for number in range(TIMES):
        mark = f"kill-{os.getpid()}-{host.name}-{number}"
        process = start(host, 4, mark)
        try:
            # Half of them while the ranks start and share their memory, half while collectives run.
            if number % 2:
                assert process.stdout.readline() == "running\n", "the job did not start"
                moment = random.uniform(0, 0.3)
            else:
                moment = random.uniform(0.02, 1.0)
            time.sleep(moment)
        finally:
            kill_all(mark)
            process.kill()
            process.wait(60)
            process.stdout.close()
        check_nothing_left(before, mark, f"a job killed after {moment:.3f} s ({'running' if number % 2 else 'starting'})")


@pytest.mark.every_host
@pytest.mark.needs_espalier
def test_kill_one_rank(host):
    """One rank dies by itself; the launcher ends the others, and the last of them leaves nothing."""
    before = listing()
    mark = f"kill-one-{os.getpid()}-{host.name}"
    process = start(host, 3, mark)
    try:
        assert process.stdout.readline() == "running\n", "the job did not start"
        program = str(hosts.program(host, "endless"))
        ranks = [pid for pid in processes_with(mark) if os.path.realpath(f"/proc/{pid}/exe") == os.path.realpath(program)]
        assert len(ranks) == 3
        os.kill(random.choice(ranks), signal.SIGKILL)
        assert process.wait(60) != 0
    finally:
        kill_all(mark)
        process.stdout.close()
    check_nothing_left(before, mark, "a job of which one rank was killed")
