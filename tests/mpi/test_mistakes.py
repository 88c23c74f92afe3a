"""Invariant 6: a rank that is gone, or that calls something else, is an error which names both sides, by the
communicator's error handler. No hang, and nothing wrong that looks right."""

import re

import hosts
import pytest

pytestmark = pytest.mark.needs_espalier

STRICT = {"ESPALIER_FALLBACK": "error"}
# What rank 1 does, what the others do.
MISTAKES = {
    "other collective": ("bcast of 16 bytes with root 0", "allreduce of 16 bytes"),
    "other long collective": ("alltoall of", "allreduce of 262144 bytes"),
    "other length": ("allreduce of 20 bytes", "allreduce of 16 bytes"),
    "other long length": ("bcast of 40 bytes with root 0", "bcast of 262144 bytes with root 0"),
    "other root": ("reduce of 16 bytes with root 1", "reduce of 16 bytes with root 0"),
    "other operator": ("allreduce of 16 bytes by max of int32", "allreduce of 16 bytes by sum of 4-byte integers"),
    "other elements": (" bytes by sum of float64", " bytes by sum of 4-byte integers"),
    "own operator": ("with root 0 by an operator of its own", "with root 0 by sum of 4-byte integers"),
    "barrier": ("barrier", "gather of 16 bytes with root 0"),
    "alltoallv for alltoallw": ("alltoallv", "alltoallw"),
    "two roots": ("bcast of 16 bytes with root 1", "bcast of 16 bytes with root 0"),
}


def said(run):
    """Launchers may put what ranks print on one line."""
    return [line for line in run.err.splitlines() if "espalier: rank" in line]


def names_both(run, ranks, mistake):
    theirs, others = MISTAKES[mistake]
    for line in said(run):
        first, second = line.find(theirs), line.find(others)
        if first >= 0 and second >= 0 and len(set(re.findall(r"rank (\d)", line.split("failed:")[1]))) == 2:
            return True
    return False


@pytest.mark.by_turns("ranks")
@pytest.mark.parametrize("ranks", [2, 4])
@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_program_that_lives_with_errors_goes_on(launch, host, ranks, mistake):
    """Each rank gets an error then or in the next call; a new communicator works."""
    run = launch(host, ranks, "mistakes", mistake, "live", env=STRICT, timeout=120)
    assert run.status == 0, str(run)
    ends = re.findall(r"^rank \d: (?:no )?error, then error, new communicator works$", run.out, re.M)
    assert len(ends) == ranks, str(run)
    assert names_both(run, ranks, mistake), str(run)


@pytest.mark.every_host
@pytest.mark.parametrize("mistake", ["other length", "two roots"])
def test_by_default_the_job_ends(launch, host, mistake):
    run = launch(host, 2, "mistakes", mistake, env=STRICT, timeout=120)
    assert run.status != 0, str(run)
    assert names_both(run, 2, mistake), str(run)


@pytest.mark.parametrize("mistake, what", [("nonblocking operator", "allreduce of 16 bytes"),
                                           ("prepared operator", "reduce of 16 bytes with root 0")])
def test_other_operators_of_requests(launch, host, mistake, what):
    run = launch(host, 3, "mistakes", mistake, env=STRICT, timeout=120)
    assert run.status != 0, str(run)
    assert f"{what} by sum of 4-byte integers" in run.err and f"{what} by max of int32" in run.err, str(run)


@pytest.mark.parametrize("ranks", [2, 4])
def test_a_nonblocking_call_before_and_after_a_blocking_one(launch, host, ranks):
    """Ranks begin both kinds in one order. The rank that waits in the blocking call tells; the nonblocking ones end well."""
    env = {"ESPALIER_NONBLOCKING": "on"}
    run = launch(host, ranks, "mistakes", "nonblocking first", "live", env=env, timeout=120)
    assert run.status == 0, str(run)
    ends = re.findall(r"^rank \d: (?:no )?error, then error, new communicator works$", run.out, re.M)
    assert len(ends) == ranks, str(run)
    what = r"rank 1 has begun a nonblocking alltoall before the allreduce of 16 bytes in which rank \d waits, and rank \d has not"
    assert any(re.search(what, line) for line in said(run)), str(run)
    assert launch(host, ranks, "mistakes", "nonblocking first", env=env, timeout=120).status != 0


