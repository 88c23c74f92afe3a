"""ESPALIER_GUARD: calls whose result does not depend on who serves them are tried by the host, too, and are the host's where it
is faster. Whichever serves, the results are right, and the statistics say which did."""

from pathlib import Path

import hosts
import pytest

pytestmark = pytest.mark.needs_espalier

# Each step of 64 bytes waits for the last one to be read: some hundred times as long as the host's bcast.
SLOW_BCAST = {"ESPALIER_BCAST": "tree", "ESPALIER_CHUNK": "64", "ESPALIER_SLOTS": "1"}
STRICT = {"ESPALIER_FALLBACK": "error"}  # which is not of the host's calls that the guard wants


def right(run):
    assert run.status == 0 and "tried: right" in run.out, str(run)


def calls(statistics, collective, transport):
    """How many, with the reasons."""
    rows = [row for row in statistics.read()["rows"] if row["collective"] == collective and row["transport"] == transport]
    return sum(row["calls"] for row in rows), [row["fallback"] or "" for row in rows]


@pytest.mark.parametrize("name, ranks", [("mpich", 2), ("mpich", 4), ("openmpi", 3), ("impi", 4)])
def test_results_are_right_whatever_serves(launch, name, ranks, statistics):
    env = {"ESPALIER_GUARD": "all", **STRICT, **statistics.env}
    right(launch(hosts.HOSTS[name], ranks, "tried", "250", env=env, timeout=120))
    for collective in ("bcast", "allreduce", "scan", "allgather", "gather", "scatter", "alltoall", "gatherv", "barrier"):
        by_host, reasons = calls(statistics, collective, "host")
        assert by_host >= 8 and all("ESPALIER_GUARD" in reason for reason in reasons), (collective, by_host, reasons)
        assert calls(statistics, collective, "shared memory")[0] >= 8, collective


@pytest.mark.parametrize("nodes", ["2", "1+2"])
def test_over_nodes(launch, nodes, statistics):
    env = {"ESPALIER_GUARD": "on", "ESPALIER_NODES": nodes, **STRICT, **statistics.env}
    right(launch(hosts.HOSTS["mpich"], 3, "tried", "250", env=env, timeout=120))
    for collective in ("bcast", "allreduce", "alltoall"):
        assert calls(statistics, collective, "host")[0] >= 8, collective


def test_the_host_gets_what_it_does_faster(launch, host, statistics):
    env = {"ESPALIER_GUARD": "on", **SLOW_BCAST, **STRICT, **statistics.env}
    right(launch(host, 2, "tried", "400", str(1 << 20), "bcast", env=env, timeout=240))
    by_host, reasons = calls(statistics, "bcast", "host")
    by_espalier, _ = calls(statistics, "bcast", "shared memory")
    assert by_host > 200 and by_espalier < 200, (by_host, by_espalier)
    assert any("found the host faster" in reason for reason in reasons), reasons


def test_so_many_calls_later_it_is_tried_again(launch, statistics):
    """A trial has Espalier serve 80 calls at most, so more of them are those of another one."""
    env = {"ESPALIER_GUARD": "on", **SLOW_BCAST, **STRICT, **statistics.env}
    right(launch(hosts.HOSTS["mpich"], 2, "tried", "20500", "4096", "bcast", env=env, timeout=240))
    by_host, _ = calls(statistics, "bcast", "host")
    by_espalier, _ = calls(statistics, "bcast", "shared memory")
    assert by_host + by_espalier == 20_500 and by_espalier > 100, (by_host, by_espalier)


@pytest.mark.parametrize("name, ranks", [("mpich", 4), ("openmpi", 2)])
def test_ranks_agree_in_rows_of_mixed_kinds(launch, name, ranks, statistics):
    """Each kind is on trial at another time, and where ranks disagreed who serves a call it would not end."""
    env = {"ESPALIER_GUARD": "on", **STRICT, **statistics.env}
    right(launch(hosts.HOSTS[name], ranks, "tried", "4000", "4096", "mixed", env=env, timeout=120))
    for collective in ("bcast", "allreduce", "alltoall", "gatherv", "barrier"):
        by_host, reasons = calls(statistics, collective, "host")
        assert by_host >= 8 and all("ESPALIER_GUARD" in reason for reason in reasons), (collective, by_host, reasons)


def test_floating_point_is_tried_only_if_asked(launch, statistics):
    for setting, level, tried in (("on", "run", False), ("all", "run", True), ("all", "placement", False)):
        env = {"ESPALIER_GUARD": setting, "ESPALIER_REPRODUCIBLE": level, **statistics.env}
        right(launch(hosts.HOSTS["mpich"], 2, "tried", "100", "64", "doubles", env=env))
        assert (calls(statistics, "allreduce", "host")[0] > 0) == tried, setting


def test_off_by_default(launch, statistics):
    right(launch(hosts.HOSTS["mpich"], 2, "tried", "100", env={**STRICT, **statistics.env}))
    assert calls(statistics, "allreduce", "host")[0] == calls(statistics, "barrier", "host")[0] == 0


def test_one_rank_alone_is_asked_to_guard(launch):
    """As with every agreed key: nothing is tried by some alone."""
    host = hosts.HOSTS["mpich"]
    script = f'[ "$PMI_RANK" = 0 ] && export ESPALIER_GUARD=on; exec "{hosts.program(host, "tried")}" 100'
    run = launch(host, 2, Path("/bin/sh"), "-c", script, env={"ESPALIER_FALLBACK": "warn"})
    right(run)
    assert "settings differ" in run.err, str(run)
