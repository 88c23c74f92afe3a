"""Pretended nodes where something is missing: a node without shared memory, a rule that says host, a text that says nothing."""

import re

import hosts
import pytest

pytestmark = pytest.mark.needs_espalier

TRANSPORT = "shared memory and messages"


def settings(nodes, **more):
    return {"ESPALIER_NODES": nodes, **more}


def passed(run, least=100):
    assert run.status == 0, str(run)
    line = re.search(r"^(\d+) passed, 0 failed, (\d+) ranks$", run.out, re.M)
    assert line and int(line[1]) >= least, f"no line that says what passed\n{run}"
    return re.search(r"^digest ([0-9a-f]{16})$", run.out, re.M)[1]


def ran(statistics, ranks):
    """(collective, algorithm) of every call of MPI_COMM_WORLD that spanned nodes."""
    data = statistics.read()
    world = {entry["id"] for entry in data["communicators"] if entry["size"] == ranks}
    return {(row["collective"], row["algorithm"]) for row in data["rows"]
            if row["calls"] and row["transport"] == TRANSPORT and row["communicator"] in world}


def full(*values):
    return pytest.param(*values, marks=pytest.mark.full)


@pytest.mark.parametrize("algorithm", ["chain", "recursive-doubling"])
def test_scans_of_mixed_ranks_take_another_algorithm(launch, algorithm, statistics):
    """These two need a node's ranks to follow on each other; told to run on others, they are passed over."""
    keys = {"ESPALIER_NETWORK_SCAN": algorithm, "ESPALIER_NETWORK_EXSCAN": algorithm}
    passed(launch(hosts.HOSTS["mpich"], 5, "checked", "--only", "prefixes", env=settings("2:cyclic", **keys, **statistics.env)))
    scans = {algorithm for collective, algorithm in ran(statistics, 5) if collective in ("scan", "exscan")}
    assert scans and scans <= {"gather-all", "transpose"}


@pytest.mark.parametrize("budget", ["1MiB", full("100KiB")])
def test_a_node_without_shared_memory(launch, budget, statistics):
    """The larger node's budget does not hold a communicator, or the smaller one's neither: messages serve there."""
    passed(launch(hosts.HOSTS["mpich"], 6, "checked", "--only", "barrier,roots,sizes,in_place,identity",
                  env=settings("2+4", ESPALIER_SHM=budget, ESPALIER_FALLBACK="error", ESPALIER_LEADERS="all", **statistics.env)))
    assert {collective for collective, _ in ran(statistics, 6)} >= {"barrier", "bcast", "reduce", "allreduce"}


def test_nodes_of_one_size_without_shared_memory(launch):
    """A budget in which an arena does not even begin: the ranks of each node know nothing of each other's cores."""
    passed(launch(hosts.HOSTS["mpich"], 4, "checked", "--only", "barrier,blocks",
                  env=settings("2", ESPALIER_SHM="600KiB", ESPALIER_FALLBACK="error")))


def test_an_allgather_that_the_budget_does_not_hold(launch):
    """The nodes cannot put it together in shared memory, and have lost what they had for shorter ones in the attempt."""
    run = launch(hosts.HOSTS["mpich"], 4, "allgather_sizes", 16384, 4194304, 16384, 1000, 4194304, 16384,
                 env=settings("2", ESPALIER_SHM="2MiB", ESPALIER_FALLBACK="error"))
    assert run.status == 0 and "allgather_sizes: 0 failed" in run.out, str(run)


@pytest.mark.parametrize("rule", ["ESPALIER_NETWORK_BCAST", "ESPALIER_NETWORK_REDUCE", "ESPALIER_NETWORK_ALLREDUCE"])
def test_a_collective_may_be_left_to_the_host(launch, rule, statistics):
    """The others go on, whatever they are made of; in place nothing may be half done when the host begins."""
    passed(launch(hosts.HOSTS["mpich"], 4, "checked", "--only", "user_operators,in_place,roots",
                  env=settings("2", **{rule: "host"}, **statistics.env)))
    left = rule.removeprefix("ESPALIER_NETWORK_").lower()
    taken = {collective for collective, _ in ran(statistics, 4)}
    assert left not in taken and {"bcast", "reduce", "allreduce"} - {left} <= taken


def test_all_hosts_give_the_same_bits(launch):
    digests = {passed(launch(hosts.HOSTS[name], 5, "checked", "--only", "identity", env=settings("2+1"))) for name in hosts.THREE}
    assert len(digests) == 1, f"digests {digests}"


def test_nodes_that_cannot_be_read_are_named(launch):
    run = launch(hosts.HOSTS["mpich"], 2, "checked", "--only", "barrier", env={"ESPALIER_NODES": "three"})
    passed(run, 1)
    assert run.err.count("ESPALIER_NODES=three is not a number of nodes") == 1, str(run)
