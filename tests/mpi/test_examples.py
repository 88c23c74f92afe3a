"""The example programs at tiny sizes: right by their own check, with the host's residuals, and served by Espalier."""

import json
import re
import shutil
import subprocess
import sys

import hosts
import pytest
import windows

EXAMPLES = hosts.REPOSITORY / "examples"
STRICT = {"ESPALIER_FALLBACK": "error"}


def compiled(host):
    """examples/cg.c with the host's flags; a program of its own, since the tests' sources lie elsewhere."""
    host.folder.mkdir(parents=True, exist_ok=True)
    target, source = host.folder / "cg", EXAMPLES / "cg.c"
    if not hosts._newer(target, [source]):
        warnings = ["-Wall", "-Wextra", "-Werror"]
        hosts._compile(["gcc", "-std=gnu11", "-O2", *warnings, *host.flags, str(source), *host.libraries, "-lm"], target)
    return target


def command_of(host, language):
    return [compiled(host)] if language == "c" else [host.python, EXAMPLES / "cg.py"]


def solved(run, history):
    """The residual of every iteration, of a run that found its result right."""
    assert run.status == 0, str(run)
    line = re.search(r"^cg: ranks \d+, grid \d+, iterations (\d+), seconds \S+, residual \S+, error \S+, right$", run.out, re.M)
    assert line, str(run)
    residuals = [float(word) for word in history.read_text().split()]
    assert len(residuals) == int(line[1]) > 0
    return residuals


@pytest.mark.parametrize("language", ["c", "python"])
def test_conjugate_gradients(launch, host, language, statistics, tmp_path):
    words = [*command_of(host, language), "--grid", 12]
    with_espalier = launch(host, 2, *words, "--history", tmp_path / "with", env={**STRICT, **statistics.env})
    without = launch(host, 2, *words, "--history", tmp_path / "without", espalier=False)
    # Two ranks: there is one sum of two numbers, so not even rounding may differ.
    assert solved(with_espalier, tmp_path / "with") == solved(without, tmp_path / "without")
    # The reduce in cg.py is of a Python object, which mpi4py does not leave to MPI_Reduce.
    statistics.check(host, 2, ("allreduce", "barrier", "reduce") if language == "c" else ("allreduce", "barrier"))


def test_more_ranks_give_the_same_solution(launch, host, tmp_path):
    """Sums of three and of two parts differ by rounding alone, which the iteration carries on."""
    found = {}
    for ranks in (2, 3):
        history = tmp_path / str(ranks)
        run = launch(host, ranks, compiled(host), "--grid", 12, "--solves", 2, "--history", history, env=STRICT)
        found[ranks] = solved(run, history)
    assert found[3] == pytest.approx(found[2], rel=1e-6)


def test_a_wrong_command_line_is_refused(launch):
    host = hosts.HOSTS["mpich"]
    run = launch(host, 2, compiled(host), "--grid", 1, env=STRICT)
    assert run.status != 0 and "fewer rows than ranks" in run.err, str(run)


@pytest.mark.parametrize("cut", [["--pencils"], []], ids=["pencils", "slabs"])
def test_fourier_transform(launch, host, cut, statistics, tmp_path):
    """mpi4py-fft's redistributions of uneven blocks are served, and change no bit."""
    place = sorted((hosts.VENVS / "fourier").glob("lib/python*/site-packages/mpi4py_fft"))
    if not place:
        pytest.skip("mpi4py-fft is not installed (tools/setup/setup fourier)")
    ranks = 4 if cut else 3
    words = [host.python, EXAMPLES / "fourier.py", "--grid", 10, "--times", 2, *cut]
    runs = {}
    for side, espalier in (("with", True), ("without", False)):
        settings = {"PYTHONPATH": str(place[0].parent), **({**STRICT, **statistics.env} if espalier else {})}
        run = launch(host, ranks, *words, "--history", tmp_path / side, env=settings, espalier=espalier)
        line = re.search(rf"^fourier: ranks {ranks}, grid 10, \w+, seconds .*, right$", run.out, re.M)
        assert run.status == 0 and line, str(run)
        runs[side] = (tmp_path / side).read_text().split()
    assert runs["with"] == runs["without"] and len(runs["with"]) == 6 * ranks
    statistics.check(host, ranks, ("alltoallw", "allreduce", "allgather", "barrier"))


@pytest.mark.needs_espalier
def test_narrow_floats(launch, host):
    """numpy arrays through the C API of the preloaded library. (bfloat16 where ml_dtypes is installed.)"""
    run = launch(host, 3, host.python, EXAMPLES / "narrow_floats.py")
    found = re.findall(r"^narrow_floats: (\w+), ranks 3: right$", run.out, re.M)
    assert run.status == 0 and {"float32", "float16"} <= set(found), str(run)