@pytest.mark.by_turns("ranks")
@pytest.mark.parametrize("ranks", [2, 4])
@pytest.mark.parametrize("when", ["first of all", "first of all, and later"])
def test_a_nonblocking_call_where_others_meet(launch, host, ranks, when):
    """The first calls on MPI_COMM_WORLD: the rank with the nonblocking one meets no other, whichever comes first."""
    run = launch(host, ranks, "mistakes", when, "live", env={"ESPALIER_NONBLOCKING": "on"}, timeout=60)
    assert run.status == 0, str(run)
    ends = re.findall(r"^rank \d: (?:no )?error, then error, new communicator works$", run.out, re.M)
    assert len(ends) == ranks, str(run)
    what = r"rank 1 has begun a nonblocking alltoall before the allreduce of 16 bytes in which rank \d waits, and rank \d has not"
    assert any(re.search(what, line) for line in said(run)), str(run)
    assert launch(host, ranks, "mistakes", when, env={"ESPALIER_NONBLOCKING": "on"}, timeout=60).status != 0


@pytest.mark.by_turns("nodes")
@pytest.mark.parametrize("nodes", ["1", "2"])
@pytest.mark.parametrize("collective", ["gather", "scatter", "allgather", "alltoall"])
def test_an_own_block_of_two_lengths(launch, host, collective, nodes):
    """That rank alone knows it: it must not leave the others waiting while it goes to the host."""
    env = {**STRICT, "ESPALIER_NODES": nodes}
    run = launch(host, 4, "mistakes", f"own block of {collective}", env=env, timeout=60)
    assert run.status != 0, str(run)
    sent, expected = (16, 8) if collective == "scatter" else (8, 16)
    what = rf"rank 1 sends {sent} bytes to rank 1, which expects {expected}"
    assert any(re.search(what, line) for line in said(run)), str(run)


@pytest.mark.parametrize("mistake", ["none", "signs"])
def test_without_a_mistake_there_is_nothing_to_say(launch, host, mistake):
    run = launch(host, 4, "mistakes", mistake, env=STRICT, timeout=120)
    assert run.status == 0, str(run)
    assert said(run) == [], str(run)


# Launchers end a job when one of its processes does, and so does Espalier's word with them, unless they are told not to.
LET_IT_GO = {"hydra": "-disable-auto-cleanup", "intel": "-disable-auto-cleanup", "openmpi": "--continuous"}


@pytest.mark.parametrize("name, how", [("mpich", "ends"), ("impi", "ends"), ("impi", "killed"), ("openmpi", "ends"),
                                       ("openmpi", "killed")])
def test_a_rank_that_is_gone_is_named(launch, name, how):
    host = hosts.HOSTS[name]
    run = launch(host, 2, "mistakes", how, env=STRICT, placement=[LET_IT_GO[host.kind]], timeout=120)
    assert any("rank 1 has ended before the barrier in which rank 0 waits" in line for line in said(run)), str(run)


def test_a_rank_that_finalizes_is_named(launch, host):
    run = launch(host, 2, "mistakes", "finalizes", env=STRICT, timeout=120)
    assert run.status != 0, str(run)
    assert any(re.search(r"rank 1 has freed .* before the barrier in which rank 0 waits", line) for line in said(run)), str(run)


@pytest.mark.parametrize("mistake", ["other collective", "other length", "other root"])
def test_on_a_node_among_several(launch, mistake):
    """The ranks of a node hold each other to their calls there too."""
    run = launch(hosts.HOSTS["mpich"], 4, "mistakes", mistake, env={**STRICT, "ESPALIER_NODES": "2"}, timeout=120)
    assert run.status != 0, str(run)
    assert names_both(run, 4, mistake), str(run)


# MPI_Alltoallw over nodes is the host's.
@pytest.mark.by_turns("nodes")
@pytest.mark.parametrize("mistake", [mistake for mistake in MISTAKES if mistake != "alltoallv for alltoallw"])
@pytest.mark.parametrize("nodes", ["1+1+1+1", "2:cyclic"])
def test_between_nodes(launch, host, nodes, mistake):
    """Whole nodes call something else than others: messages of different calls never meet, and ranks that wait long compare."""
    env = {**STRICT, "ESPALIER_NODES": nodes}
    run = launch(host, 4, "mistakes", mistake, "live", env=env, timeout=120)
    assert run.status == 0, str(run)
    ends = re.findall(r"^rank \d: (?:no )?error, then error, new communicator works$", run.out, re.M)
    assert len(ends) == 4, str(run)
    assert names_both(run, 4, mistake), str(run)
