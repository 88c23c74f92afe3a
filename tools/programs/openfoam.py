"""OpenFOAM's first tutorial, the flow in a box whose lid moves, on a finer mesh: Debian's packages.

Its solvers of linear systems make an allreduce of one number after the other.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from functools import partial
from pathlib import Path

from programs.debian import HOST, SETTINGS, is_missing, own_folder, start_of
from programs.point import Failed, Point, Result

ETC = Path("/usr/share/openfoam")
TUTORIAL = Path("/usr/share/doc/openfoam-examples/examples/incompressible/icoFoam/cavity/cavity")
# Where its programs find their settings. Debian's commands set it for shells that have read its `bashrc` alone.
PLACE = {"WM_PROJECT_DIR": str(ETC), "WM_PROJECT": "OpenFOAM"}
STEP = 0.001  # seconds of the flow: small enough for cells of a 60th of the box
DECOMPOSITION = """FoamFile {{ version 2.0; format ascii; class dictionary; object decomposeParDict; }}
numberOfSubdomains {ranks};
method simple;
simpleCoeffs {{ n ({ranks} 1 1); delta 0.001; }}
"""


def change(file: Path, **values: object) -> None:
    """Another value for a key of a dictionary of OpenFOAM."""
    text = file.read_text()
    for key, value in values.items():
        text, found = re.subn(rf"^{key}\b.*;$", f"{key} {value};", text, flags=re.M)
        if found != 1:
            raise Failed(f"{file} has {found} lines for {key}")
    file.write_text(text)


def prepare(case: Path, ranks: int, cells: int, steps: int) -> None:
    """The tutorial's case with a mesh and a time of its own, cut in strips for the ranks."""
    shutil.rmtree(case, ignore_errors=True)
    shutil.copytree(TUTORIAL, case)
    mesh = case / "system" / "blockMeshDict"
    text = mesh.read_text()
    if text.count("(20 20 1)") != 1:
        raise Failed(f"{mesh} does not name 20 x 20 cells once")
    mesh.write_text(text.replace("(20 20 1)", f"({cells} {cells} 1)"))
    control = case / "system" / "controlDict"
    change(control, deltaT=STEP, endTime=STEP * steps, writeInterval=steps)
    with open(control, "a") as file:  # the clock that it prints has whole seconds
        file.write("profiling { active true; cpuInfo false; memInfo false; sysInfo false; }\n")
    (case / "system" / "decomposeParDict").write_text(DECOMPOSITION.format(ranks=ranks))
    for program in ("blockMesh", "decomposePar"):
        subprocess.run([program, "-case", str(case)], check=True, capture_output=True, env={**os.environ, **PLACE})


def read(case: Path, output: str, folder: Path) -> Result:
    """The seconds of its main function on rank 0, and the Courant numbers of all steps.

    What is written is taken away, so that a run that ends early is not read as the one before.
    """
    written = sorted(case.glob("processor0/*/uniform/profiling"))
    text = written[-1].read_text() if written else ""
    for old in written:
        old.unlink()
    seconds = re.search(r"application::main.*?totalTime\s+([\d.]+);", text, re.S)
    courant = re.findall(r"^Courant Number mean: (\S+) max: (\S+)$", output, re.M)
    if not seconds or not courant:
        raise Failed(f"it did not come to the end of its steps:\n{output[-2000:]}")
    return Result(float(seconds[1]), [float(number) for step in courant[1:] for number in step])


def openfoam(ranks: list[int], folder: Path, cells: int = 60, steps: int = 100) -> list[Point]:
    commands = ["icoFoam", "blockMesh", "decomposePar", "mpirun.openmpi"]
    if is_missing("openfoam", commands, [str(TUTORIAL)], "openfoam openfoam-examples openmpi-bin"):
        return []
    found = []
    for n in ranks:
        case = own_folder(folder, "openfoam") / f"cavity-{n}"
        prepare(case, n, cells, steps)
        command = [*start_of(n), "icoFoam", "-parallel", "-case", str(case)]
        # The Courant numbers are printed with six digits, behind sums that are rounded in another order.
        title, settings = f"OpenFOAM cavity, {cells} x {cells}", {**SETTINGS, **PLACE}
        found.append(Point(title, HOST, n, command, settings, partial(read, case), 1e-4))
    return found
