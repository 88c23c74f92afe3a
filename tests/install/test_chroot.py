"""A fresh Debian, an ordinary user, no compiler: pip install, a program of the distribution's MPI, uninstall
(`make test-chroot`; needs root, debootstrap and the network)."""

import shutil
import subprocess
import time

import pytest
from chroot import Machine
from conftest import BUILD, PYTHON, ROOT, run

pytestmark = [pytest.mark.full, pytest.mark.alone]
INSTALL = "python3 -m venv env && pip install --quiet --no-index --find-links wheels espalier-*.whl"
LAUNCHERS = {"openmpi": "mpirun", "mpich": "mpirun.mpich"}  # as the distribution names them where both are installed


@pytest.fixture(scope="module")
def wheel():
    done = subprocess.run([ROOT / "packaging/wheel/make"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return next((BUILD / "wheel").glob("*.whl"))


@pytest.fixture(scope="module", params=["bookworm", "trixie"])
def machine(request, wheel, tmp_path_factory):
    """With the wheel, the wheels that it needs, and a program of each MPI that was compiled elsewhere."""
    folder = tmp_path_factory.mktemp(request.param)
    one = Machine(request.param, folder)
    one.give(wheel)
    version = one.types("python3 -c 'import sys; print(\"%d.%d\" % sys.version_info[:2])'").stdout.strip()
    run(PYTHON, "-m", "pip", "download", "--quiet", "--only-binary=:all:", f"--python-version={version}", "--dest", one.home / "wheels", wheel)
    run("chmod", "-R", "a+rX", one.home / "wheels")
    for mpi in LAUNCHERS:
        if shutil.which(f"mpicc.{mpi}"):
            run(f"mpicc.{mpi}", ROOT / "examples/cg.c", "-O2", "-o", one.home / f"{mpi}.out", "-lm")
    yield one
    shutil.rmtree(folder)


def timed(machine, line):
    start = time.monotonic()
    done = machine.types(line)
    return done, time.monotonic() - start


@pytest.fixture(scope="module")
def installed(machine):
    """The machine, with the files that it had before, and how long it took."""
    assert machine.types("! command -v cc gcc g++ c++ clang tcc", check=False).returncode == 0, "there is a compiler"
    before = machine.files()
    _, took = timed(machine, INSTALL)
    return machine, before, took


@pytest.mark.parametrize("mpi", LAUNCHERS)
def test_a_program_of_the_distributions_mpi(installed, mpi):
    machine, _, before = installed
    if not (machine.home / f"{mpi}.out").exists():
        pytest.skip(f"there is no mpicc.{mpi} here to build the program with")
    done, took = timed(machine, f"espalier run --stats -- {LAUNCHERS[mpi]} -n 2 ./{mpi}.out --grid 32 && ls -A /dev/shm")
    print(f"{LAUNCHERS[mpi]}: {took:.1f} s, pip install before: {before:.1f} s")
    assert "right" in done.stdout and "allreduce" in done.stderr and "shared memory" in done.stderr
    assert [line for line in done.stdout.splitlines() if "espalier" in line] == []  # nothing in /dev/shm


def test_the_machine_is_found_with_and_without_hwloc(installed):
    machine, *_ = installed
    assert "this machine, by hwloc" in machine.types("espalier topo").stdout
    without = machine.types("espalier topo", hidden="/usr/lib/*/libhwloc.so.15.*").stdout
    assert "this machine, by /sys" in without and "core" in without


def test_the_command_says_what_it_is(installed):
    machine, *_ = installed
    assert machine.types("espalier --version").stdout.startswith("espalier 0.")
    assert "algorithm" in machine.types("espalier explain allreduce 64KiB -n 8").stdout
    assert "there is no program './b.out'" in machine.types("espalier run -- mpirun -n 2 ./b.out", check=False).stderr


def test_uninstall_leaves_nothing(installed):
    """The last: all that was installed goes again, and the environment with it."""
    machine, before, _ = installed
    machine.types("pip uninstall --quiet -y espalier")
    left = {path for path in machine.files() - before if "espalier" in path}
    assert left == set()
    machine.types("pip freeze | xargs pip uninstall --quiet -y && rm -r env")
    assert machine.files() - before == set()
