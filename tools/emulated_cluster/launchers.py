"""How each MPI's launcher is told to start ranks on the nodes of an emulated cluster."""

from __future__ import annotations

from typing import Optional

from emulated_cluster.cluster import AGENT, Cluster
from emulated_cluster.layout import Layout

KINDS = ("hydra", "intel", "openmpi")  # MPICH, Intel MPI, Open MPI


def refusal(kind: str, layout: Layout) -> Optional[str]:
    """Why this launcher cannot place ranks so; None if it can."""
    if kind == "hydra" and layout.cyclic and len(set(layout.per_node)) > 1:
        return "MPICH's launcher places ranks cyclically only on nodes of equal size"
    return None


def _machine_file(kind: str, cluster: Cluster, layout: Layout) -> str:
    if not layout.cyclic:
        lines = [f"{name}:{ranks}" for name, ranks in zip(cluster.nodes, layout.per_node)]
    elif kind == "hydra":  # takes a host that is named again for a new node; goes around the file instead
        lines = cluster.nodes[: layout.nodes]
    else:
        lines = [f"{cluster.nodes[node]}:1" for node in layout.node_of_ranks()]
    return cluster.write(f"machines-{kind}-{layout}", "\n".join(lines) + "\n")


def options(kind: str, cluster: Cluster, layout: Layout) -> list[str]:
    """Words for mpirun, apart from `-n` and the program. `mpirun` itself runs on the head (`cluster.words()`)."""
    why = refusal(kind, layout)
    if why:
        raise ValueError(f"{layout}: {why}")
    if kind == "openmpi":
        slots = ",".join(f"{name}:{ranks}" for name, ranks in zip(cluster.nodes, layout.per_node))
        by = "node" if layout.cyclic else "slot"
        words = ["--prtemca", "plm_ssh_agent", str(AGENT), "--host", slots]
        return [*words, "--map-by", f"{by}:OVERSUBSCRIBE", "--bind-to", "none"]
    machines = _machine_file(kind, cluster, layout)
    if kind == "intel":
        return ["-bootstrap", "ssh", "-bootstrap-exec", str(AGENT), "-machinefile", machines]
    words = ["-launcher", "ssh", "-launcher-exec", str(AGENT), "-f", machines]
    return words + (["-ppn", "1"] if layout.cyclic else [])
