"""Puts the interposer into the job's environment, also where the command line sets that environment itself."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Mapping

from espalier.launch.command_line import CommandLine
from espalier.launch.launchers import OPEN_MPI

VARIABLE = "LD_PRELOAD"


def joined(library: Path, existing: str) -> str:
    """`library` before what is preloaded already; another build of Espalier among it gives way."""
    others = [
        part for part in re.split("[: ]", existing) if part and not Path(part).name.startswith("libespalier-")
    ]
    return ":".join([str(library), *others])


def _rewritten(line: CommandLine, library: Path) -> list[str]:
    """The words, with our library added wherever they set LD_PRELOAD (-x, -genv, env)."""
    words = list(line.words)
    for program in line.programs:
        for setting in program.settings:
            if setting.name == VARIABLE:
                kept = line.words[setting.word][: len(line.words[setting.word]) - len(setting.value)]
                words[setting.word] = kept + joined(library, setting.value)
    return words


def forwarded(line: CommandLine, library: Path, environment: Mapping[str, str]) -> list[str]:
    """The words to start. Open MPI carries to other nodes only the variables that -x names."""
    words = _rewritten(line, library)
    if line.family is not OPEN_MPI:
        return words
    names = [VARIABLE] + sorted(name for name in environment if re.match(r"ESPALIER(_|$)", name))
    for program in sorted(line.programs, key=lambda program: program.context, reverse=True):
        given = {setting.name for setting in program.settings}
        additions = [word for name in names if name not in given for word in ("-x", name)]
        words[program.context : program.context] = additions
    return words
