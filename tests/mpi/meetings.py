"""Jobs of the C API: processes that meet by name, each a rank (src/met.c)."""

import os
import subprocess
import time
from dataclasses import dataclass
from functools import cache

import hosts

REFUSED, TIMED_OUT, SYSTEM = 2, 3, 4  # of espalier.h


@cache
def program(name="met"):
    """One of src/, linked with libespalier.so."""
    hosts.BUILT.mkdir(parents=True, exist_ok=True)
    target = hosts.BUILT / name
    hosts._compile(["gcc", "-std=gnu11", "-O1", f"-I{hosts.REPOSITORY}/include", str(hosts.SOURCES / f"{name}.c"),
                    f"-L{hosts.LIBRARIES}", "-lespalier", f"-Wl,-rpath,{hosts.LIBRARIES}"], target)
    return target


@dataclass
class Rank:
    code: int
    said: str


def start(name, rank, size, timeout_ms, wrap=(), stays_s=0, **environment):
    return subprocess.Popen([*map(str, wrap), str(program()), name, str(rank), str(size), str(timeout_ms), str(stays_s)],
                            env={**os.environ, "ESPALIER_TEST_RANK": str(rank), **environment}, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def wait(processes, seconds=60):
    """A rank that still runs then hangs."""
    end = time.monotonic() + seconds * hosts.SLOWER
    ranks = []
    try:
        for process in processes:
            said, _ = process.communicate(timeout=max(end - time.monotonic(), 0.1))
            ranks.append(Rank(process.returncode, said.strip()))
    finally:
        for process in processes:
            process.kill()
            process.wait()
    return ranks


def meet(name, size, timeout_ms=3000, wrap=(), **environment):
    return wait([start(name, rank, size, timeout_ms, wrap, 0, **environment) for rank in range(size)])


def right(ranks):
    size = len(ranks)
    return all(rank == Rank(0, f"sum {size * (size - 1) // 2}, 0 wrong") for rank in ranks)
