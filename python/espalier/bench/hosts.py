"""The host MPIs to measure: how each is compiled against, launched and told to behave. By default those that `make build`
sets up; with the path of a launcher any other MPI of this machine (own_mpi.py)."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Optional

from espalier.install import clone, environments, library, repair
from espalier.interface import suggest
from espalier.launch import carried, launchers, starting
from espalier.launch.family import Family
from espalier.launch.loadable import loadable
from espalier.launch.preload import VARIABLE, joined
from espalier.problem import Problem


@dataclass(frozen=True)
class Batch:
    """A launcher whose ranks daemons start (srun, jsrun, flux run, PALS, prun): `options` stand behind those of a job."""

    family: Family
    options: tuple[str, ...] = ()


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
    # Of an MPI of the user's: which of the three it is, its launcher and its compiler.
    family: str = ""
    own_launcher: Optional[Path] = None
    own_compiler: Optional[Path] = None
    batch: Optional[Batch] = None  # of a launcher by whose words alone the MPI is not known

    @property
    def kind(self) -> str:
        """ "mpich", "openmpi" or "impi" """
        return self.family or self.name

    @property
    def programs(self) -> str:
        """The folder of its programs: two MPIs of one version are not the same."""
        if not self.own_compiler:
            return self.name
        if self.batch:  # not named by its version: these programs find that out
            return f"mpi-{hashlib.sha256(os.path.realpath(self.own_compiler).encode()).hexdigest()[:8]}"
        return f"{self.name}-{hashlib.sha256(str(self.own_compiler).encode()).hexdigest()[:8]}"

    @property
    def mpirun(self) -> str:
        if not self.own_launcher:
            return mpirun(self.name, self.folder)
        if self.kind == "impi" and self.own_launcher.name == "mpirun":
            hydra = self.own_launcher.with_name("mpiexec.hydra")
            return str(hydra if hydra.exists() else self.own_launcher)  # for the reason that mpirun() gives
        return str(self.own_launcher)

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


def find(names: str, compiler: Optional[Path] = None) -> list[Host]:
    """ "mpich,impi,/usr/bin/mpirun" to hosts, in that order; what is unknown or not set up is a Problem. `compiler` is that
    of the launchers that are named by their paths; by default the one beside each."""
    words = [part.strip() for part in names.split(",") if part.strip()]
    if not words:
        raise Problem("no host MPI named; for example --hosts mpich,openmpi,impi")
    return [_one(word, compiler) for word in words]


def _one(word: str, compiler: Optional[Path]) -> Host:
    if "/" in word:
        from espalier.bench import own_mpi

        return own_mpi.host(Path(word), compiler)
    if word not in HOSTS:
        near = suggest.hint(word, HOSTS) or ";"
        raise Problem(f"'{word}' is no host MPI{near} choose from {', '.join(HOSTS)}, or name a launcher by its path")
    if not HOSTS[word].library_folder.exists():
        lacking = f"is not in {HOSTS[word].folder}; run `make build`, or" if clone() else "by that name is a clone's;"
        raise Problem(f"{HOSTS[word].title} {lacking} name your MPI's launcher: --mpirun /usr/bin/mpirun")
    return HOSTS[word]


def cores() -> list[int]:
    return sorted(os.sched_getaffinity(0))


def environment(host: Host, ranks: int, default: bool = False, usable: Optional[int] = None) -> dict[str, str]:
    """What a job of this host needs in its environment. `default`: the host as it comes, also above the cores;
    `usable`: the cores it may use, if not all."""
    settings: dict[str, str] = {}
    if host.kind == "openmpi":
        settings |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    if host.name == "impi":  # one that was installed by its own means brings its own variables
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
    above_cores = ranks > (usable or len(cores()))
    if host.batch:
        run = ["run"] if host.batch.family is launchers.FLUX else []
        return [host.mpirun, *run, *starting.on_one_node(host.batch.family, ranks, above_cores), *host.batch.options]
    command = [host.mpirun, "-n", str(ranks)]
    if host.kind == "openmpi":
        command += ["--bind-to", "none"]
        # It also turns on yielding, so only where it is needed.
        command += ["--oversubscribe"] if above_cores else []
    return command


def job(
    host: Host, ranks: int, program: list[str], settings: dict[str, str], usable: Optional[int] = None
) -> tuple[list[str], dict[str, str]]:
    """The command, and what its environment needs. To ranks that need not get their launcher's environment `env` gives the
    settings, the user's own ones, and the path on which they find their libraries."""
    start = launcher(host, ranks, usable)
    if not host.batch:
        return start + program, settings
    own = {name: os.environ[name] for name in ("LD_LIBRARY_PATH", *carried.names(os.environ)) if name in os.environ}
    return start + ["env", *(f"{name}={value}" for name, value in (own | settings).items()), *program], {}


def preload(host: Host) -> Path:
    path = library(host.interposer)
    if not path.exists():
        raise Problem(f"{path} is not there; {repair()}, or name its folder in ESPALIER_LIB")
    return path


def preloaded(path: Path) -> dict[str, str]:
    """For the environment of the launcher, which gets it too, as from `espalier run` (docs/waiting.md)."""
    return {VARIABLE: joined(loadable(path, several_nodes=False), os.environ.get(VARIABLE, ""))}
