"""Ranks of several nodes that begin different nonblocking or persistent collectives: each that waits gets an error that names both
sides, none waits for ever, and a program that lives with errors goes on with a new communicator."""

import re

import hosts
import pytest

pytestmark = pytest.mark.needs_espalier

ENV = {"ESPALIER_FALLBACK": "error", "ESPALIER_NONBLOCKING": "on", "ESPALIER_NODES": "2"}
ORDER = "the ranks begin collectives in different orders"
# What errors name: the calls of both sides. Ranks 0 and 1 are on a node, 2 and 3 on another one.
NONBLOCKING = {
    "other collective": ("allreduce of 16 bytes", "bcast of 16 bytes with root 0"),
    "other long collective": ("allreduce of 16384 bytes", "alltoall of 64 bytes"),
    "other length": ("allreduce of 16 bytes", "allreduce of 20 bytes"),
    "other length of bcast": ("bcast of 16 bytes with root 0", "bcast of 8 bytes with root 0"),
    "other root": ("reduce of 16 bytes with root 0", "reduce of 16 bytes with root 3"),
    "other root of bcast": ("bcast of 16 bytes with root 0", "bcast of 16 bytes with root 3"),
    "all are roots": ("bcast of 16 bytes with root 0", r"bcast of 16 bytes with root [123]"),
    "none is the root": ("bcast of 16 bytes with root 0", "bcast of 16 bytes with root 3"),
    "other operator": ("allreduce of 16 bytes by sum of 4-byte integers", "allreduce of 16 bytes by max of int32"),
    "other elements": ("by sum of 4-byte integers", "by sum of float64"),
    "own operator": ("with root 0 by sum of 4-byte integers", "with root 0 by an operator of its own"),
    "barrier": ("gather of 16 bytes with root 0", "barrier"),
    "gather for barrier": ("barrier", "gather of 16 bytes with root 0"),
    "blocks by letters": ("alltoall of 64 bytes", "alltoallv"),
    "prefixes": (r" (?:wanted )?scan of 16 bytes", "exscan of 16 bytes"),
    "other length of scatter": ("scatter of 16 bytes with root 0", "scatter of 20 bytes with root 0"),
    # Of one kind, and where the others have come to.
    "prepared instead": (ORDER, "_init"),
    "blocking first": ("request of allreduce of 16 bytes", ORDER),
    "no call": ("request of allreduce of 16 bytes", ORDER),
    "no barrier": ("request of barrier", ORDER),
    "prepared: nonblocking instead": (ORDER, "nonblocking"),
    "prepared: no call": (ORDER, "_init"),
}
# All ranks compare what they prepare, so they stay in step.
PREPARED = {
    "prepared: other collective": ("allreduce of 16 bytes", "bcast of 16 bytes with root 0"),
    "prepared: other length": ("allreduce of 16 bytes", "allreduce of 20 bytes"),
    "prepared: other root": ("bcast of 16 bytes with root 0", "bcast of 16 bytes with root 3"),
    "prepared: other operator": ("by sum of 4-byte integers", "by max of int32"),
    "prepared: other elements": ("by sum of 4-byte integers", "by sum of float64"),
}
WITHOUT_SHARED_MEMORY = ["other collective", "other root of bcast", "none is the root", "own operator", "no call", "prepared instead"]


def said(run):
    return [line for line in run.err.splitlines() if "espalier: rank" in line]


def names_both(run, texts):
    return any(all(re.search(text, line) for text in texts) and len(set(re.findall(r"rank (\d)", line.split("failed:")[1]))) >= 2
               for line in said(run))


def check(launch, host, mistake, who, texts, first, then, **env):
    run = launch(host, 4, "mistaken_requests", mistake, who, "live", env={**ENV, **env}, timeout=60)
    assert run.status == 0, str(run)
    assert len(re.findall(rf"^rank \d: {first}, then {then}, new communicator works$", run.out, re.M)) == 4, str(run)
    assert names_both(run, texts), str(run)


@pytest.mark.by_turns("who")
@pytest.mark.parametrize("who", ["rank", "node"])
@pytest.mark.parametrize("mistake", NONBLOCKING)
def test_all_that_wait_hear_of_it(launch, host, mistake, who):
    """One rank of a node of two is mistaken, or a whole node. From that call on the communicator has no nonblocking ones."""
    check(launch, host, mistake, who, NONBLOCKING[mistake], "(?:no )?error", "error")


@pytest.mark.by_turns("who")
@pytest.mark.parametrize("who", ["rank", "node"])
@pytest.mark.parametrize("mistake", PREPARED)
def test_all_hear_what_others_prepare(launch, host, mistake, who):
    check(launch, host, mistake, who, PREPARED[mistake], "error", "no error")


@pytest.mark.parametrize("mistake", WITHOUT_SHARED_MEMORY)
def test_on_nodes_without_shared_memory(launch, mistake):
    check(launch, hosts.HOSTS["mpich"], mistake, "rank", NONBLOCKING[mistake], "(?:no )?error", "error", ESPALIER_NODE_STAGE="p2p")


@pytest.mark.parametrize("mistake", ["other length", "none is the root", "no call"])
def test_by_default_the_job_ends(launch, host, mistake):
    run = launch(host, 4, "mistaken_requests", mistake, "node", env=ENV, timeout=60)
    assert run.status != 0, str(run)
    assert names_both(run, NONBLOCKING[mistake]), str(run)


def test_without_a_mistake_there_is_nothing_to_say(launch, host):
    run = launch(host, 4, "mistaken_requests", "none", "rank", env=ENV, timeout=60)
    assert run.status == 0 and said(run) == [], str(run)


# Launchers end a job when one of its processes does, unless they are told not to.
LET_IT_GO = {"hydra": ["-disable-auto-cleanup"], "intel": ["-disable-auto-cleanup"], "openmpi": ["--continuous", "--oversubscribe"]}


@pytest.mark.parametrize("how", ["ends", "ends before blocks", "ends before a prepared one"])
def test_all_hear_of_a_rank_that_has_ended(launch, host, how):
    """Its neighbour sees it, and tells the other node."""
    run = launch(host, 4, "mistaken_requests", how, "rank", "live", env=ENV, placement=LET_IT_GO[host.kind], timeout=60)
    what = r"rank 1 has ended before the \w+ of \d+ bytes in which rank [023] waits"
    for rank in (0, 2, 3):
        assert f"rank {rank}: error, then error" in run.out, str(run)
        assert any(f"espalier: rank {rank} of 4" in line and re.search(what, line) for line in said(run)), f"rank {rank}\n{run}"