@pytest.mark.needs_espalier
@pytest.mark.parametrize("nodes, carried", [("1", "memory"), ("2+1", "message")])
def test_halo_exchange(launch, host, nodes, carried):
    """Windows and MPI_Sendrecv give the same bits, on one node and on two."""
    program = windows.with_library(host, "halo_exchange", EXAMPLES)
    run = launch(host, 3, program, "--columns", 100, "--steps", 200, env={"ESPALIER_NODES": nodes})
    line = re.search(r"^halo_exchange: ranks 3, nodes (\d) \((\w+)\), steps 200, window \S+ us a step, .*, right$", run.out, re.M)
    assert run.status == 0 and line, str(run)
    assert (line[1], line[2]) == ("1" if nodes == "1" else "2", carried)


@pytest.mark.needs_espalier
@pytest.mark.full
def test_real_programs_script(tmp_path):
    """The script that compares them: a round of the C program gives a table, and its failures show."""
    words = [sys.executable, hosts.REPOSITORY / "tools" / "real_programs.py", "--rounds", 1, "--ranks", 2, "--folder", tmp_path]
    written = tmp_path / "found.json"
    done = subprocess.run([*map(str, words), "--programs", "cg.py", "--json", str(written)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = re.findall(r"^\| cg\.py, grid 64 \| (MPICH|Open MPI) \| 2 \| .* \| (\d+) \| 0 \| 0e\+00 \|$", done.stdout, re.M)
    assert len(rows) == 2 and all(int(served) > 0 for _, served in rows), done.stdout
    points = json.loads(written.read_text())["points"]
    assert [(point["host"], str(point["served"]), point["left"], point["rounds"]) for point in points] == [(*row, 0, 1) for row in rows]
    done = subprocess.run([*map(str, words), "--programs", "chess"], capture_output=True, text=True, timeout=120)
    assert done.returncode != 0 and "no such program: chess" in done.stderr


@pytest.mark.needs_espalier
@pytest.mark.full
@pytest.mark.parametrize("name, title", [("amg", "amg.c (hypre), grid 40"), ("examl", "ExaML, 8 taxa"),
                                         ("openfoam", "OpenFOAM cavity, 60 x 60"),
                                         ("fenicsx", "FEniCSx, 64 x 64, vectors of PETSc"),
                                         ("hpcc", "HPC Challenge, N 640")])
def test_packaged_programs(tmp_path, name, title):
    """Where they are installed: served by Espalier, and what they compute is what they compute without it."""
    words = [sys.executable, hosts.REPOSITORY / "tools" / "real_programs.py", "--rounds", 1, "--ranks", 2, "--folder", tmp_path]
    done = subprocess.run([*map(str, words), "--programs", name], capture_output=True, text=True, timeout=600)
    if line := re.search(rf"^{name} is left out: .*$", done.stdout, re.M):
        pytest.skip(line[0])
    assert done.returncode == 0, done.stdout + done.stderr
    row = re.search(rf"^\| {re.escape(title)} \| Open MPI \(Debian\) \| 2 \| .* \| (\d+) \| (\d+) \| \S+ \|$", done.stdout, re.M)
    assert row and int(row[1]) > 0, done.stdout
    assert name != "fenicsx" or row[2] == "0", done.stdout  # its collectives of neighbours, too


@pytest.mark.needs_espalier
def test_lammps(launch, statistics, tmp_path):
    """Debian's package, if it is here: the energies of every printed step are those without Espalier, to rounding."""
    if not shutil.which("lmp"):
        pytest.skip("LAMMPS is not installed (apt-get install lammps)")
    host = hosts.HOSTS["debian-openmpi"]
    energies = {}
    for side, espalier in (("with", True), ("without", False)):
        log = tmp_path / side
        sizes = ["-var", "cells", 4, "-var", "steps", 100, "-var", "relax", 20]
        words = [shutil.which("lmp"), "-in", EXAMPLES / "lammps.in", *sizes, "-log", log, "-screen", "none"]
        run = launch(host, 2, *words, env=statistics.env if espalier else {}, espalier=espalier)
        assert run.status == 0, str(run)
        energies[side] = [float(word) for word in re.findall(r"^\s+\d+\s+\S+\s+(-\d\S+)", log.read_text(), re.M)]
    assert len(energies["with"]) >= 4 and energies["with"] == pytest.approx(energies["without"], rel=1e-6)
    statistics.check(host, 2, ("allreduce",))
