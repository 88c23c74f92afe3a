"""Asks a Python interpreter which MPI its mpi4py will load, without MPI_Init."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from espalier.mpi import kinds

_INTERPRETER = re.compile(r"^(python|pypy)[\d.]*t?$")

# What is mapped after the import is what the program's import will map: mpi4py's own search, its settings
# (MPI4PY_LIBMPI ...) and builds that link one MPI directly are all honoured.
_QUESTION = """
try:
    import mpi4py
    mpi4py.rc.initialize = mpi4py.rc.finalize = False
except ImportError:
    print("espalier:none")
else:
    try:
        from mpi4py import MPI
    except Exception as error:
        print("espalier:broken", " ".join(str(error).split()))
    for line in open("/proc/self/maps"):
        if "/" in line:
            print("espalier:map", line[line.index("/"):].strip())
"""

_SECONDS = 60


@dataclass(frozen=True)
class Answer:
    """`library`: the libmpi that mpi4py loads; without one, `trouble` says why."""

    library: Optional[Path]
    trouble: str = ""


def is_interpreter(program: Path) -> bool:
    return _INTERPRETER.match(program.name) is not None


def _run(interpreter: Path, environment: Mapping[str, str], folder: Optional[str]) -> str:
    run = subprocess.run(
        [str(interpreter), "-c", _QUESTION],
        env=dict(environment),
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=_SECONDS,
    )
    return run.stdout


def _mapped(output: str) -> list[Path]:
    paths = dict.fromkeys(re.findall(r"^espalier:map (.+)$", output, re.MULTILINE))
    return [Path(path) for path in paths if kinds.is_mpi(path)]


def ask(interpreter: Path, environment: Mapping[str, str], folder: Optional[str] = None) -> Answer:
    try:
        output = _run(interpreter, environment, folder)
    except subprocess.TimeoutExpired:
        return Answer(None, f"{interpreter} did not import mpi4py within {_SECONDS} s")
    except OSError as error:
        return Answer(None, f"{interpreter} cannot be started ({error.strerror})")
    mapped = _mapped(output)
    # A standard-ABI library may be a thin layer over a classic one: the program sees the thin layer.
    mapped.sort(key=lambda path: kinds.of_library(path) is not kinds.ABI)
    if mapped:
        return Answer(mapped[0])
    if "espalier:none" in output:
        return Answer(None, f"{interpreter} has no mpi4py")
    broken = re.search(r"^espalier:broken (.*)$", output, re.MULTILINE)
    return Answer(None, f"mpi4py of {interpreter} loads no MPI{': ' + broken[1] if broken else ''}")
