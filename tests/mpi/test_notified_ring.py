"""The notified ring (NOTIFY II and III) of allgather, allgatherv and allreduce, and the notified dissemination of allreduce, over nodes that
are pretended. Real ones: tests/cluster."""

import os

import hosts
import pytest
from test_checked import passed

pytestmark = pytest.mark.needs_espalier

SUBJECTS = "blocks,sizes" if os.environ.get("ESPALIER_TEST_FULL") == "1" else "blocks,in_place"
SERVED = ("allgather", "allgatherv", "allreduce")
RING = {f"ESPALIER_NETWORK_{name.upper()}": "notified-ring" for name in SERVED}
DISSEMINATION = {"ESPALIER_NETWORK_ALLREDUCE": "notified-dissemination"}
CARRIED = [("mpich", "message"), ("impi", "notify")] + [
    pytest.param(*rest, marks=pytest.mark.full) for rest in (("openmpi", "message"), ("mpich", "rma"), ("openmpi", "rma"), ("impi", "message"), ("impi", "rma"))]


def check(launch, statistics, name="mpich", ranks=7, nodes="3+1+3", subjects=SUBJECTS, **settings):
    """The rows of the statistics that are about these three, between nodes."""
    env = {"ESPALIER_NODES": nodes, "ESPALIER_FALLBACK": "error", "ESPALIER_SEGMENT": "1000", **RING, **statistics.env, **settings}
    passed(launch(hosts.HOSTS[name], ranks, "checked", "--only", subjects, env=env, timeout=150))
    return [row for row in statistics.read()["rows"] if row["collective"] in SERVED and row["calls"]
            and row["transport"] == "shared memory and messages"]


def algorithms(rows):
    assert {row["collective"] for row in rows} == set(SERVED)
    return {row["algorithm"] for row in rows}


@pytest.mark.parametrize("name, kind", CARRIED)
def test_every_transport_under_every_host(launch, statistics, name, kind):
    rows = check(launch, statistics, name, ESPALIER_WINDOW_TRANSPORT=kind)
    assert algorithms(rows) == {"notified-ring"} and not any(row["passed_over"] for row in rows)


@pytest.mark.parametrize("ranks, nodes, settings", [
    pytest.param(6, "3:cyclic", {"ESPALIER_LEADERS": "all"}, marks=pytest.mark.full),
    pytest.param(8, "8", {}, marks=pytest.mark.full),
    pytest.param(7, "3+1+3", {"ESPALIER_WAIT": "sleep"}, marks=pytest.mark.full),
    pytest.param(7, "3+1+3", {"ESPALIER_LEADERS": "2", "ESPALIER_SEGMENT": "100000"}, marks=pytest.mark.full)])
def test_other_nodes_and_settings(launch, statistics, ranks, nodes, settings):
    assert algorithms(check(launch, statistics, "mpich", ranks, nodes, **settings)) == {"notified-ring"}


@pytest.mark.full
@pytest.mark.parametrize("name, kind", [("mpich", "message"), ("openmpi", "message"), ("impi", "notify"), ("openmpi", "rma")])
def test_communicators_come_and_go(launch, statistics, name, kind):
    """Each has a window of its own, which goes with it."""
    rows = check(launch, statistics, name, subjects="communicators,interleaved,blocks,operators,pairs,in_place", ESPALIER_WINDOW_TRANSPORT=kind)
    assert algorithms(rows) <= {"notified-ring", "tree"}  # which user-defined operators go up


@pytest.mark.parametrize("name, kind", CARRIED)
@pytest.mark.parametrize("ranks, nodes, leaders", [(7, "3+1+3", "1"), (6, "2", "all"), pytest.param(7, "7", "1", marks=pytest.mark.full)])
def test_dissemination_through_windows(launch, statistics, name, kind, ranks, nodes, leaders):
    """NOTIFY III for short vectors. Long ones of many nodes are more than a window holds."""
    rows = check(launch, statistics, name, ranks, nodes, ESPALIER_WINDOW_TRANSPORT=kind, ESPALIER_LEADERS=leaders, **DISSEMINATION)
    rows = [row for row in rows if row["collective"] == "allreduce"]
    too_long = [row for row in rows if "more than goes through a window" in (row["passed_over"] or "")]
    assert all(row["algorithm"] == "dissemination" and row["bytes_from"] * ranks > 1 << 20 for row in too_long), too_long
    rows = [row for row in rows if row not in too_long]
    assert {row["algorithm"] for row in rows} == {"notified-dissemination"}, rows
    assert not any(row["passed_over"] for row in rows), rows


@pytest.mark.parametrize("settings, why", [
    pytest.param({"ESPALIER_NODE_STAGE": "p2p"}, "share no memory", id="p2p", marks=pytest.mark.full),
    pytest.param({"ESPALIER_SHM": "2MiB"}, "shared-memory budget", id="budget")])
def test_without_a_window_it_is_a_ring_of_messages(launch, statistics, settings, why):
    """And the statistics say why."""
    rows = check(launch, statistics, ranks=4, nodes="2", **settings)
    assert "ring" in algorithms(rows)
    assert all(why in row["passed_over"] for row in rows if row["algorithm"] == "ring")


@pytest.mark.parametrize("gibibytes, settings, why", [
    pytest.param("0.002", {"ESPALIER_SHM": "2MiB"}, "shared-memory budget", id="budget"),
    pytest.param("0.02", {}, "at once are more than goes through a window", id="too long")])
def test_without_room_it_is_a_dissemination_of_messages(launch, statistics, gibibytes, settings, why):
    env = {"ESPALIER_NODES": "2", "ESPALIER_FALLBACK": "error", **DISSEMINATION, **settings, **statistics.env}
    run = launch(hosts.HOSTS["mpich"], 4, "large", gibibytes, env=env)
    assert run.status == 0, str(run)
    rows = [row for row in statistics.read()["rows"] if row["collective"] == "allreduce" and row["calls"]]
    assert {row["algorithm"] for row in rows} == {"dissemination"} and all(why in row["passed_over"] for row in rows), rows


@pytest.mark.parametrize("name", ["mpich", pytest.param("openmpi", marks=pytest.mark.full), pytest.param("impi", marks=pytest.mark.full)])
def test_a_ring_that_fails(launch, name):
    """The network breaks down in the fifth call: every rank hears of it, the communicator's window is never used again and keeps no rank from
    going, and a new communicator has a ring of its own."""
    host = hosts.HOSTS[name]
    env = {"ESPALIER_NODES": "2", "ESPALIER_FALLBACK": "error", "ESPALIER_WINDOW_TRANSPORT": "message", **RING}
    outcome = launch(host, 2, "errors_returned", 5, env=env, timeout=120, library=f"{host.library}:{hosts.preloadable(host, 'failing_sends')}")
    assert outcome.status == 0, str(outcome)
    assert set(outcome.out.splitlines()) == {f"rank {rank}: error, then error, new communicator works" for rank in range(2)}, str(outcome)
    assert "the host's MPI_Isend with process" in outcome.err and "make a new communicator" in outcome.err, str(outcome)
