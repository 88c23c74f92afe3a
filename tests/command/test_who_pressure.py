"""What holds a process up, by the counts of the kernel: of processes that this test starts."""

import os
import subprocess
import time
from contextlib import ExitStack

import pytest

from espalier.who import pressure, processes, seen
from espalier.who.pressure import Run

BUSY = ["sh", "-c", "while :; do :; done"]


def test_a_wait_is_counted_when_it_ends():
    then = {1: Run(5, 7, 2)}
    assert pressure.delay(then, then, stays_ready=True, seconds=0.1) == 1.0
    assert pressure.delay(then, then, stays_ready=False, seconds=0.1) == 0.0
    assert pressure.delay(then, {1: Run(6, 7 + 30_000_000, 3)}, True, 0.1) == pytest.approx(0.3)


def test_the_thread_that_waits_most_counts():
    then, now = {1: Run(0, 0, 1), 2: Run(0, 0, 1)}, {1: Run(1, 10_000_000, 2), 2: Run(1, 80_000_000, 2), 3: Run(1, 1 << 40, 1)}
    assert pressure.delay(then, now, False, 0.1) == pytest.approx(0.8)


def test_what_is_not_known():
    assert pressure.runs_of(4_000_000) == {}
    assert pressure.delay({}, {}, True, 0.1) is None and pressure.ran({}, {}, 0.1) is None


@pytest.mark.skipif(not pressure.runs_of(os.getpid()), reason="this kernel does not count waits for a processor")
def test_programs_on_one_core():
    """Each runs for a part of the time alone, and is named with the core as beside the others."""
    core = min(os.sched_getaffinity(0))
    with ExitStack() as started:
        busy = [started.enter_context(subprocess.Popen(BUSY, preexec_fn=lambda: os.sched_setaffinity(0, {core}))) for _ in range(4)]
        try:
            pids = [each.pid for each in busy]
            time.sleep(0.2)
            before, begun = [pressure.runs_of(pid) for pid in pids], time.monotonic()
            time.sleep(0.5)
            took = time.monotonic() - begun
            delays = [pressure.delay(then, pressure.runs_of(pid), True, took) for then, pid in zip(before, pids)]
            assert sum(each >= pressure.DELAYED for each in delays) >= 3, delays
            assert {processes.look(pid).core for pid in pids} == {core}
            rank = seen.Seen("a", 0, 1, "here", "node", pids[0], "R", delayed=0.75, between=0.5, core=core)
            pressure.add_causes([rank], processes.all_pids())
            assert {f"sh (process {pid})" for pid in pids[1:]} <= set(rank.beside), rank.beside
            assert f"sh (process {pids[0]})" not in rank.beside
        finally:
            for each in busy:
                each.kill()
