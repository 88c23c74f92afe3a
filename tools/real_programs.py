"""Runs real programs with and without Espalier, in turns, and prints a table (`make example`).

    .venv/command/bin/python tools/real_programs.py [--rounds 5] [--ranks 2,4,8] [--programs cg.c,cg.py,lammps]

cg.c and cg.py are the solvers in examples/; lammps is Debian's package of that name, as it is. Each is started as a user
would: `mpirun ...` and `espalier run -- mpirun ...`. The time is the program's own, without its start. The residuals of
every iteration (for LAMMPS: what it prints of its first part) must agree between the two.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable, Optional

from espalier.bench import process
from espalier.bench.hosts import HOSTS, cores, environment, launcher
from espalier.bench.results.stats import Spread

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "examples"
# Sums in another order differ by rounding, and the iteration carries that on; a wrong sum is far beyond this.
AGREEMENT = 1e-6
LIMIT = 120  # seconds for one job


@dataclass
class Result:
    seconds: float
    values: list[float]  # what must agree: residuals, energies


@dataclass
class Point:
    """One program under one host with a number of ranks."""

    program: str
    host: str
    ranks: int
    command: list[str]
    settings: dict[str, str]
    read: Callable[[str, Path], Result]
    times: dict[str, list[float]] = field(default_factory=lambda: {"host": [], "espalier": []})
    difference: float = 0.0  # the largest relative one
    served: int = 0  # collective calls that went through shared memory, in the run that counts them

    @property
    def title(self) -> str:
        return f"{self.program}, {self.host}, {self.ranks} ranks"


class Failed(Exception):
    pass


# --- the programs ------------------------------------------------------------------------------------------------------


def compiled(host: str, folder: Path) -> Path:
    """examples/cg.c for one host, by the host's own header and library."""
    target, place = folder / f"cg-{host}", HOSTS[host].folder
    words = ["cc", "-O2", "-std=gnu11", f"-I{place}/include", str(EXAMPLES / "cg.c"), "-o", str(target)]
    words += [f"-L{place}/lib", f"-Wl,-rpath,{place}/lib", "-lmpi", "-lm"]
    subprocess.run(words, check=True)
    return target


def read_cg(output: str, folder: Path) -> Result:
    line = re.search(r"^cg: .* seconds ([\d.]+), .* right$", output, re.M)
    if not line:
        raise Failed(f"it did not say that its result is right:\n{output[-2000:]}")
    return Result(float(line[1]), [float(word) for word in (folder / "history").read_text().split()])


def read_lammps(output: str, folder: Path) -> Result:
    """Both parts' loop times together; the energies and pressures of the first part. The minimiser of the second
    carries a difference in the last digit on to the third: Open MPI's own allreduce algorithms differ as much there."""
    log = (folder / "log.lammps").read_text()
    times = re.findall(r"^Loop time of (\S+) on", log, re.M)
    if len(times) != 2:
        raise Failed(f"{len(times)} loop times instead of 2:\n{output[-2000:]}")
    first = log[: log.index("Loop time of")]
    rows = re.findall(r"^\s+\d+((?:\s+-?[\d.]+(?:e[+-]?\d+)?){5})\s*$", first, re.M)
    return Result(sum(map(float, times)), [float(word) for row in rows for word in row.split()])


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


def cg_points(name: str, hosts: list[str], arguments: list[str], ranks: list[int], folder: Path) -> list[Point]:
    found = []
    for host in hosts:
        if name.startswith("cg.c"):
            program = [str(compiled(host, folder))]
        else:
            program = [str(HOSTS[host].folder / "bin" / "python"), str(EXAMPLES / "cg.py")]
        for n in ranks:
            command = start_of(host, n) + program + arguments + ["--history", str(folder / "history")]
            found.append(Point(name, HOSTS[host].title, n, command, environment(HOSTS[host], n), read_cg))
    return found


def lammps_points(ranks: list[int], folder: Path) -> list[Point]:
    missing = [name for name in ("lmp", "mpirun.openmpi") if not shutil.which(name)]
    if missing:
        print(f"lammps is left out: {', '.join(missing)} not found (apt-get install lammps openmpi-bin)", flush=True)
        return []
    found = []
    for n in ranks:
        start = ["mpirun.openmpi", "-n", str(n), *(["--bind-to", "core"] if n <= len(cores()) else ["--oversubscribe"])]
        command = start + ["lmp", "-in", str(EXAMPLES / "lammps.in"), "-log", str(folder / "log.lammps"), "-screen", "none"]
        settings = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        found.append(Point("LAMMPS", "Open MPI (Debian)", n, command, settings, read_lammps))
    return found


