"""The launchers of this machine, and what has to be there before a batch system's one can start a job."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from espalier.install import environments
from espalier.launch import intel, launchers, starting
from espalier.launch.launchers import Family

_NAMES = ("mpirun", "mpiexec", *launchers.SIDE_BY_SIDE, "srun", "jsrun", "flux")


@dataclass(frozen=True)
class Found:
    path: Path
    family: Optional[Family]

    @property
    def starts_any(self) -> bool:
        """Ranks of any MPI: one of a batch system or process manager."""
        return self.family is not None and self.family.kind is None

    def lacks(self, environment: Mapping[str, str]) -> str:
        """What a job needs that is not there; "" if nothing."""
        return starting.lacking(self.family, environment, "doctor")


def found(mine: Optional[Path] = None) -> list[Found]:
    """`mine`: the user's, and no other."""
    paths = [mine] if mine else [path for path in _paths() if path.exists()]
    return [Found(path, launchers.family_of(path, {**os.environ, **intel.settings(path, os.environ)})) for path in paths]


def _paths() -> list[Path]:
    paths = [environments() / name / "bin" / "mpirun" for name in ("mpich", "openmpi", "impi")]
    on_path = [path for path in map(shutil.which, _NAMES) if path]
    unique = {Path(path).resolve(): Path(path) for path in reversed(on_path)}  # of two names the first: what users type
    return [
        *paths,
        *(path for real, path in unique.items() if real not in {known.resolve() for known in paths}),
    ]


def start_of(launcher: Found) -> list[list[str]]:
    """The words that start two ranks; of Slurm also those by which it offers another process manager than the site's default."""
    path = str(launcher.path)
    if launcher.family is launchers.SLURM:
        return [[path, *more, "-n", "2"] for more in starting.managers(launcher.family)]
    if launcher.family is launchers.FLUX:
        return [[path, "run", "-n", "2"]]
    if launcher.family is launchers.OPEN_MPI:
        return [[path, "--oversubscribe", "-n", "2"]]
    return [[path, "-n", "2"]]
