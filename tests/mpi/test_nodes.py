"""Collectives across nodes that are only pretended (ESPALIER_NODES), so that they need no rights. Real ones: tests/cluster."""

from pathlib import Path

import algorithms
import hosts
import pytest
from test_checked import passed

# What Espalier serves across nodes, so the host is forbidden.
SERVED = "barrier,roots,sizes,zero,in_place,operators,pairs,user_operators,derived,blocks,derived_blocks,prefixes,communicators,interleaved,random,identity"
SHORT = "barrier,roots,in_place,pairs,user_operators,blocks,prefixes,identity"
LAYOUTS = [(4, "2"), (7, "3+1+3"), (8, "4:cyclic")]
ACROSS = hosts.SPANNING

pytestmark = pytest.mark.needs_espalier


def check(launch, host, layout, subjects=SERVED, **settings):
    ranks, nodes = layout
    without = ["--without", "MPI_REAL16,MPI_COMPLEX32"] if host.kind == "intel" else []
    env = {"ESPALIER_NODES": nodes, "ESPALIER_FALLBACK": "error", **settings}
    return passed(launch(host, ranks, "checked", "--only", subjects, *without, env=env, timeout=150))


def ran(statistics, collective):
    """The algorithms that served a collective between nodes."""
    rows = statistics.read()["rows"]
    return {row["algorithm"] for row in rows
            if row["collective"] == collective and row["calls"] and row["transport"] == "shared memory and messages"}


@pytest.mark.alone
@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout[1])
def test_every_result_is_right(launch, layout, statistics):
    check(launch, hosts.HOSTS["mpich"], layout, **statistics.env)
    assert all(ran(statistics, collective) for collective in ACROSS)


@pytest.mark.alone
@pytest.mark.parametrize("name", [pytest.param("openmpi", marks=pytest.mark.full), "impi"])
def test_results_are_right_under_every_host(launch, name, statistics):
    check(launch, hosts.HOSTS[name], (7, "3+1+3"), **statistics.env)
    assert all(ran(statistics, collective) for collective in ACROSS)


@pytest.mark.alone
@pytest.mark.parametrize("layout", [(16, "8"), (5, "5"), pytest.param((16, "4:cyclic"), marks=pytest.mark.full)],
                         ids=lambda layout: layout[1])
def test_more_nodes(launch, layout):
    check(launch, hosts.HOSTS["mpich"], layout, SHORT)


# Windows and aggregation nodes: test_windows.py, test_sharp.py.
@pytest.mark.parametrize("chosen", algorithms.rounds("network", hosts.SPANNING, without=("notified-ring", "sharp")),
                         ids=lambda chosen: chosen["allreduce"])
def test_every_algorithm_between_nodes(launch, chosen, statistics):
    """Those of all collectives at once, by small segments, so that many are under way."""
    check_chosen(launch, (5, "2+1+2"), chosen, "barrier,roots,in_place,identity,blocks,prefixes", statistics)


@pytest.mark.parametrize("algorithm", ["gather-all", "transpose"])
def test_scans_where_the_ranks_of_nodes_are_mixed(launch, algorithm, statistics):
    check_chosen(launch, (6, "3:cyclic"), {"scan": algorithm, "exscan": algorithm}, "in_place,prefixes", statistics)


def check_chosen(launch, layout, chosen, subjects, statistics):
    forced = {f"ESPALIER_NETWORK_{name.upper()}": algorithm for name, algorithm in chosen.items()}
    check(launch, hosts.HOSTS["mpich"], layout, subjects, **forced, ESPALIER_SEGMENT="4000", **statistics.env)
    assert {name: ran(statistics, name) for name in chosen} == {name: {algorithm} for name, algorithm in chosen.items()}


SETTINGS = [{"ESPALIER_NODE_STAGE": "p2p"}, {"ESPALIER_LEADERS": "all"}, {"ESPALIER_LEADERS": "2"},
            {"ESPALIER_NETWORK_TREE": "chain"}, {"ESPALIER_WAIT": "sleep"}]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("layout", [(5, "3+2"), *(pytest.param(layout, marks=pytest.mark.full)
                                                 for layout in ((7, "3+1+3"), (8, "4:cyclic")))], ids=lambda layout: layout[1])
def test_settings(launch, layout, settings):
    check(launch, hosts.HOSTS["mpich"], layout, SHORT, **settings)


def test_messages_only_on_one_node(launch, statistics):
    """HIER's own setting also where all ranks share a node."""
    check(launch, hosts.HOSTS["mpich"], (4, "1"), SHORT, ESPALIER_NODE_STAGE="p2p", **statistics.env)
    assert all(ran(statistics, collective) for collective in ACROSS)


@pytest.mark.parametrize("name", ["mpich", *(pytest.param(name, marks=pytest.mark.full) for name in ("openmpi", "impi"))])
def test_equal_bits_in_every_run(launch, name):
    host = hosts.HOSTS[name]
    digests = {check(launch, host, (7, "3+1+3"), "identity,roots") for _ in range(3)}
    assert len(digests) == 1, f"digests {digests}"


def test_one_rank_alone_wants_messages(launch):
    """Opening what carries them takes all ranks; settings that differ send every call to the host, and hang no rank."""
    host = hosts.HOSTS["mpich"]
    script = f'[ "$PMI_RANK" = 0 ] && export ESPALIER_NODE_STAGE=p2p; exec "{hosts.program(host, "checked")}" --only roots'
    run = launch(host, 3, Path("/bin/sh"), "-c", script, env={"ESPALIER_FALLBACK": "warn"}, timeout=120)
    passed(run)
    assert "settings differ" in run.err, str(run)


def test_what_goes_through_one_nodes_memory_is_the_hosts(launch, statistics):
    """All ranks leave it to the host, which is right, and say why; the policy may forbid it."""
    env = {"ESPALIER_NODES": "2", "ESPALIER_FALLBACK": "warn", **statistics.env}
    run = launch(hosts.HOSTS["mpich"], 4, "checked", "--only", "alltoallw,neighbours", env=env)
    passed(run)
    why = "its ranks are on several nodes"
    assert "MPI_Alltoallw goes to the host MPI: " + why in run.err, str(run)
    left = {row["collective"] for row in statistics.read()["rows"] if why in (row["fallback"] or "")}
    assert left == set(hosts.COLLECTIVES) - set(hosts.SPANNING)
    run = launch(hosts.HOSTS["mpich"], 4, "checked", "--only", "alltoallw", env={**env, "ESPALIER_FALLBACK": "error"})
    assert run.status != 0 and "MPI_Alltoallw is not served by Espalier: " + why in run.err, str(run)


@pytest.mark.full
@pytest.mark.parametrize("nodes", ["2", "3+1+3", "4:cyclic", "16"])
def test_the_whole_checked_run(launch, host, nodes):
    env = {"ESPALIER_NODES": nodes}
    # Intel MPI's own neighbours on a ring of one or two ranks are not those of MPI 4.1 (docs/neighbours.md).
    env |= {"CHECKED_CARTS": "long"} if host.kind == "intel" else {}
    without = ["--without", "MPI_REAL16,MPI_COMPLEX32"] if host.kind == "intel" else []
    # The hosts serve the rest. On 16 ranks the alltoallw of both others is wrong by itself, and the neighbours of Open MPI.
    rest = {"mpich": ",alltoallw,neighbours,count_forms", "impi": ",neighbours,count_forms", "openmpi": ",count_forms"}
    passed(launch(host, 16, "checked", "--only", SERVED + rest[host.name], *without, env=env, timeout=200))
