"""The mpi4py half of the demo: runs collectives.py and reads what it prints. This file may not be named mpi4py.py: that program
is started by its path, so that its folder comes first where it looks for mpi4py."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from espalier.bench import process
from espalier.bench.hosts import environment, preload, preloaded
from espalier.demo.mpis import Mpi

SIZES = (8, 1024, 32768, 1048576)
_MARK = "espalier-demo "


@dataclass(frozen=True)
class Kind:
    mpi: Mpi
    ranks: int
    espalier: bool
    repetitions: int = 50


def command(kind: Kind) -> tuple[list[str], dict[str, str]]:
    host, mpi = kind.mpi.host, kind.mpi
    script = Path(__file__).with_name("collectives.py")
    words = [str(mpi.python), str(script), str(kind.repetitions), *map(str, SIZES)]
    if host.own_launcher:  # a Python of its own MPI needs nothing
        words = process.wrapped(dict(mpi.settings), None, words)
    settings = preloaded(preload(host)) if kind.espalier else {}
    return mpi.job(kind.ranks, words, environment(host, kind.ranks) | settings)


def parse(text: str) -> list[dict]:
    """The points that the program printed; none if it did not come to its end."""
    for line in text.splitlines():
        if line.startswith(_MARK):
            try:
                return json.loads(line[len(_MARK) :])["points"]
            except (ValueError, KeyError):
                return []
    return []


def run(kind: Kind, limit: float) -> tuple[process.Outcome, list[dict]]:
    words, surroundings = command(kind)
    outcome = process.run(words, surroundings, limit)
    return outcome, parse(outcome.output)
