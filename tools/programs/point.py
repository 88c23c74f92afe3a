"""One program under one host with a number of ranks, and what is read from a run of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable

from espalier.bench.hosts import HOSTS, cores, launcher

# Sums in another order differ by rounding, and the iteration carries that on; a wrong sum is far beyond this.
AGREEMENT = 1e-6


class Failed(Exception):
    pass


@dataclass
class Result:
    seconds: float
    values: list[float]  # what must agree: residuals, energies


@dataclass
class Point:
    program: str
    host: str
    ranks: int
    command: list[str]
    settings: dict[str, str]
    read: Callable[[str, Path], Result]  # from its output, and the folder that it ran in
    agreement: float = AGREEMENT
    times: dict[str, list[float]] = field(default_factory=lambda: {"host": [], "espalier": []})
    difference: float = 0.0  # the largest relative one
    served: int = 0  # collective calls that Espalier served, in the run that counts them
    left: int = 0  # those that it left to the host

    @property
    def title(self) -> str:
        return f"{self.program}, {self.host}, {self.ranks} ranks"


def difference(a: list[float], b: list[float], title: str) -> float:
    if len(a) != len(b) or not a:
        raise Failed(f"{title}: {len(a)} values without Espalier, {len(b)} with it")
    return max(abs(x - y) / max(abs(x), abs(y), 1e-300) for x, y in zip(a, b))


def pinned(host: str, ranks: int) -> list[str]:
    """One rank a core where there are enough; the launchers differ in how they say it."""
    if ranks > len(cores()):
        return []
    return {
        "mpich": ["-bind-to", "user:" + ",".join(map(str, cores()[:ranks]))],
        "impi": ["-genv", "I_MPI_PIN_PROCESSOR_LIST", ",".join(map(str, cores()[:ranks]))],
    }.get(host, [])


def start_of(host: str, ranks: int) -> list[str]:
    words = launcher(HOSTS[host], ranks) + pinned(host, ranks)
    if host == "openmpi" and ranks <= len(cores()):
        words[words.index("--bind-to") + 1] = "core"
    return words
