"""The checked run: every result compared with a plain reference, under each host MPI and number of ranks."""

import os
import re

import algorithms
import hosts
import pytest

from espalier.explain import algorithms as table

FULL = os.environ.get("ESPALIER_TEST_FULL") == "1"
# What differs between hosts is beneath the algorithms: all numbers of ranks under each are for `make test-full`.
MATRIX = {"mpich": {2, 8}, "openmpi": {5}, "impi": {3}}
ALONE = {8, 16}  # ranks
# tests/collective tries each algorithm on many numbers of ranks; here it meets an MPI.
OF_ALGORITHMS = (2, 5) if FULL or hosts.PRELOAD_FIRST else (3,)  # sanitizer builds take all


def _case(name, ranks):
    marks = [pytest.mark.alone] * (ranks in ALONE) + [pytest.mark.full] * (ranks not in MATRIX[name])
    return pytest.param(name, ranks, marks=marks)


def arguments_for(host):
    # Intel's own reduction of MPI_REAL16 crashes (2021.18.1): nothing to compare with on the bare host.
    return ["--without", "MPI_REAL16,MPI_COMPLEX32"] if hosts.BARE and host.kind == "intel" else []


def settings(**more):
    bare = {"CHECKED_BARE": "1"} if hosts.BARE else {}
    return {"ESPALIER_FALLBACK": "error", **bare, **more}


def passed(run):
    assert run.status == 0, str(run)
    line = re.search(r"^(\d+) passed, 0 failed, (\d+) ranks$", run.out, re.M)
    assert line and int(line[1]) > 500, f"no line that says what passed\n{run}"
    return re.search(r"^digest ([0-9a-f]{16})$", run.out, re.M)[1]


@pytest.mark.matrix
@pytest.mark.parametrize("name, ranks", [_case(name, ranks) for name in MATRIX for ranks in (2, 3, 4, 5, 8, 16)])
def test_every_result_is_right(launch, name, ranks, statistics):
    host = hosts.HOSTS[name]
    run = launch(host, ranks, "checked", *arguments_for(host), env=settings(**statistics.env), timeout=150)
    passed(run)
    statistics.check(host, ranks, hosts.COLLECTIVES)


@pytest.mark.full
@pytest.mark.sanitizer
@pytest.mark.parametrize("ranks", [3, 4])
def test_every_result_is_right_on_one_host(launch, ranks):
    """For the sanitizer builds, where the whole matrix would take too long."""
    passed(launch(hosts.HOSTS["mpich"], ranks, "checked", env=settings(), timeout=300))


@pytest.mark.parametrize("name, ranks", [("mpich-abi", 5), ("impi-abi", 2),
                                         *(pytest.param(*case, marks=pytest.mark.full)
                                           for case in (("mpich-abi", 2), ("impi-abi", 5)))])
def test_standard_abi(launch, name, ranks, statistics):
    host = hosts.HOSTS[name]
    run = launch(host, ranks, "checked", *arguments_for(host), env=settings(**statistics.env))
    passed(run)
    statistics.check(host, ranks, hosts.COLLECTIVES)


@pytest.mark.sanitizer
@pytest.mark.parametrize("wait", ["spin", "yield", "sleep"])
def test_every_way_of_waiting(launch, wait, statistics):
    """Sleepers must be woken by every kind of writer; spinners must hold although they starve each other."""
    ranks = 2 if wait == "spin" else 4
    subjects = "barrier,roots,in_place,user_operators,blocks,prefixes,communicators,interleaved,random"
    run = launch(hosts.HOSTS["mpich"], ranks, "checked", "--only", subjects,
                 env=settings(ESPALIER_WAIT=wait, **statistics.env))
    passed(run)
    data = statistics.check(hosts.HOSTS["mpich"], ranks)
    if data and wait == "sleep":
        assert sum(row["wait"]["sleep"] for row in data["rows"]) > 0, "told to sleep, and no rank slept"


@pytest.mark.sanitizer
@pytest.mark.needs_espalier
@pytest.mark.parametrize("algorithm, collectives", algorithms.collectives_by_algorithm("node", hosts.FOUR), ids=str)
def test_every_algorithm(launch, algorithm, collectives, statistics):
    """Each algorithm is right wherever it may be asked for, of all collectives that have it at once, and the statistics show that
    it ran."""
    forced = {f"ESPALIER_{collective.upper()}": algorithm for collective in collectives}
    for ranks in OF_ALGORITHMS:
        run = launch(hosts.HOSTS["mpich"], ranks, "checked", "--only",
                     "barrier,roots,sizes,zero,in_place,communicators,identity", env=settings(**forced, **statistics.env))
        passed(run)
        data = statistics.check(hosts.HOSTS["mpich"], ranks)
        ran = {row["collective"] for row in data["rows"] if row["algorithm"] == algorithm and row["calls"]}
        assert set(collectives) <= ran, f"as {algorithm} ran {ran}"


@pytest.mark.sanitizer
@pytest.mark.needs_espalier
@pytest.mark.parametrize("algorithm, collectives", algorithms.collectives_by_algorithm(
    "node", [name for name in hosts.COLLECTIVES if name not in hosts.FOUR]), ids=lambda value: value if isinstance(value, str) else "")
