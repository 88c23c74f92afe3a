"""The three host MPIs of `make build` on the emulated cluster: their environment, and the settings at which they run
best when the ranks of all nodes share a few cores (docs/cluster.md says how these were found)."""

from __future__ import annotations

from pathlib import Path
from typing import Optional

from espalier.bench import process
from espalier.bench.hosts import HOSTS, Host, environment, mpirun, preload

from emulated_cluster import launchers
from emulated_cluster.cluster import Cluster
from emulated_cluster.layout import Layout

KIND = {"mpich": "hydra", "openmpi": "openmpi", "impi": "intel"}

# No host sees that the nodes share cores, so each is told to yield in the way that suits it best.
_OVERSUBSCRIBED = {
    "mpich": {"MPIR_CVAR_DEFAULT_THREAD_LEVEL": "MPI_THREAD_MULTIPLE", "MPIR_CVAR_ENABLE_HEAVY_YIELD": "1"},
    "openmpi": {"OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_MCA_osc": "^ucx"},
    "impi": {"I_MPI_WAIT_MODE": "1", "I_MPI_PIN": "off", "FI_PROVIDER": "tcp"},
}


def oversubscribed_settings(name: str) -> dict[str, str]:
    """What to set for the ranks of "mpich", "openmpi" or "impi" there."""
    return dict(_OVERSUBSCRIBED[name])


# The same for Espalier. Rules between nodes: those that were measured here, where nodes share two cores and messages
# take half a millisecond; the built-in ones are for clusters.
RULES = Path(__file__).resolve().parent / "rules.json"
_OVERSUBSCRIBED_ESPALIER = {"ESPALIER_WAIT": "yield", "ESPALIER_RULES": str(RULES)}


def surroundings(host: Host) -> dict[str, str]:
    """The environment of launcher and ranks."""
    found = environment(host, 1) | _OVERSUBSCRIBED[host.name]
    return found | {"LD_LIBRARY_PATH": str(host.library_folder)}


def command(
    host: Host,
    cluster: Cluster,
    layout: Layout,
    program: list[str],
    settings: Optional[dict] = None,
    espalier: Optional[Path] = None,
) -> list[str]:
    """`program` on the cluster's nodes, as words to be run here with `surroundings(host)`. `settings`: environment for
    the ranks alone; `espalier`: the library to preload into them."""
    settings = {**(_OVERSUBSCRIBED_ESPALIER if espalier else {}), **(settings or {})}
    words = [mpirun(host.name, host.folder), *launchers.options(KIND[host.name], cluster, layout)]
    words += ["-n", str(layout.ranks)]
    if host.name == "openmpi":
        for name in (*_OVERSUBSCRIBED[host.name], "LD_LIBRARY_PATH"):
            words += ["-x", name]
    return cluster.words() + words + process.wrapped(settings, espalier, program)


__all__ = ["HOSTS", "KIND", "command", "oversubscribed_settings", "preload", "surroundings"]
