"""Whether the loader takes the libraries when they are preloaded: by a program that is started with each of them."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Optional

from espalier.doctor.check import Check
from espalier.install import library, repair
from espalier.launch import loadable, preload
from espalier.mpi import kinds


def checks() -> Iterator[Check]:
    builds = [library(kind.library) for kind in kinds.KINDS.values() if library(kind.library).exists()]
    if builds:
        yield _of_builds(builds)
    given = os.environ.get(preload.VARIABLE)
    if given:
        yield _of_environment(given)


def _of_builds(builds: list[Path]) -> Check:
    unfit = not loadable.fits(builds[0])
    for build in builds:
        trouble = _refusal(loadable.loadable(build, several_nodes=False))
        if trouble:
            return Check("preloading", False, f"the loader refuses {build}: {trouble}", f"{repair()}, on this machine")
    if unfit:
        return Check(
            "preloading",
            None,
            f"LD_PRELOAD cannot hold a space, colon or $ of {builds[0].parent}; `espalier run` makes a link for the time of the "
            "job, on this node only",
            "for LD_PRELOAD by hand and jobs on several nodes: a link without them to that folder, and its name in "
            "ESPALIER_LIB",
        )
    return Check("preloading", True, f"the loader takes them ({len(builds)} libraries)")


def _refusal(build: Path) -> Optional[str]:
    """The loader's words, or None when the library is in the process."""
    run = subprocess.run(
        ["cat", "/proc/self/maps"], env={**os.environ, preload.VARIABLE: str(build)}, capture_output=True, text=True
    )
    if f"/{build.name}\n" in run.stdout:
        return None
    words = re.search(r"from LD_PRELOAD cannot be preloaded \((.*?)\)", run.stderr)
    return words[1] if words else "it is not loaded"


def _of_environment(given: str) -> Check:
    parts = [part for part in re.split("[: ]", given) if part]
    gone = [part for part in parts if "/" in part and not Path(part).exists()]
    name = "LD_PRELOAD as set"
    if gone:
        return Check(
            name,
            False,
            f"{gone[0]} is not there, so the loader passes over it",
            "a path with a space or colon is split there: preload a link to the library that has none",
        )
    words = ", ".join(Path(part).name for part in parts)
    for part in parts:
        for found, tool, what in _TOOLS:
            if found in Path(part).name.lower():
                return Check(name, None, f"{words}: {tool} {what}", "docs/interposition.md#profiling-tools")
    return Check(name, True, words)


# Part of a library's name, the tool, what becomes of it beside Espalier.
_TOOLS = (
    ("libasan", "AddressSanitizer", "has to come before Espalier, as `espalier run` preloads it; by hand put it first"),
    ("libdarshan", "Darshan", "counts what it sees: collectives too, if it is preloaded before Espalier"),
    ("libmpip", "mpiP", "sees the collectives only if it is preloaded before Espalier, which then serves those it hands on"),
    ("libscorep", "Score-P", "sees the collectives only if it is preloaded before Espalier"),
    ("libvt", "a tracer", "sees the collectives only if it is preloaded before Espalier"),
)
