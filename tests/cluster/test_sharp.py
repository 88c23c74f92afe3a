"""Aggregation nodes on emulated nodes of their own: one and two levels of them, between the ranks' nodes."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path

import hosts
import pytest
from emulated_cluster import Cluster, parse_layout
from emulated_cluster.network import address
from jobs import Job
from test_checked import passed

sys.path.insert(0, str(hosts.REPOSITORY / "tests" / "mpi"))
import sharp_trees  # noqa: E402
from espalier.aggregate import tree as aggregation_tree  # noqa: E402

pytestmark = [
    pytest.mark.needs_espalier,
    pytest.mark.skipif(bool(sharp_trees.missing()), reason=str(sharp_trees.missing())),
]


@contextmanager
def tree_on(cluster, folder, nodes, radix, **limits):
    """Aggregation nodes on the cluster's head, where a switch would have them; each listens on the head's address."""
    above = aggregation_tree.parents(nodes, radix)
    with socket.socket() as any_socket:
        any_socket.bind(("", 0))
        port = any_socket.getsockname()[1]
    port = 20000 + port % 20000
    places = [aggregation_tree.Place(address("head"), port + i) for i in range(len(above))]
    tree = aggregation_tree.document(above, places, limits)
    path = folder / f"tree-{radix}.json"
    aggregation_tree.write(tree, path)
    daemons = [
        subprocess.Popen([*cluster.words("head"), str(sharp_trees.AGGD), str(path), node["name"]], stdout=subprocess.PIPE, text=True)
        for node in tree["nodes"]
    ]
    try:
        for daemon in daemons:
            assert "ready" in daemon.stdout.readline()
        yield path, daemons
    finally:
        for node in tree["nodes"]:
            kill(cluster, node["name"])
        for daemon in daemons:
            daemon.wait(10)
            daemon.stdout.close()


def kill(cluster, name):
    """The aggregation node itself: what started it only waits for it."""
    for pid in cluster.processes("head"):
        try:
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if words[0].endswith(b"/espalier-aggd") and words[-2] == name.encode():
            os.kill(pid, signal.SIGKILL)


def check(cluster, host, layout, settings, stats, subjects):
    job = Job(cluster, host, parse_layout(layout))
    env = {**settings, "ESPALIER_STATS": str(stats)}
    return passed(job.run("checked", "--only", subjects, env=env, timeout=300))


def rows(stats):
    return {row["collective"] for row in json.loads(stats.read_text())["rows"] if row["algorithm"] == "sharp" and row["calls"]}


FULL = "barrier,roots,in_place,operators,sizes,zero,communicators,identity"


@pytest.mark.parametrize("name", ["mpich", "openmpi"])
@pytest.mark.parametrize(
    "layout, radix, subjects",
    [
        ("4x2", 2, "barrier,in_place"),
        pytest.param("4x2", 8, FULL, marks=pytest.mark.full),
        pytest.param("8x2", 8, FULL, marks=pytest.mark.full),
        pytest.param("8x2", 4, FULL, marks=pytest.mark.full),
        pytest.param("4x2", 2, FULL, marks=pytest.mark.full),
        pytest.param("4x1", 8, FULL, marks=pytest.mark.full),
        pytest.param("3+1+3", 2, FULL, marks=pytest.mark.full),
        pytest.param("4x2-cyclic", 2, FULL, marks=pytest.mark.full),
        pytest.param("2x16", 8, "barrier,roots,in_place", marks=pytest.mark.full),
    ],
)
def test_results_are_right(cluster, tmp_path, name, layout, radix, subjects):
    stats = tmp_path / "stats.json"
    nodes = parse_layout(layout).nodes
    with tree_on(cluster, tmp_path, nodes, radix) as (tree, daemons):
        ranks = check(cluster, hosts.HOSTS[name], layout, sharp_trees.settings(tree), stats, subjects)
        assert [daemon.poll() for daemon in daemons] == [None] * len(daemons)
    assert ranks == parse_layout(layout).ranks
    assert rows(stats) == {"barrier", "reduce", "allreduce"}


def test_an_aggregation_node_that_is_killed(cluster, tmp_path):
    """The job goes on without, with right results, or ends with an error that says why; it does not hang."""
    with tree_on(cluster, tmp_path, 4, 2) as (tree, _):
        killer = threading.Timer(2.0, kill, (cluster, "a2"))
        killer.start()
        job = Job(cluster, hosts.HOSTS["mpich"], parse_layout("4x2"))
        env = {**sharp_trees.settings(tree, ESPALIER_SHARP_TIMEOUT="5000")}
        run = job.run("checked", "--only", "barrier,roots,in_place", env=env, timeout=200)
        killer.cancel()
    if "the aggregation tree failed while its result" not in run.err and "came to do its work" not in run.err:
        assert passed(run) == 8
