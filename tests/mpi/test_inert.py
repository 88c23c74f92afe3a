"""Inert when not wanted: programs without MPI, the launcher itself, ESPALIER=off."""

import os
import re
import subprocess

import hosts
import pytest

pytestmark = [pytest.mark.needs_espalier, pytest.mark.unsanitized]


@pytest.mark.parametrize("build", ["mpich", "ompi", "abi"])
@pytest.mark.parametrize("command", [["/bin/true"], ["/bin/sh", "-c", "ls / | wc -l"], ["python3", "-c", "print(1)"]],
                         ids=["true", "shell", "python"])
def test_programs_without_mpi(build, command):
    library = hosts.INTERPOSERS / f"libespalier-{build}.so"
    assert library.exists(), f"{library} does not exist: run `make build` first (or set ESPALIER_LIB)"
    plain = subprocess.run(command, capture_output=True, text=True)
    loaded = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "LD_PRELOAD": str(library)})
    assert (loaded.returncode, loaded.stdout, loaded.stderr) == (plain.returncode, plain.stdout, plain.stderr)


@pytest.mark.parametrize("build", ["mpich", "ompi", "abi"])
def test_the_library_drags_nothing_in(build):
    """No MPI, no C++ runtime and no search path of its own in a stranger's process; bound lazily."""
    library = hosts.INTERPOSERS / f"libespalier-{build}.so"
    assert library.exists(), f"{library} does not exist: run `make build` first (or set ESPALIER_LIB)"
    dynamic = subprocess.run(["readelf", "-dW", library], capture_output=True, text=True, check=True).stdout
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic)
    assert not [name for name in needed if name.startswith(("libmpi", "libstdc++", "libopen-pal", "libhwloc"))], needed
    assert "RUNPATH" not in dynamic and "RPATH" not in dynamic and "BIND_NOW" not in dynamic
    symbols = subprocess.run(["nm", "-D", "--undefined-only", library], capture_output=True, text=True, check=True).stdout
    assert not re.findall(r"\bompi_mpi_\w+", symbols)
    shown = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    names = [line.split()[-1] for line in shown.splitlines()]
    launchers = set() if build == "ompi" else {"setsid", "execvp"}  # test_launcher_session.py
    strangers = [n for n in names if not re.match(r"(P?MPI_|p?mpi_|P?MPI|espalier_|ESPALIER_)", n) and n not in launchers]
    assert not strangers, f"symbols that could clash with the program's: {strangers[:20]}"
    assert "MPI_Get_version" not in names and "MPI_Abi_get_version" not in names


@pytest.mark.every_host
def test_off(launch, host, statistics):
    run = launch(host, 3, "checked", "--only", "in_place", env={"ESPALIER": "off", **statistics.env})
    assert run.status == 0 and " 0 failed" in run.out, str(run)
    assert not statistics.path.exists(), "statistics of a library that is off"


@pytest.mark.every_host
def test_the_launcher_is_preloaded_too(host):
    """LD_PRELOAD set around mpirun reaches the launcher, its helpers and the ranks."""
    program = hosts.program(host, "checked")
    env = {**hosts.environment(host, 2), "LD_PRELOAD": str(host.library), "ESPALIER_FALLBACK": "error"}
    command = hosts.command_for(host, 2, [program, "--only", "roots"], "", {})
    assert host.library.exists(), f"{host.library} does not exist"
    run = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120)
    assert run.returncode == 0 and " 0 failed" in run.stdout, run.stdout + run.stderr
