"""What a rank sends to another is compared with what that one expects. More is an error of class MPI_ERR_TRUNCATE which names
both, less is delivered, as hosts do; nothing hangs, and nothing is written beyond what was sent."""

import re

import hosts
import pytest

pytestmark = pytest.mark.needs_espalier

STRICT = {"ESPALIER_FALLBACK": "error"}
TO_ALL = ["alltoallv", "alltoallw", "neighbor_allgatherv", "neighbor_alltoallv", "neighbor_alltoallw"]
CALLS = ["gatherv", "scatterv", *TO_ALL]


def full(*values):
    return pytest.param(*values, marks=pytest.mark.full)


# Lengths are compared above the host: all of them under one, and under the others what has a fixture of three hosts.
ONE_HOST = pytest.mark.parametrize("name_of_host", ["mpich", full("openmpi"), full("impi")])
# In flag lines; a line and a slot; in a slot, by less than a line of the cache; in several chunks, as many and more.
LENGTHS = [(16, 32), (16, 1000), (1000, 1010), (100000, 200000), full(1000000, 1000010)]
# Two ranks go by what moves either way: these lengths lead to one and the same.
SAME_WAY = [(16, 32), (1000, 1010)]


def ends(run, ranks):
    found = re.findall(r"rank (\d): (no error|truncated|error), then (no error|error), new communicator works", run.out)
    assert run.status == 0 and len(found) == ranks, str(run)
    return {int(rank): (call, later) for rank, call, later in found}


def receiver(name, ranks):
    return 1 if name == "scatterv" else 2 % ranks if name.startswith("neighbor") else 0


@pytest.mark.by_turns("ranks")
@ONE_HOST
@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("expected, sent", LENGTHS)
@pytest.mark.parametrize("name", CALLS)
def test_more_is_truncated(launch, name_of_host, name, expected, sent, ranks):
    run = launch(hosts.HOSTS[name_of_host], ranks, "lengths", name, sent, expected, env=STRICT, timeout=60)
    end = ends(run, ranks)
    assert end[receiver(name, ranks)][0] == "truncated" and {later for _, later in end.values()} == {"error"}, str(run)
    assert re.search(rf"rank \d sends {sent} bytes to rank \d, which expects {expected};", run.err), str(run)
    assert "; 0 bytes, 0 spoilt" in run.out, str(run)


def delivered(run, ranks, sent):
    assert set(ends(run, ranks).values()) == {("no error", "no error")}, str(run)
    assert f"; {sent} bytes, 0 spoilt" in run.out, str(run)


@ONE_HOST
@pytest.mark.parametrize("sent, expected", LENGTHS)
@pytest.mark.parametrize("name", CALLS)
def test_less_is_delivered(launch, name_of_host, name, sent, expected):
    delivered(launch(hosts.HOSTS[name_of_host], 3, "lengths", name, sent, expected, env=STRICT, timeout=60), 3, sent)


@pytest.mark.parametrize("name, sent, expected", [
    *((name, *lengths) for name in ("gatherv", "scatterv") for lengths in ((16, 32), (16, 1000), (16, 100000), (100000, 200000))),
    *((name, *lengths) for name in TO_ALL for lengths in SAME_WAY)])
def test_less_is_delivered_among_two(launch, host, name, sent, expected):
    delivered(launch(host, 2, "lengths", name, sent, expected, env=STRICT, timeout=60), 2, sent)


@pytest.mark.parametrize("sent, expected", [(16, 1000), (100000, 200000), (200000, 200010)])
@pytest.mark.parametrize("name", ["alltoallv", "neighbor_alltoallw"])
def test_two_ranks_that_go_different_ways(launch, host, name, sent, expected):
    run = launch(host, 2, "lengths", name, sent, expected, env=STRICT, timeout=60)
    end = ends(run, 2)
    assert "error" in {call for call, _ in end.values()} and {later for _, later in end.values()} == {"error"}, str(run)


@pytest.mark.by_turns("ranks")
@ONE_HOST
@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("sent, expected", [(0, 32), (0, 1000), (0, 200000)])
@pytest.mark.parametrize("name", CALLS)
def test_nothing_where_something_is_expected(launch, name_of_host, name, sent, expected, ranks):
    """It is delivered, too, or an error: no rank waits for ever, and none reads what was never written."""
    run = launch(hosts.HOSTS[name_of_host], ranks, "lengths", name, sent, expected, env=STRICT, timeout=60)
    end = ends(run, ranks)
    assert "; 0 bytes, 0 spoilt" in run.out, str(run)
    assert {later for _, later in end.values()} == {"no error"} or "error" in {each for pair in end.values() for each in pair}


@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("sent, expected", [(32, 16), (16, 0), (200000, 100000)])
def test_own_block_of_allgatherv(launch, host, sent, expected, ranks):
    """Its rank alone knows how long it is. In one of these calls all other ranks wait for it."""
    run = launch(host, ranks, "lengths", "allgatherv", sent, expected, env=STRICT, timeout=60)
    end = ends(run, ranks)
    assert end[1][0] == "truncated" and {later for _, later in end.values()} == {"error"}, str(run)


