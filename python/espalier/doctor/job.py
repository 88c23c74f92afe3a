"""Runs a job once and reads in the loader's own log which MPI functions were bound to Espalier, and which past it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Optional

from espalier.doctor import calls as job_calls
from espalier.doctor.check import Check
from espalier.elf import file
from espalier.mpi import kinds
from espalier.run.command import prepare

_BINDING = re.compile(r"binding file (.+?) \[\d+\] to (.+?) \[\d+\]: \w+ symbol `(MPI_\w+)'")


@dataclass
class _Bound:
    """Of all processes of the job: functions by the file that calls them and the file that they lead to."""

    functions: dict[tuple[str, str], set[str]] = field(default_factory=dict)
    processes: int = 0
    builds: set[Path] = field(default_factory=set)


class _Quiet:
    """What `espalier run` would warn of becomes a line of the report."""

    def __init__(self) -> None:
        self.warnings: list[str] = []

    def detail(self, text: str) -> None:
        pass

    def warning(self, text: str) -> None:
        self.warnings.append(text)


def checks(words: list[str], apart: bool = False) -> Iterator[Check]:
    """`apart`: what the job prints goes to stderr."""
    voice = _Quiet()
    with tempfile.TemporaryDirectory(prefix="espalier-doctor-") as folder:
        logged = {"LD_DEBUG": "bindings", "LD_DEBUG_OUTPUT": f"{folder}/log"}
        statistics = Path(folder) / "statistics" / "run.json"
        statistics.parent.mkdir()
        asked = {"ESPALIER_STATS": str(statistics)}
        started, environment = prepare(words, {**os.environ, **asked}, None, voice, logged)
        for warning in voice.warnings:
            yield Check("espalier run", None, warning)
        try:
            code = subprocess.run(started, env=environment, stdout=sys.stderr if apart else None).returncode
        except OSError as error:
            yield Check("job", False, f"{started[0]} cannot be started ({error.strerror})")
            return
        bound = _read(Path(folder))
        served = list(job_calls.checks(statistics))
    yield Check("job", code == 0 or None, f"ended with {code}; {bound.processes} of its processes load an MPI")
    yield from _findings(bound)
    if bound.builds:
        yield from served


def _read(folder: Path) -> _Bound:
    bound = _Bound()
    for log in sorted(path for path in folder.iterdir() if path.is_file()):
        _read_one(log, bound)
    return bound


def _read_one(log: Path, bound: _Bound) -> None:
    seen = False
    with open(log, errors="replace") as lines:
        for line in lines:
            match = _BINDING.search(line)
            if match is None:
                continue
            caller, target, function = match.groups()
            if kinds.is_mpi(target) or _is_ours(target):
                seen = True
            if _is_ours(target):
                bound.builds.add(Path(target))
            if not _is_ours(caller) and not Path(caller).name.startswith("libmpi"):
                bound.functions.setdefault((caller, target), set()).add(function)
    bound.processes += seen


def _is_ours(path: str) -> bool:
    return Path(path).name.startswith("libespalier-")


def _findings(bound: _Bound) -> Iterator[Check]:
    served = sorted({name for (_, target), names in bound.functions.items() if _is_ours(target) for name in names})
    if not bound.builds:
        yield Check(
            "Espalier", False, "no MPI function of the job leads to Espalier", "espalier run -v -- ... says what it looked at"
        )
        return
    yield Check("Espalier", True, f"gets {', '.join(served)}")
    for (caller, target), names in sorted(bound.functions.items()):
        passing = sorted(name for name in names if not _is_ours(target) and _is_served(name, bound))
        if passing:
            yield Check(
                "not served",
                None,
                f"{caller}: {', '.join(passing)} lead past Espalier to {target}",
                "a plugin opened with RTLD_DEEPBIND, a tool that is preloaded before Espalier, or a function looked up in the "
                "MPI's own handle (docs/interposition.md)",
            )


def _is_served(name: str, bound: _Bound) -> Optional[bool]:
    return any(file.defines(build, name) for build in bound.builds)
