"""A wheel, installed into an environment of its own: of the libraries that are built here (every run), and the one for old
glibc, whose tools have to be fetched (`make test-full`)."""

import json
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from conftest import BUILDS, PYTHON, ROOT, run

PI = "pi is about 3.14159265"
HEAVY = {"matplotlib", "jinja2", "rich", "numpy", "asyncio", "espalier.bench", "espalier.report", "espalier.topo"}


def site_packages(python):
    return Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").stdout.strip())


def pip(environment, *words):
    """The tests' own pip: an environment gets one of its own only in many seconds."""
    run(PYTHON, "-m", "pip", "--disable-pip-version-check", "--python", environment / "bin/python", *words)


def environment_with(wheel, folder):
    """An environment with the wheel; the packages that it needs are those of the tests' own environment."""
    run(sys.executable, "-m", "venv", "--without-pip", folder)
    (site_packages(folder / "bin/python") / "needed.pth").write_text(f"{site_packages(PYTHON)}\n")
    pip(folder, "install", "--no-index", "--no-deps", wheel)
    return folder


@pytest.fixture(scope="module")
def environment(prebuilt, tmp_path_factory):
    return environment_with(prebuilt, tmp_path_factory.mktemp("user") / "env")


def python(environment, *words, **more):
    return run(environment / "bin/python", *words, cwd=environment, **more)


def test_one_wheel_for_all_pythons(prebuilt):
    assert re.fullmatch(r"espalier-[\d.]+-py3-none-(linux|manylinux)_\w+[.]whl", prebuilt.name)


def test_what_is_in_it(prebuilt):
    names = zipfile.ZipFile(prebuilt).namelist()
    for build in BUILDS:
        assert f"espalier/lib/libespalier-{build}.so" in names
    wanted = ["lib/libespalier.so.0", "lib/libespalier-sharp.so", "include/espalier/espalier.h", "bin/espalier-aggd", "app.py",
              "lib/cmake/Espalier/EspalierConfig.cmake", "lib/pkgconfig/espalier.pc", "models/opteron.json"]  # fmt: skip
    assert [name for name in wanted if f"espalier/{name}" not in names] == []
    assert [name for name in names if name.endswith((".debug", ".pyc"))] == []
    share = f"{prebuilt.name.split('-py3')[0]}.data/data/share"
    data = ["man/man1/espalier-run.1", "bash-completion/completions/espalier", "zsh/site-functions/_espalier", "fish/vendor_completions.d/espalier.fish"]
    assert [name for name in data if f"{share}/{name}" not in names] == []


def test_it_says_where_its_parts_are(environment):
    lib = Path(python(environment, "-c", "import espalier; print(espalier.libraries())").stdout.strip())
    include = Path(python(environment, "-c", "import espalier; print(espalier.include())").stdout.strip())
    assert environment in lib.parents and (lib / "libespalier.so.0").exists() and (include / "espalier/espalier.h").exists()


def test_the_command(environment):
    assert run(environment / "bin/espalier", "--version").stdout.startswith("espalier 0.")
    assert python(environment, "-m", "espalier", "--version").stdout.startswith("espalier 0.")
    assert "algorithm" in run(environment / "bin/espalier", "explain", "allreduce", "64KiB", "-n", "8").stdout
    assert "usage: espalier-aggd" in run(environment / "bin/espalier-aggd", check=False).stderr


def test_the_command_reaches_a_program(environment):
    maps = run(environment / "bin/espalier", "run", "--mpi", "ompi", "--", "cat", "/proc/self/maps").stdout
    assert f"{environment}/lib" in maps and "/libespalier-ompi.so" in maps


def test_run_loads_little(environment):
    """What takes long to load is no part of `espalier run`."""
    program = "import sys; from espalier import app; app.build(['run']); print(*sys.modules)"
    assert not HEAVY & set(python(environment, "-c", program).stdout.split())