@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("sent, expected", [(16, 32), (0, 32), (16, 100000)])
def test_short_own_block_of_allgatherv(launch, host, sent, expected, ranks):
    delivered(launch(host, ranks, "lengths", "allgatherv", sent, expected, env=STRICT, timeout=60), ranks, sent)


NONBLOCKING = [f"i{name}" for name in CALLS]
GOES_ON = ("no error", "no error")


@pytest.mark.by_turns("ranks")
@ONE_HOST
@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("expected, sent", LENGTHS)
@pytest.mark.parametrize("name", NONBLOCKING)
def test_more_in_nonblocking_calls(launch, name_of_host, name, expected, sent, ranks):
    """The receiver alone has an error, when it completes the call, and the communicator works on."""
    run = launch(hosts.HOSTS[name_of_host], ranks, "lengths", name, sent, expected, env=STRICT, timeout=60)
    end = ends(run, ranks)
    assert end.pop(receiver(name[1:], ranks)) == ("truncated", "no error") and set(end.values()) == {GOES_ON}, str(run)
    call = f"MPI_I{name[1:]} failed: "
    assert re.search(rf"{call}rank \d wants {expected} bytes of rank \d, which sends {sent};", run.err), str(run)
    assert ", 0 spoilt" in run.out, str(run)


@pytest.mark.by_turns("ranks")
@ONE_HOST
@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("sent, expected", [*LENGTHS, (0, 32), (0, 200000)])
@pytest.mark.parametrize("name", NONBLOCKING)
def test_less_in_nonblocking_calls(launch, name_of_host, name, sent, expected, ranks):
    delivered(launch(hosts.HOSTS[name_of_host], ranks, "lengths", name, sent, expected, env=STRICT, timeout=60), ranks, sent)


OWN = ["gatherv", "scatterv", "alltoallv", "alltoallw", "neighbor_alltoallv", "neighbor_alltoallw"]


@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("name", OWN)
def test_own_block(launch, host, name, ranks):
    """Hosts deliver less of it; a call that one rank left to its host alone would never end."""
    run = launch(host, ranks, "lengths", name, 16, 32, "own", env=STRICT, timeout=60)
    delivered(run, ranks, 16)
    run = launch(host, ranks, "lengths", name, 32, 16, "own", env=STRICT, timeout=60)
    assert ends(run, ranks)[rank_with_own(name)] == ("truncated", "error"), str(run)


def rank_with_own(name):
    return 0 if name.startswith(("gather", "scatter")) else 1


@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("name", [f"i{name}" for name in OWN])
def test_own_block_in_nonblocking_calls(launch, host, name, ranks):
    delivered(launch(host, ranks, "lengths", name, 16, 32, "own", env=STRICT, timeout=60), ranks, 16)
    run = launch(host, ranks, "lengths", name, 32, 16, "own", env=STRICT, timeout=60)
    end = ends(run, ranks)
    assert end.pop(rank_with_own(name[1:])) == ("truncated", "no error"), str(run)
    assert set(end.values()) == {GOES_ON}, str(run)


@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("sent, expected", [(16, 32), (32, 16), (100000, 16)])
@pytest.mark.parametrize("name", ["iallgather", "iallgatherv"])
def test_own_block_of_nonblocking_allgathers(launch, host, name, sent, expected, ranks):
    """All other ranks get it, too."""
    run = launch(host, ranks, "lengths", name, sent, expected, env=STRICT, timeout=60)
    assert set(ends(run, ranks).values()) == {GOES_ON if sent < expected else ("truncated", "no error")}, str(run)


@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("name, expected", [("allgather", 100000), ("gather", 100000), ("alltoall", 32), ("scatter", 32)])
def test_own_block_of_persistent_calls(launch, name, expected, ranks):
    """Readers go by one length for all blocks, so it is the host's, on all ranks."""
    run = launch(hosts.HOSTS["mpich"], ranks, "lengths", f"persistent_{name}", 16, expected, "own", env=STRICT, timeout=60)
    assert set(ends(run, ranks).values()) == {GOES_ON}, str(run)


@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("sent, expected", [(16, 32), (32, 16)])
@pytest.mark.parametrize("name", ["allgather", "gather"])
def test_own_block_of_short_persistent_calls(launch, name, sent, expected, ranks):
    """The others have begun, so it is an error on all ranks: in the host this one would wait for them."""
    run = launch(hosts.HOSTS["mpich"], ranks, "lengths", f"persistent_{name}", sent, expected, "own", env=STRICT, timeout=60)
    end = ends(run, ranks)
    assert end.pop(rank_with_own(name)) == ("truncated" if sent > expected else "error", "no error"), str(run)
    assert set(end.values()) == {("error", "no error")}, str(run)
    assert f"wants {expected} bytes of rank" in run.err and "could not prepare its part" in run.err, str(run)


