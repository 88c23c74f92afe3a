"""Programs that Debian packages, under Debian's Open MPI: what is not installed is left out, and says so.

Of OSMP's three applications AMG is here as what it is made of (hypre's BoomerAMG); miniAMR is in no distribution.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from functools import partial
from pathlib import Path
from typing import Optional

from espalier.bench.hosts import cores

from programs import phylogeny
from programs.point import Failed, Point, Result

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
HOST = "Open MPI (Debian)"
SETTINGS = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def start_of(ranks: int) -> list[str]:
    return ["mpirun.openmpi", "-n", str(ranks), *(["--bind-to", "core"] if ranks <= len(cores()) else ["--oversubscribe"])]


def is_missing(name: str, commands: list[str], files: list[str], packages: str) -> bool:
    lacking = [command for command in commands if not shutil.which(command)]
    lacking += [file for file in files if not os.path.exists(file)]
    if lacking:
        print(f"{name} is left out: {', '.join(lacking)} not found (apt-get install {packages})", flush=True)
    return bool(lacking)


def own_folder(folder: Path, name: str) -> Path:
    made = folder / name
    made.mkdir(parents=True, exist_ok=True)
    return made


# --- LAMMPS --------------------------------------------------------------------------------------------------------------


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


def lammps(ranks: list[int], folder: Path) -> list[Point]:
    if is_missing("lammps", ["lmp", "mpirun.openmpi"], [], "lammps openmpi-bin"):
        return []
    words = ["lmp", "-in", str(EXAMPLES / "lammps.in"), "-log", str(folder / "log.lammps"), "-screen", "none"]
    return [Point("LAMMPS", HOST, n, start_of(n) + words, SETTINGS, read_lammps) for n in ranks]


# --- hypre ---------------------------------------------------------------------------------------------------------------


def read_amg(output: str, folder: Path) -> Result:
    line = re.search(r"^amg: .* seconds ([\d.]+), .* right$", output, re.M)
    if not line:
        raise Failed(f"it did not say that its result is right:\n{output[-2000:]}")
    return Result(float(line[1]), [float(word) for word in (folder / "amg" / "history").read_text().split()])


def amg(ranks: list[int], folder: Path, grid: int = 40) -> list[Point]:
    if is_missing("amg", ["mpirun.openmpi", "mpicc.openmpi"], ["/usr/include/hypre/HYPRE.h"], "libhypre-dev libopenmpi-dev"):
        return []
    program = own_folder(folder, "amg") / "amg"
    words = ["mpicc.openmpi", "-std=gnu11", "-O2", "-I/usr/include/hypre", str(EXAMPLES / "amg.c"), "-o", str(program)]
    subprocess.run([*words, "-lHYPRE", "-lm"], check=True)
    words = [str(program), "--grid", str(grid), "--history", str(folder / "amg" / "history")]
    # The residual is that of the last iteration, 1e-9 of the first: rounding shows there a million times more.
    return [Point(f"amg.c (hypre), grid {grid}", HOST, n, start_of(n) + words, SETTINGS, read_amg, 1e-3) for n in ranks]


# --- HPC Challenge -------------------------------------------------------------------------------------------------------

HPCC_INPUT = Path("/usr/share/doc/hpcc/examples/_hpccinf.txt")
HPCC_TIMES = ["HPL_time", "MPIRandomAccess_LCG_time", "MPIRandomAccess_time", *(f"MPIFFT_time{i}" for i in range(7))]
HPCC_VALUES = ["HPL_Anorm1", "HPL_AnormI", "HPL_Xnorm1", "HPL_XnormI", "HPL_BnormI", "PTRANS_residual", "MPIFFT_N",
               "MPIRandomAccess_LCG_Errors", "MPIRandomAccess_Errors", "Success"]


def hpcc_input(ranks: int, size: int) -> str:
    """Debian's example with another size and one row of processes."""
    lines = HPCC_INPUT.read_text().splitlines()
    for number, value in ((5, size), (10, 1), (11, ranks)):
        lines[number] = f"{value:<12} {lines[number].split(None, 1)[1]}"
    return "\n".join(lines) + "\n"


def read_hpcc(inside: Path, output: str, folder: Path) -> Result:
    """The file is taken away: the next run would write behind it."""
    file = inside / "hpccoutf.txt"
    text = file.read_text() if file.exists() else ""
    file.unlink(missing_ok=True)
    summary = dict(re.findall(r"^(\w+)=(\S+)$", text, re.M))
    if summary.get("Success") != "1" or "FAILED" in text:
        raise Failed(f"it did not pass its own checks:\n{(text or output)[-2000:]}")
    return Result(sum(float(summary[name]) for name in HPCC_TIMES), [float(summary[name]) for name in HPCC_VALUES])


def hpcc(ranks: list[int], folder: Path, size: int = 640) -> list[Point]:
    if is_missing("hpcc", ["hpcc", "mpirun.openmpi"], [str(HPCC_INPUT)], "hpcc openmpi-bin"):
        return []
    found = []
    for n in ranks:
        inside = own_folder(folder, f"hpcc-{n}")  # it reads and writes where it runs
        (inside / "hpccinf.txt").write_text(hpcc_input(n, size))
        (inside / "hpccoutf.txt").unlink(missing_ok=True)
        command = [*start_of(n), "--wdir", str(inside), "hpcc"]
        read = partial(read_hpcc, inside)
        found.append(Point(f"HPC Challenge, N {size}", HOST, n, command, SETTINGS, read))
    return found


# --- ExaML ---------------------------------------------------------------------------------------------------------------


def examl_program() -> Optional[str]:
    """Debian's `examl` is a script that starts a launcher itself: the program behind it, for this processor."""
    flags = Path("/proc/cpuinfo").read_text()
    known = [name for name in ("avx2", "avx", "sse3") if name in flags and os.path.exists(f"/usr/lib/examl/bin/examl-{name}")]
    return f"/usr/lib/examl/bin/examl-{known[0]}" if known else None


def clear_examl(inside: Path) -> None:
    """It does not begin where a run has left something."""
    for old in inside.glob("ExaML_*"):
        old.unlink()


def read_examl(output: str, folder: Path) -> Result:
    clear_examl(folder / "examl")
    seconds = re.search(r"^Overall Time for 1 Inference ([\d.]+)", output, re.M)
    likelihood = re.search(r"^Likelihood\s*: (-[\d.]+)", output, re.M)
    if not seconds or not likelihood:
        raise Failed(f"it did not finish its inference:\n{output[-2000:]}")
    return Result(float(seconds[1]), [float(likelihood[1])])


def examl(ranks: list[int], folder: Path, taxa: int = 8, sites: int = 1500) -> list[Point]:
    program = examl_program()
    if is_missing("examl", ["parse-examl", "mpirun.openmpi"], [program or "/usr/lib/examl/bin/examl-sse3"], "examl openmpi-bin"):
        return []
    inside = own_folder(folder, "examl")
    phylogeny.write(inside, taxa, sites)
    clear_examl(inside)
    words = ["parse-examl", "-s", "alignment.phy", "-m", "DNA", "-n", "alignment"]
    subprocess.run(words, cwd=inside, check=True, capture_output=True)
    words = [str(program), "-s", str(inside / "alignment.binary"), "-t", str(inside / "start.nwk"), "-m", "GAMMA", "-n", "run",
             "-w", f"{inside}/"]
    return [Point(f"ExaML, {taxa} taxa", HOST, n, start_of(n) + words, SETTINGS, read_examl) for n in ranks]
