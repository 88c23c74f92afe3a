"""The host MPIs that `make build` sets up: how each is compiled against, launched and told to behave."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Optional

from espalier.install import environments, library
from espalier.launch.loadable import loadable
from espalier.launch.preload import VARIABLE, joined
from espalier.problem import Problem


@dataclass(frozen=True)
class Host:
    name: str
    title: str
    interposer: str
    # Environment above the number of cores: what makes this host yield. Its best ordinary setting there.
    oversubscribed: dict = field(default_factory=dict)
    # Collectives whose persistent calls it gets wrong by itself, from so many ranks and bytes on: wrong results
    # or an abort at the second start.
    wrong_persistent: dict[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        return environments() / self.name

    @property
    def library_folder(self) -> Path:
        return self.folder / "lib"


# Of Intel MPI 2021.18, by its own without Espalier, as MPICH's issues 7078 and 6423 and its pull request 7550 tell of
# older MPICHs. No choice of an algorithm (I_MPI_ADJUST_..., MPIR_CVAR_...) helped.
_INTELS_WRONG = {"bcast": (8, 12288), "allgather": (2, 0), "gather": (1, 0), "scatter": (2, 0)}

HOSTS = {
    host.name: host
    for host in (
        Host("mpich", "MPICH", "libespalier-mpich.so", {"MPIR_CVAR_DEFAULT_THREAD_LEVEL": "MPI_THREAD_MULTIPLE"}),
        Host("openmpi", "Open MPI", "libespalier-ompi.so"),
        Host("impi", "Intel MPI", "libespalier-mpich.so", {"I_MPI_WAIT_MODE": "1"}, _INTELS_WRONG),
    )
}


def find(names: str) -> list[Host]:
    """ "mpich,impi" to hosts, in that order; what is unknown or not set up is a Problem."""
    found = []
    for name in filter(None, (part.strip() for part in names.split(","))):
        if name not in HOSTS:
            raise Problem(f"'{name}' is no host MPI; choose from {', '.join(HOSTS)}")
        if not HOSTS[name].library_folder.exists():
            raise Problem(f"{HOSTS[name].title} is not in {HOSTS[name].folder}; run `make build`")
        found.append(HOSTS[name])
    if not found:
        raise Problem("no host MPI named; for example --hosts mpich,openmpi,impi")
    return found


def cores() -> list[int]:
    return sorted(os.sched_getaffinity(0))


def environment(host: Host, ranks: int, default: bool = False, usable: Optional[int] = None) -> dict[str, str]:
    """What a job of this host needs in its environment. `default`: the host as it comes, also above the cores;
    `usable`: the cores it may use, if not all."""
    settings: dict[str, str] = {}
    if host.name == "openmpi":
        settings |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    if host.name == "impi":
        lib = str(host.library_folder)
        path = os.environ.get("LD_LIBRARY_PATH")
        settings |= {
            "I_MPI_ROOT": str(host.folder),
            "FI_PROVIDER_PATH": lib,
            "FI_PROVIDER": "shm",
            "LD_LIBRARY_PATH": f"{lib}:{path}" if path else lib,
        }
    if ranks > (usable or len(cores())) and not default:
        settings |= host.oversubscribed
    return settings


def mpirun(name: str, folder: Path) -> str:
    """The launcher in the folder of "mpich", "openmpi" or "impi". Intel's `mpirun` is a script that takes `mpiexec.hydra`
    from PATH: another MPI's, if that is installed, which does not place the ranks as asked, and on some machines tells them
    a placement that Intel's library cannot start with."""
    return str(folder / "bin" / ("mpiexec.hydra" if name == "impi" else "mpirun"))


def launcher(host: Host, ranks: int, usable: Optional[int] = None) -> list[str]:
    command = [mpirun(host.name, host.folder), "-n", str(ranks)]
    if host.name == "openmpi":
        command += ["--bind-to", "none"]
        # It also turns on yielding, so only where it is needed.
        command += ["--oversubscribe"] if ranks > (usable or len(cores())) else []
    return command


def preload(host: Host) -> Path:
    path = library(host.interposer)
    if not path.exists():
        raise Problem(f"{path} is not there; run `make build`, or name its folder in ESPALIER_LIB")
    return path


def preloaded(path: Path) -> dict[str, str]:
    """For the environment of the launcher, which gets it too, as from `espalier run` (docs/waiting.md)."""
    return {VARIABLE: joined(loadable(path, several_nodes=False), os.environ.get(VARIABLE, ""))}
