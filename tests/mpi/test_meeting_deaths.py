"""A rank of a large meeting is killed: all others hear which one it was, long before their time is over."""

import os
import signal
import time

import hosts
import meetings
import pytest

pytestmark = pytest.mark.needs_espalier

LONG_MS = 600_000


def connected(name):
    """How many ranks have come to rank 0, whose end of each connection has the name of the meeting (state 3: connected)."""
    with open("/proc/net/unix", encoding="utf-8", errors="replace") as table:
        return sum(name in line and line.split()[5] == "03" for line in table)


def sleeps(process):
    with open(f"/proc/{process.pid}/stat", encoding="utf-8", errors="replace") as stat:
        return stat.read().rpartition(")")[2].split()[0] == "S"


def have_come(name, processes):
    """All are connected and wait, so they have greeted rank 0; last rank 0, so it has read what they sent."""
    return connected(name) >= len(processes) - 1 and all(map(sleeps, [*processes[1:], processes[0]]))


def killed(ranks, come, victim):
    """`come` of the ranks come, and wait for the others; then one is killed."""
    name = f"killed-{os.getpid()}-{ranks}-{victim}"
    processes = [meetings.start(name, rank, ranks, LONG_MS) for rank in range(come)]
    end = time.monotonic() + 60 * hosts.SLOWER
    while not have_come(name, processes):
        assert time.monotonic() < end, f"{connected(name)} of {come - 1} ranks came to rank 0"
        time.sleep(0.02)
    processes[victim].send_signal(signal.SIGKILL)
    others = [process for process in processes if process is not processes[victim]]
    try:
        return meetings.wait(others)
    finally:
        processes[victim].wait()


@pytest.mark.parametrize("ranks, victim", [(3, 1), (40, 7), (40, 0), pytest.param(200, 100, marks=pytest.mark.full)])
def test_a_rank_is_killed_while_others_are_awaited(ranks, victim):
    for rank in killed(ranks, ranks - 1, victim):
        assert rank.code == meetings.SYSTEM and f"rank {victim} is gone" in rank.said, rank
