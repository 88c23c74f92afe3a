"""A launcher of another MPI than the program's, or none: each rank would be a job of its own, with exit code 0."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Optional

from espalier.elf import file
from espalier.launch import intel, launchers
from espalier.launch.command_line import CommandLine
from espalier.mpi import kinds, launchers_of, python_probe
from espalier.mpi.identify import Finding

_RANKS = ("n", "np")


def trouble(line: CommandLine, finding: Finding, environment: Mapping[str, str]) -> Optional[str]:
    """What is wrong, with the command line that would be right. None also where the program's MPI is not known."""
    launcher = line.family.kind if line.family else None
    if launcher is None or finding.kind is None or (finding.guess and finding.library is None):
        return None
    wanted = launchers_of.family(finding.kind, finding.library)
    if wanted is None or wanted is launcher or _is_one_rank(line):
        return None
    return (
        f"{line.launcher} belongs to {_name(launcher)}, but {finding.why}, which is {_name(wanted)}: every rank would be a "
        f"job of its own, of one rank. {_advice(line, wanted, finding.library, environment)}"
    )


# Set by what has started this command as one of many ranks (src/mpi/lifetime/announced_ranks.cpp).
_RANK = ("PMI_RANK", "PMI_ID", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID", "JSM_NAMESPACE_RANK", "FLUX_TASK_RANK")


def without_launcher(line: CommandLine, path: Path, finding: Finding, environment: Mapping[str, str]) -> Optional[str]:
    """For a program that links an MPI itself and that nothing starts as many ranks. What is interpreted may start others."""
    if line.launcher is not None or finding.library is None or finding.guess or any(name in environment for name in _RANK):
        return None
    if python_probe.is_interpreter(path) or not file.is_elf(path):
        return None
    words = shlex.join(line.words)
    return f"no launcher starts {path.name}, so it is a job of one rank; for two: espalier run -- mpirun -n 2 {words}"


def _is_one_rank(line: CommandLine) -> bool:
    ranks = [option.value for option in line.options if option.name in _RANKS]
    return len(line.programs) == 1 and ranks == ["1"]


def _name(kind: kinds.Kind) -> str:
    return "Open MPI" if kind is kinds.OMPI else "MPICH or Intel MPI"


def _advice(
    line: CommandLine, wanted: kinds.Kind, library: Optional[Path], environment: Mapping[str, str]
) -> str:
    def kind_of(path: Path) -> Optional[kinds.Kind]:
        family = launchers.family_of(path, {**environment, **intel.settings(path, environment)})
        return family.kind if family else None

    right = launchers_of.installed(wanted, library, environment, kind_of)
    if right is None:
        return f"Start it with the mpirun of {_name(wanted)} that the program was built with (or, as it is, with --mpi)"
    assert line.launcher_word is not None
    words = [*line.words[: line.launcher_word], str(right), *line.words[line.launcher_word + 1 :]]
    own = [option.name for option in line.options if option.name not in _RANKS]
    other = f" (its names for the options {', '.join(own)} may be others)" if own else ""
    return f"Start it so{other}: espalier run -- {shlex.join(words)}   (or, as it is, with --mpi)"
