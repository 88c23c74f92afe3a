"""A rank of a large meeting is killed: all others hear which one it was, long before their time is over."""

import os
import signal
import time

import meetings
import pytest

pytestmark = pytest.mark.needs_espalier

LONG_MS = 600_000


def killed(ranks, come, victim):
    """`come` of the ranks come, and wait for the others; then one is killed."""
    name = f"killed-{os.getpid()}-{ranks}-{victim}"
    processes = [meetings.start(name, rank, ranks, LONG_MS) for rank in range(come)]
    time.sleep(2)
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