def test_every_algorithm_of_blocks_and_prefixes(launch, algorithm, collectives, statistics):
    """The same for those that came later, all that have the algorithm at once."""
    forced = {f"ESPALIER_{collective.upper()}": algorithm for collective in collectives}
    if algorithm == "single-copy":
        forced["ESPALIER_CHUNK"] = "256"  # longer blocks are read where they lie
    for ranks in OF_ALGORITHMS:
        run = launch(hosts.HOSTS["mpich"], ranks, "checked", "--only",
                     "blocks,derived_blocks,prefixes,user_operators,communicators,interleaved,alltoallw,neighbours",
                     env=settings(**forced, **statistics.env))
        passed(run)
        data = statistics.check(hosts.HOSTS["mpich"], ranks)
        ran = {row["collective"] for row in data["rows"] if row["algorithm"] == algorithm and row["calls"]}
        assert set(collectives) <= ran, f"as {algorithm} ran {ran}"


@pytest.mark.alone
@pytest.mark.needs_espalier
@pytest.mark.parametrize("ranks", [17, pytest.param(32, marks=pytest.mark.full)])
@pytest.mark.parametrize("many", [["grouped", "chain"], ["tree"]], ids="-".join)
def test_algorithms_for_many_ranks(launch, many, ranks, statistics):
    """Those that rules take on many cores: on a number of ranks that leaves a group, and a subtree, incomplete. No collective has
    two of those that share a run."""
    forced = {name: algorithm for algorithm in many for name in hosts.COLLECTIVES
              if name not in hosts.FOUR and algorithm in table.of("node", name)}
    assert len(forced) == sum(name not in hosts.FOUR and algorithm in table.of("node", name)
                              for algorithm in many for name in hosts.COLLECTIVES)
    run = launch(hosts.HOSTS["mpich"], ranks, "checked", "--only", "blocks,prefixes,communicators",
                 env=settings(ESPALIER_TREE="kary:3", **{f"ESPALIER_{name.upper()}": forced[name] for name in forced}, **statistics.env),
                 timeout=300)
    passed(run)
    data = statistics.check(hosts.HOSTS["mpich"], ranks, list(forced))
    ran = {(row["collective"], row["algorithm"]) for row in data["rows"] if row["calls"]}
    assert set(forced.items()) <= ran, f"ran as {ran}"


@pytest.mark.parametrize("seed", [2, 3])
def test_random_sequences(launch, host, seed):
    passed(launch(host, 4, "checked", "--only", "random,interleaved", "--seed", seed, env=settings()))


@pytest.mark.every_host
def test_equal_bits_in_every_run(launch, host):
    """Sums that round: the same ranks on the same machine give the same bits in every run."""
    digests = {passed(launch(host, 4, "checked", "--only", "identity,roots", env=settings())) for _ in range(3)}
    assert len(digests) == 1, f"digests {digests}"


@pytest.mark.parametrize("kind, subject", [
    ("barrier does nothing", "barrier"),
    ("bcast always from rank 0", "roots"),
    ("bcast forgets the last element of long messages", "sizes"),
    ("bcast fills the holes", "derived"),
    ("allreduce ignores rank order", "user_operators"),
    ("allreduce in place does nothing", "in_place"),
    ("allreduce minimum for maximum", "operators"),
    ("allreduce writes behind the buffer", "sizes"),
    ("allreduce differs in one bit on rank 1", "identity"),
    ("allreduce loses MINLOC's index", "pairs"),
    ("reduce to another root", "roots"),
    ("allgather swaps two blocks", "blocks"),
    ("allgatherv ignores displacements", "blocks"),
    ("gather forgets the last rank", "blocks"),
    ("scatterv fills the holes", "derived_blocks"),
    ("alltoall in place does nothing", "blocks"),
    ("alltoallv sends to oneself only", "blocks"),
    ("scan leaves out the own vector", "prefixes"),
    ("exscan takes the own vector in", "prefixes"),
    ("reduce_scatter gives all ranks the first block", "prefixes"),
    ("scan ignores rank order", "user_operators")])
def test_the_checked_run_notices(launch, kind, subject):
    """The test of the test: a library that breaks one thing must be found out."""
    host = hosts.HOSTS["mpich"]
    run = launch(host, 3, "checked", "--only", subject, env={"BROKEN": kind}, library=hosts.preloadable(host, "broken"))
    assert run.status != 0, f"{kind}: not noticed\n{run}"
    assert f"FAILED {subject}" in run.err, f"{kind}: failed for another reason\n{run}"
    assert re.search(r"passed, [1-9]\d* failed", run.out), str(run)


def test_the_watchdog_names_the_call(launch, tmp_path):
    """A rank that never comes: the others say where they wait."""
    host = hosts.HOSTS["mpich"]
    run = launch(host, 3, "checked", "--only", "barrier", "--patience", 1, env={"BROKEN": "rank 1 stays away from barriers"},
                 library=hosts.preloadable(host, "broken"), timeout=120)
    assert run.status != 0
    assert "HUNG rank 0" in run.err and "barrier" in run.err, str(run)


@pytest.mark.needs_espalier
def test_without_single_copy(launch, statistics):
    """Told not to read other processes' memory, no rank does, although the rule asks for it."""
    run = launch(hosts.HOSTS["mpich"], 4, "checked", "--only", "roots,sizes",
                 env=settings(ESPALIER_SINGLE_COPY="off", ESPALIER_BCAST="single-copy", **statistics.env))
    passed(run)
    data = statistics.check(hosts.HOSTS["mpich"], 4, ("bcast",))
    assert {row["algorithm"] for row in data["rows"] if row["collective"] == "bcast" and row["calls"]} == {"tree"}