OVER_NODES = {**STRICT, "ESPALIER_NODES": "2", "ESPALIER_NONBLOCKING": "on"}


@pytest.mark.parametrize("stage", ["shared", "p2p"])
def test_own_block_over_nodes(launch, stage):
    env = {"ESPALIER_NODES": "2", "ESPALIER_NODE_STAGE": stage, **STRICT}
    delivered(launch(hosts.HOSTS["mpich"], 4, "lengths", "alltoallv", 16, 32, "own", env=env, timeout=60), 4, 16)


@pytest.mark.parametrize("block", ["between ranks", "own"])
@pytest.mark.parametrize("short, long", [(16, 32), (16, 3000000), (1 << 20, 2 << 20)])
@pytest.mark.parametrize("name", ["igatherv", "iscatterv", "ialltoallv", "ineighbor_alltoallw"])
def test_nonblocking_calls_over_nodes(launch, name, short, long, block):
    """A long block goes in messages of 1 MiB."""
    mpich = hosts.HOSTS["mpich"]
    delivered(launch(mpich, 4, "lengths", name, short, long, block, env=OVER_NODES, timeout=60), 4, short)
    run = launch(mpich, 4, "lengths", name, long, short, block, env=OVER_NODES, timeout=60)
    end = ends(run, 4)
    receives = rank_with_own(name[1:]) if block == "own" else receiver(name[1:], 4)
    assert end.pop(receives) == ("truncated", "no error") and set(end.values()) == {GOES_ON}, str(run)
    sends = rf"sends {long};" if block == "own" or long < 1 << 20 else r"sends \d+ or more;"
    assert re.search(rf"wants {short} bytes of rank \d, which {sends}", run.err), str(run)


@pytest.mark.parametrize("name", [f"persistent_{name}" for name in CALLS])
def test_persistent_calls(launch, name):
    """All ranks know at once: of less, which a host is left to deliver, and of more."""
    mpich = hosts.HOSTS["mpich"]
    run = launch(mpich, 3, "lengths", name, 16, 32, env=STRICT, timeout=60)
    assert {call for call, _ in ends(run, 3).values()} == {"error"} and "wants 32 bytes" in run.err, str(run)
    delivered(launch(mpich, 3, "lengths", name, 16, 32, timeout=60), 3, 16)
    run = launch(mpich, 3, "lengths", name, 32, 16, timeout=60)
    assert f"MPI_{name.removeprefix('persistent_').capitalize()}_init failed: " in run.err, str(run)
    assert set(ends(run, 3).values()) == {("truncated", "no error")}, str(run)


@pytest.mark.parametrize("algorithm", ["single_copy", "direct"])
@pytest.mark.parametrize("name", ["gatherv", "scatterv"])
@pytest.mark.parametrize("sent, expected", [(200000, 100000), (200000, 1000)])
def test_blocks_that_are_read_where_they_lie(launch, name, sent, expected, algorithm):
    env = {**STRICT, f"ESPALIER_{name.upper()}": algorithm}
    for ranks in (2, 3):
        run = launch(hosts.HOSTS["mpich"], ranks, "lengths", name, sent, expected, env=env, timeout=60)
        assert ends(run, ranks)[receiver(name, ranks)][0] == "truncated", str(run)
        run = launch(hosts.HOSTS["mpich"], ranks, "lengths", name, expected, sent, env=env, timeout=60)
        delivered(run, ranks, expected)


@pytest.mark.parametrize("name", ["alltoallv", "alltoallw"])
@pytest.mark.parametrize("algorithm", ["exchange", "central", "single_copy"])
def test_every_way_of_alltoallv(launch, name, algorithm):
    env = {**STRICT, f"ESPALIER_{name.upper()}": algorithm}
    for short, long in ((16, 32), (1000, 1010), (6000, 6001), (200000, 200001)):
        run = launch(hosts.HOSTS["mpich"], 3, "lengths", name, long, short, env=env, timeout=60)
        assert ends(run, 3)[0][0] == "truncated", str(run)
        delivered(launch(hosts.HOSTS["mpich"], 3, "lengths", name, short, long, env=env, timeout=60), 3, short)


@pytest.mark.parametrize("ranks, env", [(2, {}), (2, {"ESPALIER_BARRIER": "exchange"}), (2, {"ESPALIER_BARRIER": "tree"}),
                                        (3, {"ESPALIER_BARRIER": "exchange", "ESPALIER_CHUNK": "4KiB"}),
                                        full(3, {"ESPALIER_BARRIER": "tree", "ESPALIER_CHUNK": "4KiB"}), full(4, {})])
def test_ranks_that_run_ahead_of_a_late_one(launch, host, ranks, env):
    """Their lines are taken by later calls, of other kinds, too, but not before the late rank has compared."""
    run = launch(host, ranks, "rows", env={**STRICT, **env}, timeout=120)
    assert run.status == 0 and run.out.count("all rows are right") == ranks, str(run)
