"""The MPIs that are found, each tried: two ranks with Espalier preloaded make an allreduce under its launcher."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Optional

from espalier.bench import process
from espalier.doctor import launchers_found
from espalier.doctor.check import Check
from espalier.doctor.launchers_found import Found
from espalier.elf import loader
from espalier.install import clone
from espalier.launch import intel
from espalier.mpi import kinds
from espalier.problem import Problem
from espalier.run.command import prepare
from espalier.stats.table import time as in_words

PROGRAM = Path(__file__).with_name("rank.py")
_LIMIT = 60  # seconds
_LIBRARIES = {"mpich": ("libmpi.so.12", "libmpich.so.12"), "ompi": ("libmpi.so.40",)}


def checks(try_them: bool, mine: Optional[Path] = None) -> Iterator[Check]:
    """One for each launcher, and each MPI where it starts any; `try_them`: with a run; `mine`: the user's launcher, and no
    other."""
    found = launchers_found.found(mine)
    served = 0
    for check in (check for launcher in found for check in _of(launcher, found, try_them)):
        served += check.good is True
        yield check
    if not found:
        yield Check("MPI", False, f"no mpirun {'in .venv or ' if clone() else ''}on PATH", "put an MPI on PATH")
    elif not served:
        yield Check("MPI", False, "Espalier serves a job of none of them", "espalier doctor -- mpirun -n 2 ./app says more")


def _of(launcher: Found, found: list[Found], try_them: bool) -> Iterator[Check]:
    path, family = launcher.path, launcher.family
    if family is None:
        yield Check("MPI", None, f"{path}: of no MPI that is known here", "espalier run --mpi mpich, ompi or abi")
    elif family.kind is None:
        yield from _of_any_mpi(launcher, f"{path}: {family.name}", found, try_them)
    else:
        title = f"{path}: {family.kind.library}{' (Intel MPI)' if intel.root_of(path) else ''}"
        libraries = list(_libraries([launcher], family.kind))
        start = launchers_found.start_of(launcher)[0]
        yield _tried(start, family.kind, title, libraries) if try_them else Check("MPI", True, title)


def _of_any_mpi(launcher: Found, title: str, found: list[Found], try_them: bool) -> Iterator[Check]:
    """With each MPI of this machine."""
    lacking = launcher.lacks(os.environ)
    if lacking or not try_them:
        yield Check("MPI", None, f"{title}; not tried{': ' if lacking else ''}{lacking}")
        return
    there = False
    for kind in (kinds.MPICH, kinds.OMPI):
        libraries = [name for name in _libraries(found, kind) if "/" in name or loader.is_found(name, os.environ)]
        if libraries:
            there = True
            yield _by_any_start(launcher, kind, title, libraries)
    if not there:
        yield Check("MPI", None, f"{title}; not tried: no library of an MPI is found", "put an MPI on PATH")


def _by_any_start(launcher: Found, kind: kinds.Kind, title: str, libraries: list[str]) -> Check:
    """By its default, or by another process manager that it offers; what came of the default, if none is good."""
    starts = launchers_found.start_of(launcher)
    first = _tried(starts[0], kind, f"{title} with {kind.library}", libraries)
    if first.good:
        return first
    for start in starts[1:]:
        words = " ".join(start[1:-2])
        other = _tried(start, kind, f"{title} {words} with {kind.library}", libraries)
        if other.good:
            return replace(other, found=f"{other.found}; start jobs so, since without {words} {_briefly(first)}")
    return first


def _briefly(check: Check) -> str:
    return check.found.partition("; ")[2]


def _tried(start: list[str], kind: kinds.Kind, title: str, libraries: list[str]) -> Check:
    with tempfile.TemporaryDirectory(prefix="espalier-doctor-") as folder:
        statistics = Path(folder) / "run.json"
        try:
            outcome = _run(start, kind, libraries, statistics)
        except Problem as problem:
            return Check("MPI", None, f"{title}; a job cannot be started: {problem}")
        report = json.loads(statistics.read_text()) if statistics.exists() else None
    if not outcome.fine:
        failure = outcome.failure()
        last = process.telling(failure["last_lines"]) or "it said nothing"
        return Check("MPI", None, f"{title}; a job of two ranks {failure['why']}: {last}", "the same job without Espalier")
    return _judged(title, outcome.output, report)


def _run(start: list[str], kind: kinds.Kind, libraries: list[str], statistics: Path) -> process.Outcome:
    words = [*start, sys.executable, "-I", str(PROGRAM), *libraries]
    asked = {"ESPALIER_STATS": str(statistics), "ESPALIER": "on"}
    if os.geteuid() == 0:
        asked |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    started, environment = prepare(words, {**os.environ, **asked}, kind, _Silent())
    return process.run(started, environment, _LIMIT)


class _Silent:
    def detail(self, text: str) -> None:
        pass

    def warning(self, text: str) -> None:
        pass


def _libraries(found: list[Found], kind: kinds.Kind) -> Iterator[str]:
    """Names to try, those beside launchers of that MPI first."""
    paths = [launcher.path for launcher in found if launcher.family is not None and launcher.family.kind is kind]
    for top in dict.fromkeys(top for path in paths for top in (path.parent.parent, path.resolve().parent.parent)):
        for name in _LIBRARIES[kind.name]:
            yield from (str(path) for path in (top / "lib" / name, top / "lib" / "release" / name) if path.exists())
    yield from _LIBRARIES[kind.name]


def _judged(title: str, output: str, report: Optional[dict[str, Any]]) -> Check:
    ranks = [json.loads(line) for line in output.splitlines() if line.startswith('{"rank"')]
    if len(ranks) != 2 or any(each["sum"] != 2 for each in ranks):
        return Check("MPI", None, f"{title}; two ranks were started, and no allreduce of two came out", "another launcher")
    rows = [row for row in (report or {}).get("rows", []) if row["collective"] == "allreduce"]
    if not rows:
        return Check("MPI", None, f"{title}; a job ran, without Espalier in its ranks", "espalier run -v -- ... says why")
    row = rows[0]
    if row["fallback"]:
        return Check("MPI", None, f"{title}; the host served an allreduce of two ranks: {row['fallback']}")
    masks = [tuple(each["cpus"]) for each in ranks]
    took = in_words(row["seconds"] / row["calls"])
    words = f"{title}; an allreduce of two ranks took {took} by {row['algorithm']} through {row['transport']}"
    if masks[0] == masks[1] and len(masks[0]) == 1 and len(os.sched_getaffinity(0)) > 1:
        return Check("MPI", None, f"{words}; both are bound to processor {masks[0][0]}", "another binding: -bind-to core")
    return Check("MPI", True, words)
