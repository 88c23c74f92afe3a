"""Puts the interposer into the job's environment, also where the command line sets that environment itself."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from espalier.launch import carried
from espalier.launch.carried import VARIABLE
from espalier.launch.command_line import CommandLine, Program
from espalier.mpi import sanitizers

__all__ = ["VARIABLE", "forwarded", "joined"]


def _is_ours(part: str) -> bool:
    return Path(part).name.startswith("libespalier-")


def joined(library: Path, existing: str, first: Iterable[str] = ()) -> str:
    """Runtimes of sanitizers, which must come first; `library`; what is preloaded already, in its order. A build of Espalier
    that is there already gives its place to `library`, so that a tool may be put before it."""
    parts = [part for part in re.split("[: ]", existing) if part]
    given = [part for part in parts if sanitizers.is_runtime(part)]
    named = {Path(part).name for part in given}
    runtimes = given + [part for part in dict.fromkeys(first) if Path(part).name not in named]
    rest = [part for part in parts if part not in given]
    place = next((at for at, part in enumerate(rest) if _is_ours(part)), 0)
    before, behind = rest[:place], [part for part in rest[place:] if not _is_ours(part)]
    return ":".join([*runtimes, *before, str(library), *behind])


def _rewritten(line: CommandLine, library: Path) -> list[str]:
    """The words, with our library added wherever they set LD_PRELOAD (-x, -genv, env)."""
    words = list(line.words)
    for program in line.programs:
        for setting in program.settings:
            if setting.name == VARIABLE:
                kept = line.words[setting.word][: len(line.words[setting.word]) - len(setting.value)]
                words[setting.word] = kept + joined(library, setting.value)
    return words


def forwarded(line: CommandLine, library: Path, environment: dict[str, str]) -> list[str]:
    """The words to start, in the environment, which a launcher's own variable may be changed in."""
    words = _rewritten(line, library)
    carried.slurm(line, words, environment, lambda existing: joined(library, existing))
    additions = [_before_program(program, library, environment) for program in line.programs]
    additions += carried.additions(line, environment)
    for place, added in sorted(additions, key=lambda addition: addition[0], reverse=True):
        words[place:place] = added
    return words


def _before_program(
    program: Program, library: Path, environment: Mapping[str, str]
) -> tuple[int, list[str]]:
    """A sanitizer's runtime is for the program alone: in the launcher it would report the launcher's own leaks."""
    words = [f"{name}={value}" for name, value in program.own.items()]
    if program.first:
        existing = program.environment(environment).get(VARIABLE, "")
        words.append(f"{VARIABLE}={joined(library, existing, program.first)}")
    if not words:
        return program.start, []
    # To env a program with "=" in its name would be one more variable.
    direct = [] if "=" not in program.name else ["sh", "-c", 'exec "$0" "$@"']
    return program.start, ["env", *words, *direct]
