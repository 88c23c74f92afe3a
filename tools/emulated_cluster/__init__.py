"""A cluster of emulated nodes on one machine: name spaces joined by a bridge or a switch that delays (docs/cluster.md).

The parts, from the outside in: `cluster` (what tests and benchmarks use), `hosts` and `launchers` (how each MPI starts
ranks there), `layout` (which rank lies where), `keeper` (the process that owns a cluster), `node`, `network` and
`filesystems` (what a node is made of), `control_group`, `kernel` (system calls), `obstacle` (why none can be made here).
"""

from emulated_cluster.cluster import Cluster, ClusterError
from emulated_cluster.layout import Layout, parse_layout
from emulated_cluster.obstacle import obstacle

__all__ = ["Cluster", "ClusterError", "Layout", "obstacle", "parse_layout"]