def all_points(programs: list[str], ranks: list[int], folder: Path) -> list[Point]:
    makers = {
        "cg.c": lambda: cg_points("cg.c, grid 64", list(HOSTS), ["--grid", "64", "--solves", "10"], ranks, folder)
        + cg_points("cg.c, grid 256", list(HOSTS), ["--grid", "256"], ranks, folder),
        "cg.py": lambda: cg_points("cg.py, grid 64", ["mpich", "openmpi"], ["--grid", "64", "--solves", "5"], ranks, folder),
        "lammps": lambda: lammps_points(ranks, folder),
    }
    unknown = [name for name in programs if name not in makers]
    if unknown:
        raise SystemExit(f"no such program: {', '.join(unknown)}; there are {', '.join(makers)}")
    return [point for name in programs for point in makers[name]()]


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


def count_served(point: Point, folder: Path) -> int:
    """An untimed run that says how many collective calls Espalier served: without any there is nothing to compare."""
    statistics = folder / "statistics.json"
    statistics.unlink(missing_ok=True)
    run(point, True, folder, statistics)
    if not statistics.exists():
        raise Failed(f"{point.title}: Espalier was not in the program (no statistics were written)")
    rows = json.loads(statistics.read_text())["rows"]
    served = sum(row["calls"] for row in rows if row["transport"] == "shared memory")
    if not served:
        raise Failed(f"{point.title}: Espalier served no call of it")
    return served


def difference(a: list[float], b: list[float], title: str) -> float:
    if len(a) != len(b) or not a:
        raise Failed(f"{title}: {len(a)} values without Espalier, {len(b)} with it")
    return max(abs(x - y) / max(abs(x), abs(y), 1e-300) for x, y in zip(a, b))


def one_round(point: Point, number: int, folder: Path) -> None:
    sides = ("host", "espalier") if number % 2 == 0 else ("espalier", "host")
    results = {side: run(point, side == "espalier", folder) for side in sides}
    for side in sides:
        point.times[side].append(results[side].seconds)
    found = difference(results["host"].values, results["espalier"].values, point.title)
    if found > AGREEMENT:
        raise Failed(f"{point.title}: results differ by {found:.1e} with Espalier, more than rounding")
    point.difference = max(point.difference, found)


def print_table(points: list[Point]) -> None:
    titles = ["program", "host", "ranks", "host ms", "with Espalier ms", "host / Espalier", "calls served", "largest difference"]
    print(f"\n| {' | '.join(titles)} |\n|{'---|' * len(titles)}")
    for point in points:
        pairs = list(zip(point.times["host"], point.times["espalier"]))
        if not pairs:
            continue
        ratio = Spread.of([a / b for a, b in pairs])
        host, ours = (Spread.of([1e3 * time for time in point.times[side]]) for side in ("host", "espalier"))
        print(
            f"| {point.program} | {point.host} | {point.ranks} | {host.mid:.1f} ({host.low:.1f} to {host.high:.1f}) | "
            f"{ours.mid:.1f} ({ours.low:.1f} to {ours.high:.1f}) | "
            f"**{ratio.mid:.2f}** ({ratio.low:.2f} to {ratio.high:.2f}) | {point.served} | {point.difference:.0e} |"
        )
    print("\nMedians over the rounds, quartiles in brackets; the ratio is taken within a round.")


def words_of(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3600, help="start no round after that")
    parser.add_argument("--ranks", default="2,4,8")
    parser.add_argument("--programs", default="cg.c,cg.py,lammps")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "examples", help="for programs and their output")
    options = parser.parse_args()
    process.die_with_jobs()
    options.folder.mkdir(parents=True, exist_ok=True)
    failures, points = [], all_points(words_of(options.programs), [int(word) for word in words_of(options.ranks)], options.folder)
    begin = time.monotonic()
    for number in range(-1, options.rounds):
        if number > 0 and time.monotonic() - begin > options.seconds:
            print(f"time is up: {number} rounds instead of {options.rounds}", flush=True)
            break
        for point in list(points):
            try:
                if number < 0:
                    point.served = count_served(point, options.folder)
                else:
                    one_round(point, number, options.folder)
            except Failed as failure:
                failures.append(str(failure))
                points.remove(point)
        print(f"round {number + 1} of {options.rounds} done" if number >= 0 else "counted calls", flush=True)
    print_table(points)
    for failure in failures:
        print(f"FAILED: {failure}")
    return 1 if failures or not points else 0


if __name__ == "__main__":
    sys.exit(main())
