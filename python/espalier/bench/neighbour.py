"""A computing process beside the ranks, on one of their cores."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

# It looks now and then whether the command that started it is still there.
_PROGRAM = """
import os, sys
os.sched_setaffinity(0, {int(sys.argv[1])})
parent = os.getppid()
print("there", flush=True)
while os.getppid() == parent:
    for i in range(1_000_000):
        pass
"""


@contextmanager
def neighbour(cpu: int) -> Iterator[subprocess.Popen]:
    """In a session of its own, as another user's program would be."""
    command = [sys.executable, "-c", _PROGRAM, str(cpu)]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, start_new_session=True) as process:
        try:
            assert process.stdout is not None
            process.stdout.readline()
            yield process
        finally:
            process.kill()
