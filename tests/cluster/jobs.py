"""One MPI job on the emulated cluster."""

from dataclasses import dataclass
from pathlib import Path

import hosts
from emulated_cluster import Cluster, Layout
from emulated_cluster.hosts import KIND, oversubscribed_settings
from emulated_cluster.launchers import options

SOURCES = Path(__file__).resolve().parent / "src"


# Intel MPI 2021.18.1 by itself, on nodes of unequal size: the only rank of a node writes the reduction into its own
# receive buffer although it is not the root, and crashes if that is null. Its algorithms 1 and 5 are right.
FAULTS = {"impi": {"I_MPI_ADJUST_REDUCE": "1"}}


def build(host, name):
    """A program of this folder, or one of tests/mpi; a path is one that is built already."""
    if isinstance(name, Path):
        return name
    own = any((SOURCES / f"{name}{ending}").exists() for ending in ("", ".c"))
    return hosts.program(host, name, SOURCES if own else hosts.SOURCES)


@dataclass
class Job:
    cluster: Cluster
    host: hosts.Host
    layout: Layout

    def run(self, name, *arguments, env=None, timeout=120, **more):
        """hosts.launch, its ranks placed as the layout says. The ranks yield: all nodes share the cores."""
        settings = {} if self.layout.ranks <= hosts.CORES else oversubscribed_settings(self.host.name)
        settings.update(FAULTS.get(self.host.name, {}) if len(set(self.layout.per_node)) > 1 else {})
        return hosts.launch(
            self.host,
            self.layout.ranks,
            build(self.host, name),
            *arguments,
            env={**settings, **(env or {})},
            wrap=self.cluster.words(),
            placement=options(KIND[self.host.name], self.cluster, self.layout),
            timeout=timeout,
            **more,
        )
