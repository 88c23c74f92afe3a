"""How a launcher is made to give its ranks the variables that Espalier needs: most give them all, unless told otherwise."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Callable, Optional

from espalier.launch.command_line import CommandLine, Option, Program
from espalier.launch.launchers import FLUX, HYDRA, JSRUN, OPEN_MPI, PALS, SLURM

VARIABLE = "LD_PRELOAD"
_OURS = re.compile(r"ESPALIER(_|$)|(APPTAINER|SINGULARITY)(_BIND$|ENV_LD_PRELOAD$)")
_RESTRICTING = frozenset("genvnone genvlist envnone envlist".split())
_SLURMS_DEFAULT = "SLURM_EXPORT_ENV"  # also what `sbatch --export=NONE` leaves behind

Addition = tuple[int, list[str]]  # a place among the words, and what is to stand before it
Joined = Callable[[str], str]  # a value of LD_PRELOAD to one with Espalier's library


def names(environment: Mapping[str, str]) -> list[str]:
    return [VARIABLE, *sorted(name for name in environment if _OURS.match(name))]


def additions(line: CommandLine, environment: Mapping[str, str]) -> list[Addition]:
    """Words that the command line lacks."""
    if line.family is OPEN_MPI:  # gives other nodes only what -x names
        return [_named(program, program.context, environment, lambda name: ["-x", name]) for program in line.programs]
    if line.family is FLUX:  # its rules count in their order
        return [_named(program, program.end, environment, lambda name: [f"--env={name}"]) for program in line.programs]
    if line.family is JSRUN:  # may preload hooks of its MPI's instead, unless -E names the variable
        return [
            _named(program, program.end, environment, lambda name: ["-E", f"{name}={environment[name]}"])
            for program in line.programs
        ]
    if line.family in (HYDRA, PALS) and any(option.name in _RESTRICTING for option in line.options):
        first = line.programs[:1]  # -genv holds for all programs
        return [
            _named(program, program.context, environment, lambda name: ["-genv", name, environment[name]]) for program in first
        ]
    return []


def _named(program: Program, place: int, environment: Mapping[str, str], words: Callable[[str], list[str]]) -> Addition:
    given = {setting.name for setting in program.settings}
    return place, [word for name in names(environment) if name not in given for word in words(name)]


def slurm(line: CommandLine, words: list[str], environment: dict[str, str], joined: Joined) -> None:
    """srun gives its ranks all variables, or those in a list, which stands among the words or in the environment: it is changed
    there."""
    if line.family is not SLURM:
        return
    needed = names(environment)
    for program in line.programs:
        option = _export(line, program)
        if option is not None:
            kept = words[option.word].removesuffix(option.value)
            words[option.word] = kept + _exported(option.value, needed, joined)
        elif _SLURMS_DEFAULT in environment:
            environment[_SLURMS_DEFAULT] = _exported(environment[_SLURMS_DEFAULT], needed, joined)


def _export(line: CommandLine, program: Program) -> Optional[Option]:
    """The last one counts."""
    own = [option for option in line.options if option.name == "export" and program.context <= option.word < program.start]
    return own[-1] if own else None


def _exported(text: str, needed: list[str], joined: Joined) -> str:
    """ "NONE" and "NIL" mean that nothing is given; "ALL" may stand among names."""
    parts = [part for part in text.split(",") if part and part.upper() not in ("NONE", "NIL")]
    result = [f"{VARIABLE}={joined(part.split('=', 1)[1])}" if part.startswith(f"{VARIABLE}=") else part for part in parts]
    if any(part.upper() == "ALL" for part in parts):
        return ",".join(result)
    named = {part.split("=", 1)[0] for part in parts}
    return ",".join([*result, *(name for name in needed if name not in named)])
