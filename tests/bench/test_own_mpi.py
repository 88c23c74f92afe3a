"""`espalier bench --mpirun PATH`: an MPI of the user's is found out from its launcher."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from espalier.bench import build, hosts, own_mpi
from espalier.problem import Problem

ROOT = Path(__file__).resolve().parents[2]
SAYS = {
    "mpich": "HYDRA build details:\n    Version:                                 4.0.2\n",
    "openmpi": "mpirun (Open MPI) 5.0.3\n\nReport bugs to https://www.open-mpi.org/community/help/\n",
    "impi": "Intel(R) MPI Library for Linux* OS, Version 2021.12 Build 20240213\n",
}


def made_up(folder, says, name="mpirun", compiler="mpicc"):
    folder.mkdir(parents=True, exist_ok=True)
    for program, text in ((name, says), (compiler, "")):
        path = folder / program
        path.write_text(f"#!/bin/sh\ncat <<'END'\n{text}END\n")
        path.chmod(0o755)
    return folder / name


@pytest.mark.parametrize("kind, title, interposer", [
    ("mpich", "MPICH 4.0.2", "libespalier-mpich.so"),
    ("openmpi", "Open MPI 5.0.3", "libespalier-ompi.so"),
    ("impi", "Intel MPI 2021.12", "libespalier-mpich.so"),
])
def test_the_launcher_tells_which_mpi_it_is(tmp_path, kind, title, interposer):
    launcher = made_up(tmp_path / "bin", SAYS[kind])
    (host,) = hosts.find(str(launcher))
    assert (host.kind, host.title, host.interposer) == (kind, title, interposer)
    assert host.own_compiler == tmp_path / "bin" / "mpicc"
    assert hosts.launcher(host, 2)[:3] == [str(launcher), "-n", "2"]


def test_intels_script_does_not_pass_for_the_mpi_that_comes_first_on_path(tmp_path, monkeypatch):
    """It starts whichever mpiexec.hydra that is."""
    other, root = tmp_path / "other", tmp_path / "intel"
    made_up(other, SAYS["mpich"], name="mpiexec.hydra")
    made_up(root / "bin", SAYS["impi"], name="mpiexec.hydra")
    launcher = root / "bin" / "mpirun"
    launcher.write_text('#!/bin/sh\nexec mpiexec.hydra "$@"\n')
    launcher.chmod(0o755)
    (root / "bin" / "impi_info").touch()
    (root / "lib").mkdir()
    (root / "lib" / "libmpi.so.12").touch()
    monkeypatch.setenv("PATH", f"{other}:/bin:/usr/bin")
    assert own_mpi.host(launcher).kind == "impi"


def test_a_suffix_finds_the_compiler_of_the_same_mpi(tmp_path):
    made_up(tmp_path, "", name="mpicc", compiler="mpicc.mpich")
    launcher = made_up(tmp_path, SAYS["mpich"], name="mpirun.mpich", compiler="other")
    assert own_mpi.host(launcher).own_compiler == tmp_path / "mpicc.mpich"


def test_two_of_one_version_have_programs_of_their_own(tmp_path):
    found = [own_mpi.host(made_up(tmp_path / name, SAYS["mpich"])) for name in ("a", "b")]
    assert found[0].name == found[1].name and found[0].programs != found[1].programs


def test_named_beside_those_of_the_build(tmp_path):
    launcher = made_up(tmp_path, SAYS["openmpi"])
    assert [host.kind for host in hosts.find(f"mpich,{launcher}")] == ["mpich", "openmpi"]


@pytest.mark.parametrize("words, text", [
    (["--mpirun", "/nowhere/mpirun"], "/nowhere/mpirun is no launcher: there is no such program"),
    (["--mpirun", "cat"], "is no launcher of MPICH, Intel MPI or Open MPI"),
    (["--mpicc", "/usr/bin/cc"], "--mpicc goes with --mpirun"),
    (["--hosts", "mvapich"], "or name a launcher by its path"),
])
def test_mistakes_are_told_before_anything_runs(words, text):
    done = subprocess.run([sys.executable, "-m", "espalier", "bench", "--quick", *words], cwd=ROOT / "python",
                          capture_output=True, text=True)
    assert done.returncode == 2 and text in done.stderr


def test_no_compiler_beside_the_launcher(tmp_path):
    launcher = made_up(tmp_path, SAYS["mpich"], compiler="other")
    with pytest.raises(Problem, match="name it: --mpicc"):
        own_mpi.host(launcher)


@pytest.mark.parametrize("launcher, title", [("mpirun.mpich", "MPICH"), ("mpirun.openmpi", "Open MPI")])
def test_the_distributions_mpi_is_measured(tmp_path, launcher, title):
    """Open MPI 4.1 has no persistent collectives: the program is built without them."""
    if not shutil.which(launcher):
        pytest.skip(f"there is no {launcher}")
    kept = tmp_path / "run.json"
    words = ["bench", "--mpirun", launcher, "--quick", "--when-busy", "go", "--no-limits", "--ranks", "2", "--sizes", "8", "--rounds", "1",
             "--collectives", "allreduce", "--json", str(kept)]
    done = subprocess.run([sys.executable, "-m", "espalier", *words], cwd=ROOT / "python", capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    points = json.loads(kept.read_text())["points"]
    assert points and title in done.stdout


def test_persistent_calls_need_an_mpi_that_has_them(tmp_path):
    if not shutil.which("mpirun.openmpi"):
        pytest.skip("there is no mpirun.openmpi")
    words = ["bench", "--mpirun", "mpirun.openmpi", "--quick", "--when-busy", "go", "--no-limits", "--ranks", "2", "--sizes", "8", "--rounds", "1",
             "--collectives", "allreduce", "--persistent", "--json", str(tmp_path / "run.json")]
    done = subprocess.run([sys.executable, "-m", "espalier", *words], cwd=ROOT / "python", capture_output=True, text=True)
    assert done.returncode != 0 and "no persistent collectives" in done.stdout


def test_the_compiler_of_intel_mpi_needs_no_setting(monkeypatch, tmp_path):
    """Intel's mpicc is a script that asks I_MPI_ROOT where its header is."""
    monkeypatch.delenv("I_MPI_ROOT", raising=False)
    monkeypatch.setattr(build, "_programs", lambda: tmp_path)
    (host,) = hosts.find(str(ROOT / ".venv" / "impi" / "bin" / "mpirun"))
    source = tmp_path / "empty.c"
    source.write_text("#include <mpi.h>\nint main(void) { return MPI_SUCCESS; }\n")
    assert build.program(host, "empty", [source]).exists()
