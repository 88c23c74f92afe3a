"""How launchers of batch systems start ranks of any MPI, and what has to be there before they can."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from espalier.launch import launchers
from espalier.launch.launchers import Family


@dataclass(frozen=True)
class _Need:
    variable: str
    lacking: str
    within: str


_NEEDS = {
    launchers.SLURM.name: _Need("SLURM_JOB_ID", "there is no allocation", "salloc or sbatch"),
    launchers.JSRUN.name: _Need("LSB_JOBID", "there is no allocation", "bsub"),
    launchers.FLUX.name: _Need("FLUX_URI", "there is no Flux instance", "flux alloc or flux start"),
}


def lacking(family: Optional[Family], environment: Mapping[str, str], command: str) -> str:
    """What a job needs that is not there; "" if nothing. `command`: what is to be run where it is there."""
    need = _NEEDS.get(family.name) if family else None
    if need is None or need.variable in environment:
        return ""
    return f"{need.lacking}: run `espalier {command}` within {need.within}"


def by_daemons(launcher: Path, family: Optional[Family]) -> bool:
    """Whether daemons that were there before start the ranks: their environment need not be the launcher's, and the program alone
    tells which MPI it is."""
    return family is not None and (family.kind is None or launcher.name.startswith("prun"))


def managers(family: Optional[Family]) -> list[list[str]]:
    """The site's default first, then words by which the launcher offers other process managers."""
    return [[], ["--mpi=pmix"], ["--mpi=pmi2"]] if family is launchers.SLURM else [[]]


def on_one_node(family: Family, ranks: int, above_cores: bool) -> list[str]:
    """Options for so many ranks that may move among the node's processors; the program binds them itself. Flux has no option to
    start more ranks than the instance has cores."""
    count = str(ranks)
    if family is launchers.SLURM:
        return ["-N", "1", "-n", count, "--cpu-bind=none", *(["--overcommit"] if above_cores else [])]
    if family is launchers.JSRUN:  # one resource set of all processors, which never spans nodes
        return ["-n", "1", "-a", count, "-c", "ALL_CPUS", "-b", "none"]
    if family is launchers.FLUX:
        return ["-N", "1", "-n", count, "-o", "cpu-affinity=off"]
    if family is launchers.PALS:
        return ["-n", count, "--ppn", count, "--cpu-bind", "none"]
    return ["-n", count, "--bind-to", "none", *(["--map-by", ":OVERSUBSCRIBE"] if above_cores else [])]  # PRRTE's prun
