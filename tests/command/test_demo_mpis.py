"""`espalier demo --mpirun`: its programs on the MPIs of this machine."""

import json
import shutil
from pathlib import Path

import pytest
from conftest import LIB, VENVS

from espalier.demo import imb, mpi4py_program, mpis

DEBIANS = ["mpirun.mpich", "mpirun.openmpi"]


def found(launcher, folder):
    if not shutil.which(str(launcher)):
        pytest.skip(f"{launcher} is not installed")
    return mpis.of_user(str(launcher), None, folder)


@pytest.fixture
def with_statistics(monkeypatch, tmp_path):
    """Of the library that was built."""
    file = tmp_path / "run.json"
    monkeypatch.setenv("ESPALIER_STATS", str(file))
    monkeypatch.setenv("ESPALIER_LIB", str(LIB))
    return lambda: {row["transport"] for row in json.loads(file.read_text())["rows"]}


@pytest.mark.parametrize("launcher", [*DEBIANS, VENVS / "openmpi/bin/mpirun", VENVS / "impi/bin/mpiexec.hydra"])
def test_mpi4py_runs_on_it(launcher, tmp_path, with_statistics):
    mpi = found(launcher, tmp_path)
    outcome, points = mpi4py_program.run(mpi4py_program.Kind(mpi, 2, espalier=True, repetitions=3), 60)
    assert outcome.fine and points and all(point["right"] for point in points), outcome.output
    assert "shared memory" in with_statistics()


def test_mpi4py_runs_under_a_batch_systems_launcher(tmp_path, with_statistics, monkeypatch):
    """The stand-in of srun, which gives the ranks nothing of this environment."""
    monkeypatch.setenv("ESPALIER_TEST_MPIRUN_PMI", str(VENVS / "mpich/bin/mpirun"))
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    srun = Path(__file__).resolve().parent / "batch/srun"
    mpi = mpis.of_user(f"{srun} --mpi=pmi2 --export=NONE", VENVS / "mpich/bin/mpicc", tmp_path)
    outcome, points = mpi4py_program.run(mpi4py_program.Kind(mpi, 2, espalier=True, repetitions=3), 60)
    assert outcome.fine and points and all(point["right"] for point in points), outcome.output
    assert "shared memory" in with_statistics()


@pytest.mark.parametrize("launcher", ["mpirun.mpich", VENVS / "impi/bin/mpiexec.hydra"])
def test_intels_benchmark_runs_on_mpis_of_its_abi(launcher, tmp_path, with_statistics):
    mpi = found(launcher, tmp_path)
    outcome, lines = imb.run(imb.Kind(mpi, 2, espalier=True, collectives=("Allreduce",), high=16, repetitions=5), 60)
    assert outcome.fine and [line.bytes for line in lines] == [8, 16], outcome.output
    assert "shared memory" in with_statistics()


def test_what_does_not_run_on_it_is_said(tmp_path):
    mpi = found("mpirun.openmpi", tmp_path)
    assert mpi.imb is None and mpi.python and "no IMB-MPI1 runs on" in mpi.notes[0]


@pytest.mark.parametrize("words, message", [
    (["--mpirun", "/nowhere/mpirun"], "is no launcher"),
    (["--mpicc", "mpicc"], "--mpicc goes with --mpirun"),
    (["--mpirun", "{folder}/mpirun"], "mpicc beside"),
    (["--mpirun", "{folder}/mpirun", "--mpicc", "false"], "cannot build a program"),
])
def test_wrong_options(espalier, tmp_path, words, message):
    launcher = tmp_path / "mpirun"
    launcher.write_text("#!/bin/sh\necho 'mpirun (Open MPI) 5.0.0'\n")
    launcher.chmod(0o755)
    result = espalier("demo", *(word.format(folder=tmp_path) for word in words), "--output", tmp_path / "out")
    assert result.returncode == 2 and message in result.stderr and result.stdout == ""
    assert result.stderr.count("\n") == 1 and not Path(tmp_path / "out").exists()


@pytest.mark.full
@pytest.mark.alone
def test_a_whole_demo(espalier, tmp_path):
    found("mpirun.openmpi", tmp_path)
    words = ["demo", "--mpirun", "mpirun.openmpi", "--rounds", "1", "--seconds", "1", "--output", tmp_path / "out"]
    result = espalier(*words, lib=LIB, timeout=400)
    page = (tmp_path / "out/index.html").read_text()
    assert result.returncode == 0, result.stdout + result.stderr
    assert "Open MPI 4" in page and "run under Open MPI 4" in page
