"""examples/fourier.py, Fourier transforms by mpi4py-fft, under the hosts of .venv: `tools/setup/setup fourier` installs it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Optional

from espalier.bench.hosts import HOSTS, environment
from espalier.install import environments

from programs.point import Failed, Point, Result, start_of

PROGRAM = Path(__file__).resolve().parents[2] / "examples" / "fourier.py"


def place_of_mpi4py_fft() -> Optional[Path]:
    """The folder for PYTHONPATH. One build is for all hosts: it has FFTW and leaves MPI to mpi4py."""
    found = sorted((environments() / "fourier").glob("lib/python*/site-packages/mpi4py_fft/fftw/fftw_xfftn.*.so"))
    return found[0].parents[2] if found else None


def read(output: str, folder: Path) -> Result:
    line = re.search(r"^fourier: .* seconds ([\d.]+), .* right$", output, re.M)
    if not line:
        raise Failed(f"it did not say that its result is right:\n{output[-2000:]}")
    return Result(float(line[1]), [float(word) for word in (folder / "history").read_text().split()])


def fourier(ranks: list[int], folder: Path, grid: int = 64) -> list[Point]:
    place = place_of_mpi4py_fft()
    if not place:
        print("fourier is left out: mpi4py-fft not found in .venv/fourier (tools/setup/setup fourier)", flush=True)
        return []
    found = []
    # On two ranks pencils are slabs.
    for cut, options, least in (("slabs", [], 2), ("pencils", ["--pencils"], 3), ("pencils moved", ["--pencils", "--moves-only"], 3)):
        for name, host in HOSTS.items():
            for n in (n for n in ranks if n >= least):
                words = [str(host.folder / "bin" / "python"), str(PROGRAM), "--grid", str(grid), *options]
                command = [*start_of(name, n), *words, "--history", str(folder / "history")]
                settings = {**environment(host, n), "PYTHONPATH": str(place)}
                # Not a bit may differ.
                found.append(Point(f"mpi4py-fft, {grid}³, {cut}", host.title, n, command, settings, read, agreement=0))
    return found
