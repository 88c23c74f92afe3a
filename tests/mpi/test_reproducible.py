"""ESPALIER_REPRODUCIBLE: the bits of reductions, wherever ranks are, against what each level promises."""

import os
import re
import subprocess
import sys

import algorithms
import hosts
import pytest

pytestmark = pytest.mark.needs_espalier

PROGRAM = hosts.SOURCES / "reproducible.py"
LEVELS = ["placement", "exact"]
# Hosts, ranks, pretended nodes.
STANDARD = [("mpich", 4, ""), ("mpich", 5, "3+2"), ("mpich", 6, "3:cyclic"), ("openmpi", 3, ""), ("impi", 4, "4")]
FULL = [(host, ranks, nodes) for host in hosts.THREE
        for ranks, nodes in [(2, ""), (2, "2"), (7, ""), (7, "3+1+3"), (8, "2:cyclic"), (13, "4"), (16, ""), (16, "4:cyclic")]]
CASES = STANDARD + [pytest.param(*case, marks=[pytest.mark.full, pytest.mark.slow]) for case in FULL]


def run(launch, host, ranks, nodes, level, *lengths, **settings):
    """The results' hash."""
    host = hosts.HOSTS[host]
    env = {"ESPALIER_REPRODUCIBLE": level, "ESPALIER_FALLBACK": "error", **settings}
    if nodes:
        env["ESPALIER_NODES"] = nodes
    done = launch(host, ranks, host.python, PROGRAM, level, *map(str, lengths), env=env, timeout=200)
    assert done.status == 0, str(done)
    total = re.search(r"^reproducible: (\d+) results are right, (\w+)$", done.out, re.M)
    assert total and int(total[1]) > 0, str(done)
    return total[2]


@pytest.mark.alone
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("host, ranks, nodes", CASES)
def test_bits_are_those_of_the_level(launch, host, ranks, nodes, level):
    run(launch, host, ranks, nodes, level)


@pytest.mark.alone
@pytest.mark.full
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("nodes", ["", "4:cyclic"])
def test_long_vectors(launch, level, nodes):
    run(launch, "mpich", 4, nodes, level, 100_000, 1_000_000)


@pytest.mark.full
@pytest.mark.parametrize("scope", ["node", "network"])
def test_no_algorithm_changes_a_bit(launch, scope):
    nodes = "" if scope == "node" else "2+3"
    prefix = "ESPALIER_" if scope == "node" else "ESPALIER_NETWORK_"
    right = run(launch, "mpich", 5, nodes, "placement", 33, 5000)
    for collective, algorithm in algorithms.pairs(scope, without=("sharp",)):
        setting = {prefix + collective.upper(): algorithm}
        assert run(launch, "mpich", 5, nodes, "placement", 33, 5000, **setting) == right, setting


# The host folds in orders of its own; so it may move vectors, and no more.
@pytest.mark.alone
@pytest.mark.parametrize("setting", [{"ESPALIER_SHM": "64KiB"}, {"ESPALIER_NETWORK_ALLGATHER": "host", "ESPALIER_NODES": "2"}],
                         ids=["no memory", "a rule"])
def test_what_espalier_cannot_move_the_host_moves(launch, setting):
    # (The program counts in integers, which are the host's then.)
    run(launch, "mpich", 4, "", "exact", 3, 100, ESPALIER_FALLBACK="silent", **setting)


def test_statistics_say_that_the_host_moved_the_vectors(launch, statistics):
    env = {"ESPALIER_NODES": "2", **statistics.env}
    run(launch, "mpich", 4, "", "exact", 3, **env)
    rows = statistics.read()["rows"]
    algorithms_of = {row["algorithm"] for row in rows if row["collective"] == "allreduce" and row["calls"]}
    assert "gather-all" in algorithms_of, rows
    reasons = [row["fallback"] or "" for row in rows if row["collective"] == "allreduce"]
    assert any("Espalier folds" in reason for reason in reasons), rows


@pytest.mark.parametrize("host, ranks, nodes", [("mpich", 3, ""), ("openmpi", 4, "2")])
def test_arrays_of_numpy(launch, host, ranks, nodes):
    host = hosts.HOSTS[host]
    env = {"PYTHONPATH": str(hosts.REPOSITORY / "python"), **({"ESPALIER_NODES": nodes} if nodes else {})}
    done = launch(host, ranks, host.python, hosts.SOURCES / "exact_arrays.py", env=env)
    assert done.status == 0 and "the same sum for every division" in done.out, str(done)


def test_the_same_bits_for_any_placement_and_host(launch):
    for level in LEVELS:
        hashes = {run(launch, host, 4, nodes, level, 7, 100) for host, nodes in
                  [("mpich", ""), ("mpich", "2:cyclic"), ("mpich", "4"), ("openmpi", "3+1")]}
        assert len(hashes) == 1, level


def launch_placements(launch, level, told, nodes="2+3", ranks=5):
    env = {"ESPALIER_REPRODUCIBLE": told, "ESPALIER_NODES": nodes}
    done = launch(hosts.HOSTS["mpich"], ranks, "placements", level, 1, "4:1", "4:33", "1:5000", env=env)
    said = re.search(r"^placements: (\d+) results are right, (\d+) wrong, digest (\w+)$", done.out, re.M)
    assert done.status == 0 and said and int(said[1]) > 0, str(done)
    return int(said[2])


@pytest.mark.parametrize("ranks, nodes", [(5, "2+3"), (2, "1+1")])
@pytest.mark.parametrize("level", LEVELS)
def test_ranks_in_many_orders_on_the_nodes(launch, level, ranks, nodes):
    """Cells of tools/placements.py. Two ranks give each other less than a whole vector, unless the host moves it."""
    assert launch_placements(launch, level, level, nodes, ranks) == 0


def test_orders_on_the_nodes_show_without_a_level(launch):
    assert launch_placements(launch, "placement", "run") > 0


@pytest.mark.alone
@pytest.mark.full
@pytest.mark.slow
def test_a_sample_of_all_placements(tmp_path):
    """Cells of the matrix for three minutes."""
    env = {**os.environ, "PYTHONPATH": f"{hosts.REPOSITORY}/python:{hosts.REPOSITORY}/tools"}
    command = [sys.executable, "-m", "placements", "--seconds", "180", "--ranks", "2,3,5,8", "--state", str(tmp_path)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=1500)
    assert done.returncode == 0 and "no two cells differ in a bit" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize("nodes", [[], ["--nodes", "4"]], ids=["node", "nodes"])
def test_explain_says_the_level_and_the_plan(nodes):
    command = [str(hosts.REPOSITORY / "bin" / "espalier"), "explain", "allreduce", "8", "-n", "8", *nodes]
    said = {}
    for level in ("run", "exact"):
        env = {**os.environ, "ESPALIER_REPRODUCIBLE": level}
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
        said[level] = " ".join(done.stdout.split())
    assert "ESPALIER_REPRODUCIBLE=exact" in said["exact"] and "ESPALIER_REPRODUCIBLE" not in said["run"]
