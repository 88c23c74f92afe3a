"""A second user of the machine (setpriv, as root) against jobs of the first: he gets nothing, and ends nothing (docs/security.md)."""

import os
import re
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager

import hosts
import meetings
import pytest

pytestmark = [pytest.mark.needs_espalier,
              pytest.mark.skipif(os.geteuid() != 0, reason="only root can play a second user"),
              pytest.mark.skipif(not shutil.which("setpriv"), reason="there is no `setpriv`")]

SECOND_USER = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all"]
LONG_MS = 60_000  # a meeting that is held up ends by the limit of meetings.wait()


@contextmanager
def stranger(*what, successes=0):
    """Plays the second user meanwhile, and counts what he says that he got."""
    script = (hosts.SOURCES / "stranger.py").read_text()
    process = subprocess.Popen([*SECOND_USER, sys.executable, "-c", script, *map(str, what)], stdout=subprocess.PIPE, text=True,
                               cwd="/")
    assert process.stdout.readline() == "ready\n"
    try:
        yield
    finally:
        process.kill()
    said, _ = process.communicate()
    assert len(said.splitlines()) == successes, said


def name_of(test):
    return f"second-user-{test}-{os.getpid()}"


@pytest.mark.parametrize("how", ["listen", "bind"])
def test_he_takes_the_name_of_a_meeting_first(how):
    """Rank 0 listens under another name, and no rank sends him a byte."""
    name = name_of(how)
    with stranger("squat", name, os.geteuid(), how):
        assert meetings.right(meetings.meet(name, 4, LONG_MS))


def test_he_floods_a_meeting():
    with stranger("flood"):
        for round_ in range(5):
            name = name_of(f"flood-{round_}")
            ranks = [meetings.start(name, rank, 4, LONG_MS) for rank in range(3)]
            time.sleep(0.3)  # for him to come before the last rank
            ranks.append(meetings.start(name, 3, 4, LONG_MS))
            assert meetings.right(meetings.wait(ranks))


def test_he_floods_an_mpi_job(launch, statistics):
    """Its ranks still share memory: strangers fill no place of theirs."""
    host = hosts.HOSTS["mpich"]
    with stranger("flood"):
        run = launch(host, 4, "checked", "--only", "roots", env=statistics.env)
    assert run.status == 0 and re.search(r"^\d+ passed, 0 failed", run.out, re.M), str(run)
    statistics.check(host, 4, ["bcast", "reduce"])


def open_files(processes):
    return [os.path.realpath(f"/proc/{process.pid}/fd/{number}") for process in processes
            for number in os.listdir(f"/proc/{process.pid}/fd")]


@pytest.mark.parametrize("memfd", ["on", "off"])
def test_he_opens_the_memory_of_a_job(memfd):
    """The first user could, which shows that the stranger looks where the memory is."""
    name = name_of(f"open-{memfd}")
    with stranger("open"):
        ranks = [meetings.start(name, rank, 2, LONG_MS, stays_s=2, ESPALIER_MEMFD=memfd) for rank in range(2)]
        end = time.monotonic() + 30
        while not any("espalier" in file for file in open_files(ranks)) and time.monotonic() < end:
            time.sleep(0.05)
        files = open_files(ranks)
        assert any("espalier" in file for file in files), files
        assert meetings.right(meetings.wait(ranks))
