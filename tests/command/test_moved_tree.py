"""bin/espalier in a tree that was moved or copied: its own package and its own libraries."""

import os
import re
import shutil
import subprocess

import pytest
from conftest import ROOT


@pytest.fixture(params=["copy", "with space"])
def tree(request, tmp_path):
    """The environment in it was made for another tree, and names that one."""
    copy = tmp_path / request.param
    shutil.copytree(ROOT / "bin", copy / "bin")
    shutil.copytree(ROOT / "python", copy / "python", ignore=shutil.ignore_patterns("__pycache__"))
    (copy / ".venv").symlink_to(ROOT / ".venv")
    (copy / "python/espalier/__init__.py").write_text('__version__ = "of the copy"\n')
    return copy


def espalier(tree, *words, **more):
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("ESPALIER", "PYTHON"))}
    return subprocess.run(
        [tree / "bin/espalier", *words], capture_output=True, text=True, env={**environment, **more}, cwd=more.get("PWD")
    )


def test_its_own_package(tree):
    assert espalier(tree, "--version").stdout.startswith("espalier of the copy ")


def test_its_own_libraries(tree):
    result = espalier(tree, "run", "--mpi", "mpich", "--", "true")
    assert f"{tree}/build/lib/libespalier-mpich.so is not there" in result.stderr


def test_through_a_link(tree, tmp_path):
    (tmp_path / "espalier").symlink_to(tree / "bin/espalier")
    run = subprocess.run([tmp_path / "espalier", "--version"], capture_output=True, text=True)
    assert run.stdout.startswith("espalier of the copy ")


def test_no_other_package_of_that_name_is_taken(tree, tmp_path):
    """Neither a folder where the user is nor PYTHONPATH, which still reaches the program."""
    (tmp_path / "here/espalier").mkdir(parents=True)
    (tmp_path / "here/espalier/__init__.py").write_text("raise SystemExit('the wrong package')\n")
    here = str(tmp_path / "here")
    assert espalier(tree, "--version", PWD=here, PYTHONPATH=here).stdout.startswith("espalier of the copy ")
    result = espalier(tree, "run", "-q", "--", "env", PWD=here, PYTHONPATH=here)
    assert f"PYTHONPATH={here}\n" in result.stdout


def test_arguments_arrive_as_they_are(tree):
    result = espalier(tree, "run", "-q", "--", "printf", "%s|", "a b", "", "$x", "-c")
    assert result.stdout == "a b||$x|-c|"


def test_without_its_package_it_says_what_to_do(tree):
    shutil.rmtree(tree / "python")
    result = espalier(tree, "--version")
    assert result.returncode == 1 and f"run `make build` in {tree}" in result.stderr


@pytest.mark.parametrize("program", ["example_allreduce", "test_capi"])
def test_built_programs_load_the_libraries_beside_them(program):
    path = ROOT / "build/bin" / program
    if not path.exists():
        pytest.skip(f"{path} is not built")
    dynamic = subprocess.run(["readelf", "-dW", path], capture_output=True, text=True, check=True).stdout
    assert re.findall(r"\((?:RUNPATH|RPATH)\).*\[(.*)\]", dynamic) == ["$ORIGIN/../lib"]
