"""Runs real programs with and without Espalier, in turns, and prints a table (`make example`).

    .venv/command/bin/python tools/real_programs.py [--rounds 5] [--ranks 2,4,8] [--programs cg.c,lammps,...] [--json FILE]

cg.c and cg.py are the solvers in examples/; amg is examples/amg.c over hypre, fourier examples/fourier.py over mpi4py-fft,
fenicsx examples/poisson.py over Debian's package; lammps, hpcc (HPC Challenge), examl and openfoam are Debian's packages
of these names, as they are (tools/programs/). Each is started as a user would: `mpirun ...`
and `espalier run -- mpirun ...`. The time is the program's own, without its start. What each computes (the residuals of
every iteration, energies, norms, a likelihood) must agree between the two.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Callable, Optional

from espalier.bench import file, machine, process

from programs import debian, document, elements, openfoam, solvers, transforms
from programs.point import Failed, Point, Result, difference

ROOT = Path(__file__).resolve().parents[1]
LIMIT = 120  # seconds for one job
MAKERS: dict[str, Callable[[list[int], Path], list[Point]]] = {
    "cg.c": solvers.of_c, "cg.py": solvers.of_python, "lammps": debian.lammps, "amg": debian.amg, "hpcc": debian.hpcc,
    "examl": debian.examl, "openfoam": openfoam.openfoam, "fourier": transforms.fourier, "fenicsx": elements.fenicsx,
}


def all_points(programs: list[str], ranks: list[int], folder: Path) -> list[Point]:
    unknown = [name for name in programs if name not in MAKERS]
    if unknown:
        raise SystemExit(f"no such program: {', '.join(unknown)}; there are {', '.join(MAKERS)}")
    return [point for name in programs for point in MAKERS[name](ranks, folder)]


# --- running them ------------------------------------------------------------------------------------------------------


def run(point: Point, espalier: bool, folder: Path, statistics: Optional[Path] = None) -> Result:
    words = point.command
    if espalier:
        options = [f"--stats={statistics}"] if statistics else []
        words = [str(ROOT / "bin" / "espalier"), "run", *options, "--", *words]
    outcome = process.run(words, point.settings, LIMIT)
    if not outcome.fine:
        failure = outcome.failure()
        last = "\n".join(failure["last_lines"])
        raise Failed(f"{point.title}: {failure['why']}:\n{failure['command']}\n{last}")
    return point.read(outcome.output, folder)


def count_calls(point: Point, folder: Path) -> None:
    """An untimed run that counts the collective calls that Espalier served: without any there is nothing to compare."""
    statistics = folder / "statistics.json"
    statistics.unlink(missing_ok=True)
    run(point, True, folder, statistics)
    if not statistics.exists():
        raise Failed(f"{point.title}: Espalier was not in the program (no statistics were written)")
    rows = json.loads(statistics.read_text())["rows"]
    point.served, point.left = (
        sum(row["calls"] for row in rows if (row["transport"] == "host") == host) for host in (False, True)
    )
    if not point.served:
        raise Failed(f"{point.title}: Espalier served no call of it")


def one_round(point: Point, number: int, folder: Path) -> None:
    sides = ("host", "espalier") if number % 2 == 0 else ("espalier", "host")
    results = {side: run(point, side == "espalier", folder) for side in sides}
    for side in sides:
        point.times[side].append(results[side].seconds)
    found = difference(results["host"].values, results["espalier"].values, point.title)
    if found > point.agreement:
        raise Failed(f"{point.title}: results differ by {found:.1e} with Espalier, more than rounding")
    point.difference = max(point.difference, found)


def measure(points: list[Point], options: argparse.Namespace) -> list[str]:
    """All rounds; takes away the points that failed, and gives what there is to say of them."""
    failures = []
    begin = time.monotonic()
    for number in range(-1, options.rounds):
        if number > 0 and time.monotonic() - begin > options.seconds:
            print(f"time is up: {number} rounds instead of {options.rounds}", flush=True)
            break
        for point in list(points):
            try:
                if number < 0:
                    count_calls(point, options.folder)
                else:
                    one_round(point, number, options.folder)
            except Failed as failure:
                failures.append(str(failure))
                points.remove(point)
        print(f"round {number + 1} of {options.rounds} done" if number >= 0 else "counted calls", flush=True)
    return failures


def words_of(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3600, help="start no round after that")
    parser.add_argument("--ranks", default="2,4,8")
    parser.add_argument("--programs", default=",".join(MAKERS))
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "examples", help="for programs and their output")
    parser.add_argument("--json", type=Path, help="write what came out to this file, too")
    options = parser.parse_args()
    options.folder = options.folder.resolve()
    process.die_with_jobs()
    options.folder.mkdir(parents=True, exist_ok=True)
    points = all_points(words_of(options.programs), [int(word) for word in words_of(options.ranks)], options.folder)
    described = machine.describe()  # before: the load must not be our own
    failures = measure(points, options)
    found = document.make(points, described)
    print("\n".join(["", *document.table(found), "", document.LEGEND]))
    if options.json:
        file.save(found, options.json)
    for failure in failures:
        print(f"FAILED: {failure}")
    return 1 if failures or not points else 0


if __name__ == "__main__":
    sys.exit(main())