def test_a_project_builds_against_it(environment, examples, tmp_path):
    prefix = python(environment, "-c", "import espalier; print(espalier.prefix())").stdout.strip()
    run("cmake", "-S", examples / "consumer", "-B", tmp_path / "b", f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", tmp_path / "b")
    assert PI in run(tmp_path / "b/pi").stdout


def test_it_has_what_cmake_installs(prebuilt, build, tmp_path):
    """Of the command: two recipes say what that is."""
    run("cmake", "--install", build, "--component", "command", "--prefix", tmp_path)
    package = tmp_path / "share/espalier/python/espalier"
    there = {str(path.relative_to(package)) for path in package.rglob("*") if path.is_file() and path.suffix != ".pyc"}
    names = set(zipfile.ZipFile(prebuilt).namelist())
    assert len(there) > 100 and [name for name in there if f"espalier/{name}" not in names] == []


MEASURED = {
    "bench": ["--sizes", "8", "--collectives", "bcast", "--rounds", "1", "--seconds", "1", "--no-limits"],
    "setup": ["--setup", "--parts", "live", "--communicators", "10"],
}


@pytest.mark.skipif(shutil.which("mpicc.mpich") is None, reason="Debian's MPICH is not installed")
@pytest.mark.parametrize("what", MEASURED)
def test_it_measures_the_users_mpi(environment, tmp_path, what):
    """The mpirun on PATH, without a clone; programs are built below the cache, and the result is in the current folder."""
    (tmp_path / "bin").mkdir()
    for name in ("mpirun", "mpicc"):
        (tmp_path / "bin" / name).write_text(f'#!/bin/sh\nexec {shutil.which(f"{name}.mpich")} "$@"\n')
        (tmp_path / "bin" / name).chmod(0o755)
    here = {"PATH": f"{tmp_path}/bin:/usr/bin:/bin", "XDG_CACHE_HOME": str(tmp_path / "cache")}
    words = ["bench", "--quick", "--when-busy", "go", "--ranks", "2", *MEASURED[what]]
    done = run(environment / "bin/espalier", *words, cwd=tmp_path, **here)
    assert json.loads((tmp_path / f"espalier-{what}.json").read_text())["failures"] == [] and f"espalier-{what}.json" in done.stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bin", "cache", f"espalier-{what}.json"]


def test_mistakes_of_who_measures(environment, tmp_path):
    def said(*words):
        done = run(environment / "bin/espalier", *words, check=False, cwd=tmp_path, PATH=str(tmp_path))
        assert done.returncode == 2
        return done.stderr

    assert "there is no mpirun on PATH" in said("bench") and "there is no mpirun on PATH" in said("demo")
    (tmp_path / "mpirun.openmpi").write_text("#!/bin/sh\n")
    (tmp_path / "mpirun.openmpi").chmod(0o755)
    assert "no mpirun on PATH, but mpirun.openmpi; name the launcher of your MPI: --mpirun mpirun.openmpi" in said("bench")
    assert "MPICH by that name is a clone's; name your MPI's launcher" in said("bench", "--hosts", "mpich")
    assert "did you mean allreduce" in said("bench", "--collectives", "allredcue")  # before any MPI is looked for


def test_pip_uninstall_leaves_nothing(prebuilt, tmp_path):
    environment = environment_with(prebuilt, tmp_path / "env")
    run(environment / "bin/espalier", "--version")
    pip(environment, "uninstall", "-y", "espalier")
    assert [path for path in environment.rglob("*espalier*")] == []


@pytest.fixture(scope="module")
def manylinux():
    """Made by the command of `make wheel`."""
    done = subprocess.run([ROOT / "packaging/wheel/make"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return next((ROOT / "build/wheel").glob("*.whl")), done.stdout


@pytest.mark.full
@pytest.mark.alone
def test_the_wheel_for_old_glibc(manylinux):
    wheel, shown = manylinux
    assert "manylinux_2_28_x86_64" in wheel.name and re.search(r'consistent with\s+the following platform tag:\s+"manylinux', shown)
    assert "libstdc++" not in shown


def interpreter(version):
    """On PATH, or one of pyenv's, whose stand-ins on PATH may refuse."""
    found = shutil.which(f"python{version}")
    others = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
    return next((one for one in [found, *others] if one and not run(one, "--version", check=False).returncode), None)


@pytest.mark.full
@pytest.mark.alone
@pytest.mark.parametrize("version", ["3.9", "3.10", "3.11", "3.12", "3.13", "3.14"])
def test_it_runs_mpi_by_every_python(manylinux, version, tmp_path):
    """With the packages that pip finds for that Python."""
    found = interpreter(version)
    if found is None:
        pytest.skip(f"there is no Python {version}")
    run(found, "-m", "venv", tmp_path / "env")
    run(tmp_path / "env/bin/python", "-m", "pip", "install", "-q", manylinux[0])
    mpich = ROOT / ".venv/mpich"
    run(mpich / "bin/mpicc", ROOT / "examples/cg.c", "-O2", "-o", tmp_path / "cg", "-lm")
    done = run(tmp_path / "env/bin/espalier", "run", "--stats", "--", mpich / "bin/mpirun", "-n", "2", tmp_path / "cg", "--grid", "32")
    assert "right" in done.stdout and "allreduce" in done.stdout + done.stderr
