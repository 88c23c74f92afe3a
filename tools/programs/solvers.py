"""The conjugate-gradient solvers of examples/, under the hosts of .venv."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from espalier.bench.hosts import HOSTS, environment

from programs.point import Failed, Point, Result, start_of

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


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


def of_c(ranks: list[int], folder: Path) -> list[Point]:
    return [*cg_points("cg.c, grid 64", list(HOSTS), ["--grid", "64", "--solves", "10"], ranks, folder),
            *cg_points("cg.c, grid 256", list(HOSTS), ["--grid", "256"], ranks, folder)]


def of_python(ranks: list[int], folder: Path) -> list[Point]:
    return cg_points("cg.py, grid 64", ["mpich", "openmpi"], ["--grid", "64", "--solves", "5"], ranks, folder)
