"""An aggregation tree on emulated nodes: each aggregation node on a node of its own, so that every hop costs a delay."""

from __future__ import annotations

import subprocess
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator

from emulated_cluster import Cluster
from emulated_cluster.network import address, node_name
from espalier.aggregate import tree as aggregation_tree
from espalier.install import daemon
from espalier.problem import Problem

PORT = 7700


def depth(parents: list[int]) -> int:
    """Aggregation nodes between a rank and the root, the root included."""
    deepest = 0
    for node in range(len(parents)):
        levels, up = 1, node
        while parents[up] >= 0:
            levels, up = levels + 1, parents[up]
        deepest = max(deepest, levels)
    return deepest


@contextmanager
def running(cluster: Cluster, first: int, parents: list[int], file: Path) -> Iterator[None]:
    """On the emulated nodes from number `first` on."""
    places = [aggregation_tree.Place(address(node_name(first + i)), PORT) for i in range(len(parents))]
    tree = aggregation_tree.document(parents, places, {})
    aggregation_tree.write(tree, file)
    started = []
    try:
        for i, node in enumerate(tree["nodes"]):
            words = [*cluster.words(node_name(first + i)), str(daemon()), str(file), node["name"]]
            started.append(subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True))
        for process in started:
            if "ready" not in process.stdout.readline():
                raise Problem("an aggregation node did not start; its reason is above")
        yield
    finally:
        for process in started:
            process.stdout.close()  # what runs on the nodes ends with the cluster
