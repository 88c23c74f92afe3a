"""What the command loads before it does anything: its start is a part of every job's."""

import os
import subprocess
import sys

import pytest
from conftest import ROOT

# Plots, tables and pages, data models.
HEAVY = {"matplotlib", "numpy", "PIL", "jinja2", "rich", "pydantic", "asyncio", "concurrent", "multiprocessing", "unittest"}
# Slow parts of Python's own library, which are rarely needed.
SLOW = {"socket", "ssl", "http", "email", "secrets", "hashlib", "tempfile", "sqlite3", "xml"}
# Of the command's own: what only other commands need.
OTHERS = ("bench", "report", "topo", "explain", "stats", "doctor", "simulate", "demo", "aggregate", "models")
PROGRAM = """
import atexit, os, sys
def tell(*_):
    with open(os.environ["TOLD"], "w") as file:
        print(*sys.modules, file=file)
atexit.register(tell)
os.execvpe = tell  # what `run` becomes
sys.argv[0] = "espalier"
from espalier.app import main
main()
"""


@pytest.fixture
def loaded(tmp_path):
    def modules(*words):
        told = tmp_path / "told"
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "python"), "TOLD": str(told)}
        done = subprocess.run([sys.executable, "-c", PROGRAM, *words], env=environment, capture_output=True, text=True)
        assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
        return set(told.read_text().split())

    return modules


@pytest.mark.parametrize("words", [("--version",), ("run", "--", "true"), ("run", "--stats", "-v", "--", "true"), ("run", "--help"), ("--help",)], ids=" ".join)
def test_nothing_heavy(loaded, words):
    modules = loaded(*words)
    assert "espalier.app" in modules and HEAVY & modules == set()


@pytest.mark.parametrize("words", [("--version",), ("run", "--", "true"), ("run", "--help")], ids=" ".join)
def test_no_other_command(loaded, words):
    modules = loaded(*words)
    assert SLOW & modules == set()
    assert not [name for name in modules if name.startswith(tuple(f"espalier.{other}" for other in OTHERS))]


def test_heavy_modules_would_be_seen(loaded):
    assert "espalier.explain.command" in loaded("explain", "--help")
