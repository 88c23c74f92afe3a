"""examples/poisson.py, finite elements by Debian's FEniCSx (dolfinx), under Debian's Open MPI."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

from programs.debian import EXAMPLES, HOST, SETTINGS, is_missing, own_folder, start_of
from programs.point import Failed, Point, Result

PYTHON = "/usr/bin/python3"  # the one that Debian's packages are for
# Names in its Python changed since version 0.5, which Debian 12 has.
PACKAGE = "/usr/lib/petsc/lib/python3/dist-packages/fenics_dolfinx-0.5.2.egg-info"


def read(cells: int, output: str, folder: Path) -> Result:
    """The norm of the solution, and the residuals of about the first half of the iterations. Rounding grows from one to the
    next; and dolfinx orders what it sends by when messages come, so that the last differ by 1e-3 from run to run as it is."""
    line = re.search(r"^poisson: .* seconds ([\d.]+), .* right$", output, re.M)
    if not line:
        raise Failed(f"it did not say that its result is right:\n{output[-2000:]}")
    *residuals, norm = (float(word) for word in (folder / "fenicsx" / "history").read_text().split())
    return Result(float(line[1]), [*residuals[: 4 * cells], norm])


def fenicsx(ranks: list[int], folder: Path) -> list[Point]:
    if is_missing("fenicsx", ["mpirun.openmpi", PYTHON], [PACKAGE], "python3-dolfinx-real openmpi-bin, of Debian 12"):
        return []
    inside = own_folder(folder, "fenicsx")
    # What dolfinx compiles for its forms stays in this folder; ranks with threads of their own would share the cores.
    settings = {**SETTINGS, "XDG_CACHE_HOME": str(inside), "OMP_NUM_THREADS": "1"}
    found = []
    for solver, cells in (("PETSc", 64), ("dolfinx", 16)):
        words = [PYTHON, str(EXAMPLES / "poisson.py"), "--solver", solver.lower(), "--cells", str(cells)]
        words += ["--history", str(inside / "history")]
        title = f"FEniCSx, {cells} x {cells}, vectors of {solver}"
        found += [Point(title, HOST, n, start_of(n) + words, settings, partial(read, cells)) for n in ranks]
    return found
