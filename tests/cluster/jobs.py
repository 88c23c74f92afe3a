"""One MPI job on the emulated cluster."""

from dataclasses import dataclass, replace
from pathlib import Path

import hosts
from emulated_cluster import Cluster, Layout
from emulated_cluster.hosts import KIND, crowded_settings, mpirun
from emulated_cluster.launchers import options

SOURCES = Path(__file__).resolve().parent / "src"


def build(host, name):
    """A program of this folder, or one of tests/mpi."""
    own = any((SOURCES / f"{name}{ending}").exists() for ending in ("", ".c"))
    return hosts.program(host, name, SOURCES if own else hosts.SOURCES)


@dataclass
class Job:
    cluster: Cluster
    host: hosts.Host
    layout: Layout

    def run(self, name, *arguments, env=None, timeout=120, **more):
        """hosts.launch, its ranks placed on the nodes as the layout says. The ranks yield: all nodes share the cores."""
        yielding = {} if self.layout.ranks <= hosts.CORES else crowded_settings(self.host.name)
        host = replace(self.host, mpirun=mpirun(self.host.name, self.host.venv))
        return hosts.launch(host, self.layout.ranks, build(host, name), *arguments, env={**yielding, **(env or {})},
                            wrap=self.cluster.words(), placement=options(KIND[host.name], self.cluster, self.layout),
                            timeout=timeout, **more)
