"""What the host's progress owes to a program whose collectives Espalier serves: messages that were sent before one are seen
behind it, and ranks that wait in one do not sleep while others may need them."""

import re

import hosts
import pytest

STRICT = {"ESPALIER_FALLBACK": "error"}
STANDARD = ["mpich-abi", "impi-abi"]
DEBIAN = ["debian-mpich", "debian-openmpi"]


def usable(name):
    host = hosts.HOSTS[name]
    if reason := hosts.missing(host):
        pytest.fail(reason)
    return host


def none_failed(run, name):
    assert run.status == 0, str(run)
    assert re.search(rf"^{re.escape(name)}.*\b0 failed$", run.out, re.M), f"no line that says so\n{run}"


@pytest.mark.every_host
@pytest.mark.needs_espalier  # the shared-memory barriers of MPICH and Intel MPI hide messages, too
@pytest.mark.parametrize("ranks, messages, level", [(2, 1, "single"), (2, 1, "multiple"), (2, 8, "multiple"),
                                                    (4, 1, "multiple")])
def test_the_first_ask_behind_a_collective_sees_what_was_sent_before(launch, host, ranks, messages, level):
    none_failed(launch(host, ranks, "asked_after_collective", messages, level, env=STRICT), "asked_after_collective")


@pytest.mark.needs_espalier
@pytest.mark.parametrize("name", STANDARD)
def test_the_first_ask_under_other_builds(launch, name):
    none_failed(launch(hosts.HOSTS[name], 2, "asked_after_collective", 1, "single", env=STRICT), "asked_after_collective")


@pytest.mark.needs_espalier
@pytest.mark.parametrize("name", DEBIAN)
@pytest.mark.parametrize("program", ["asked", "asked_f08"])
def test_the_first_ask_from_fortran(launch, name, program):
    none_failed(launch(usable(name), 2, program, env=STRICT), program)


def sleeps(launch, host, ranks, kind, statistics, program="window_open"):
    none_failed(launch(host, ranks, program, kind, env={**STRICT, **statistics.env}), program)
    rows = [row for row in statistics.read()["rows"] if row["collective"] == "barrier"]
    assert sum(row["wait"]["progress"] for row in rows) > 0
    return sum(row["wait"]["sleep"] for row in rows)


@pytest.mark.every_host
@pytest.mark.needs_espalier
@pytest.mark.parametrize("kind, ranks", [("create", 2), ("create", 4), ("allocate", 2), ("shared", 2), ("dynamic", 2)])
def test_a_rank_with_a_window_does_not_sleep_in_a_collective(launch, host, ranks, kind, statistics):
    assert sleeps(launch, host, ranks, kind, statistics) == 0


@pytest.mark.needs_espalier
@pytest.mark.parametrize("kind", ["none", "freed"])
def test_a_rank_without_a_window_sleeps(launch, host, kind, statistics):
    assert sleeps(launch, host, 4, kind, statistics) > 0


@pytest.mark.needs_espalier
@pytest.mark.parametrize("kind", ["send", "receive"])
@pytest.mark.parametrize("name", ["mpich", "impi"])  # Open MPI needs no more than the usual progress
def test_a_rank_with_a_long_message_on_its_way_does_not_sleep(launch, name, kind, statistics):
    assert sleeps(launch, hosts.HOSTS[name], 4, kind, statistics, "message_pending") == 0


@pytest.mark.needs_espalier
@pytest.mark.parametrize("name, kind", [
    pytest.param(name, kind, marks=[pytest.mark.full] * (name != "mpich" and kind not in ("short", "waitsome", "test")))
    for name in hosts.THREE
    for kind in ("short", "wait", "waitall", "waitany", "waitsome", "test", "testall", "testany", "testsome")])
def test_a_rank_whose_messages_are_short_or_complete_sleeps(launch, name, kind, statistics):
    assert sleeps(launch, hosts.HOSTS[name], 4, kind, statistics, "message_pending") > 0


@pytest.mark.parametrize("name", ["mpich", "impi"])  # Open MPI takes no null datatype
def test_a_message_from_no_rank_may_have_no_datatype(launch, name):
    none_failed(launch(hosts.HOSTS[name], 2, "message_pending", "null"), "message_pending")
