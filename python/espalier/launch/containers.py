"""Programs that start others in a container, with another file system and, some of them, another environment."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Optional

from espalier.launch.command_line import CommandLine, Program

_OPEN = ("apptainer", "singularity")
_CLOSED = ("docker", "podman", "nerdctl")


def is_container(path: Path) -> bool:
    """What it starts lies in an image, where this machine's programs are not."""
    return path.name in _OPEN or path.name in _CLOSED


def is_open(program: Program) -> bool:
    """Variables and folders of this machine can be given to the container by variables."""
    return Path(program.name).name in _OPEN


def closed(line: CommandLine) -> Optional[Program]:
    """One whose container gets what its command line names, and nothing else."""
    return next((program for program in line.programs if Path(program.name).name in _CLOSED), None)


def _inside(library: Path) -> Path:
    return library.resolve().parent / library.name


def closed_note(program: Program, library: Path) -> str:
    inside = _inside(library)
    return (
        f"{program.name} starts a container, which gets neither this machine's variables nor its files; the program runs "
        f"without Espalier. Use `espalier run` inside, or add -v {inside.parent}:{inside.parent} -e LD_PRELOAD={inside}"
    )


def open_note(program: Program, library: Path) -> str:
    return (
        f"{program.name} starts a container: {_inside(library)} is bound into it and preloaded there. If its C library is "
        "older than this machine's, the loader says so and the program runs without Espalier."
    )


def variables(library: Path, environment: Mapping[str, str]) -> dict[str, str]:
    """Apptainer's for what to bind and preload inside; Singularity's have another prefix."""
    inside, result = _inside(library), {}
    for prefix in ("APPTAINER", "SINGULARITY"):
        bound = [part for part in environment.get(f"{prefix}_BIND", "").split(",") if part]
        result[f"{prefix}_BIND"] = ",".join(dict.fromkeys([*bound, str(inside.parent)]))
        given = environment.get(f"{prefix}ENV_LD_PRELOAD", "")
        result[f"{prefix}ENV_LD_PRELOAD"] = ":".join(part for part in (str(inside), given) if part)
    return result
