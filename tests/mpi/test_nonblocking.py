"""Nonblocking collectives: what comes out of them, every way to complete them, what ranks may do between start and completion.

The programs hold on the bare hosts as well (ESPALIER_TEST_BARE=1).
"""

import re

import hosts
import pytest

STRICT = {"ESPALIER_FALLBACK": "error", "ESPALIER_NONBLOCKING": "on"}
SILENT = {"ESPALIER_FALLBACK": "silent", "ESPALIER_NONBLOCKING": "on"}
SERVED = ["allgather", "allgatherv", "allreduce", "alltoall", "alltoallv", "alltoallw", "barrier", "bcast", "exscan", "gather",
          "gatherv", "reduce", "reduce_scatter", "reduce_scatter_block", "scan", "scatter", "scatterv"]
# Of the hosts: ranks have errors of their own, or none, for what MPI forbids.
OURS = ["mistakes"]


def full(*values):
    return pytest.param(*values, marks=pytest.mark.full)


def succeeded(run, name):
    assert run.status == 0, str(run)
    assert re.search(rf"^{re.escape(name)}: (\d+ checks, )?0 failed$", run.out, re.M), f"no line that says so\n{run}"


def without(*parts):
    return [f"-{part}" for part in (*parts, *(OURS if hosts.BARE else []))]


def served(statistics):
    """The collectives that Espalier served as nonblocking ones."""
    rows = [row for row in statistics.read()["rows"] if row["algorithm"] == "nonblocking" and row["calls"] > 0]
    assert all(row["transport"] == "shared memory" and not row["fallback"] for row in rows), str(rows)
    return sorted({row["collective"] for row in rows})


@pytest.mark.every_host
@pytest.mark.sanitizer
@pytest.mark.parametrize("ranks", [2, 3, 4, full(8), full(16)])
def test_every_part(launch, host, ranks, statistics):
    # The calls under way may take a quarter of the memory; an alltoall of 16 ranks is longer than that by default.
    room = {"ESPALIER_SHM": "1GiB"} if ranks > 8 else {}
    run = launch(host, ranks, "nonblocking", *without(), env={**STRICT, **room, **statistics.env}, timeout=110)
    succeeded(run, "nonblocking")
    assert hosts.BARE or served(statistics) == SERVED


@pytest.mark.every_host
@pytest.mark.needs_espalier
def test_one_rank(launch, host):
    """It waits for no other, and gets requests of the host's, which differ in what is a mistake. (MPICH's and Intel MPI's own
    calls with operators of the user crash.)"""
    succeeded(launch(host, 1, "nonblocking", *without(*OURS), env=STRICT, timeout=60), "nonblocking")
    succeeded(launch(host, 1, "user_reductions", env=STRICT, timeout=60), "user_reductions")


@pytest.mark.parametrize("name", ["mpich-abi", full("impi-abi")])
def test_every_part_through_the_standard_abi(launch, name, statistics):
    aborting = ["mistakes"] if name == "impi-abi" else []  # Intel has the numbers of MPI_ERRORS_RETURN and MPI_ERRORS_ABORT swapped
    run = launch(hosts.HOSTS[name], 4, "nonblocking", *without(*aborting), env={**STRICT, **statistics.env}, timeout=110)
    succeeded(run, "nonblocking")
    assert hosts.BARE or served(statistics) == SERVED


@pytest.mark.every_host
@pytest.mark.sanitizer
@pytest.mark.parametrize("ranks", [2, 3, full(4), full(7)])
def test_operators_of_the_user(launch, host, ranks, statistics):
    """Nonblocking and persistent ones. They end though the operator was freed, and get the program's own datatype."""
    arguments = ["-persistent"] if hosts.BARE else []
    succeeded(launch(host, ranks, "user_reductions", *arguments, env={**STRICT, **statistics.env}, timeout=60), "user_reductions")
    assert hosts.BARE or served(statistics) == ["allreduce", "exscan", "reduce", "reduce_scatter", "reduce_scatter_block", "scan"]


OFF = {**STRICT, "ESPALIER_NONBLOCKING": "off"}
OFF_OVER_NODES = {"ESPALIER_NODES": "2", **OFF}


@pytest.mark.sanitizer
@pytest.mark.parametrize("ranks, nodes", [(4, "1+2+1"), (2, "2"), full(4, "2"), full(6, "3:cyclic"), full(7, "3+1+3"), full(3, "3")])
def test_over_nodes(launch, host, ranks, nodes, statistics):
    env = {**STRICT, **statistics.env, "ESPALIER_NODES": nodes}
    succeeded(launch(host, ranks, "nonblocking", "-strangers", *without(), env=env, timeout=110), "nonblocking")
    if not hosts.BARE:
        rows = [row for row in statistics.read()["rows"] if row["algorithm"] == "nonblocking" and row["calls"] > 0]
        assert sorted({row["collective"] for row in rows}) == SERVED
        assert all("messages" in row["transport"] for row in rows), str(rows)


@pytest.mark.parametrize("name", ["mpich", full("openmpi"), full("impi")])
def test_ranks_of_several_nodes_that_have_not_met(launch, name, statistics):
    """What this rank knows of a communicator goes with it: the next one may have its handle, and be of one node."""
    env = {**SILENT, **statistics.env, "ESPALIER_NODES": "2"}
    succeeded(launch(hosts.HOSTS[name], 4, "unmet", env=env), "unmet")
    if not hosts.BARE:
        calls = {row["transport"]: row["calls"] for row in statistics.read()["rows"] if row["algorithm"] == "nonblocking"}
        assert calls == {"shared memory": 2 * 3 * 7, "shared memory and messages": 11}  # on two nodes, three times


@pytest.mark.parametrize("name, settings", [
    full("mpich", {}), ("mpich", {"ESPALIER_NODE_STAGE": "p2p"}), full("mpich", {"ESPALIER_SHM": "6MiB"}), full("openmpi", {}),
    full("impi", {"ESPALIER_WAIT": "sleep"})])
def test_over_nodes_beside_those_of_the_host(launch, name, settings):
    """Without memory on a node, too; all kinds are under way at once. Open MPI 5.0.11 crashes where communicators are freed."""
    env = {**SILENT, "ESPALIER_NODES": "2", **settings}
    left_out = without("freed") if name == "openmpi" else without()
    succeeded(launch(hosts.HOSTS[name], 4, "nonblocking", *left_out, env=env, timeout=110), "nonblocking")


@pytest.mark.parametrize("name, settings", [("mpich", OFF), ("openmpi", OFF), ("impi", OFF), ("mpich", OFF_OVER_NODES)])
def test_left_to_the_host(launch, name, settings, statistics):
    run = launch(hosts.HOSTS[name], 4, "nonblocking", "alone", "ways", env={**settings, **statistics.env}, timeout=110)
    succeeded(run, "nonblocking")
    assert hosts.BARE or served(statistics) == []


def test_ranks_that_fall_asleep(launch, host):
    run = launch(host, 4, "nonblocking", *without(), env={"ESPALIER_WAIT": "sleep", **STRICT}, timeout=110)
    succeeded(run, "nonblocking")


@pytest.mark.parametrize("parts", [["many", "freed"], ["blocked", "ahead"]])
@pytest.mark.parametrize("name", ["mpich", full("openmpi"), full("impi")])
def test_what_has_no_memory_is_the_hosts(launch, name, parts):
    """A call of 24 kB from each of 4 ranks fits into the budget a few times."""
    run = launch(hosts.HOSTS[name], 4, "nonblocking", *parts, env={"ESPALIER_SHM": "6MiB", **SILENT}, timeout=110)
    succeeded(run, "nonblocking")


@pytest.mark.sanitizer
@pytest.mark.parametrize("ranks", [4, full(3), full(8)])
def test_readers_copy_long_blocks_of_a_scatter_from_the_root(launch, host, ranks, statistics):
    env = {**STRICT, **statistics.env, "ESPALIER_SHM": "512MiB"}  # they take none, but are counted
    succeeded(launch(host, ranks, "exposed_scatter", env=env, timeout=60), "exposed_scatter")
    assert hosts.BARE or {"scatter", "scatterv"} <= set(served(statistics))


@pytest.mark.sanitizer
def test_a_rank_gives_more_than_there_is_memory_for(launch, host, statistics):
    """Which the others, of whom one starts first and so decides, do not know."""
    env = {"ESPALIER_SHM": "12MiB", **SILENT, **statistics.env}
    succeeded(launch(host, 3, "beyond_memory", env=env, timeout=60), "beyond_memory")
    assert hosts.BARE or {"alltoallv", "alltoallw", "gatherv"} <= {
        row["collective"] for row in statistics.read()["rows"] if row["algorithm"] == "nonblocking" and row["calls"] > 0}


@pytest.mark.needs_espalier
def test_a_rank_gives_more_than_there_is_memory_for_where_none_reads_the_others(launch):
    """Such calls are the host's there."""
    host = hosts.HOSTS["mpich"]
    env = {"ESPALIER_SHM": "4MiB", **SILENT, "MPIR_CVAR_CH4_CMA_ENABLE": "0"}
    refused = [hosts.plain_program("refuse_call"), "process_vm_readv", "EPERM", "all"]
    run = launch(host, 3, refused[0], *refused[1:], hosts.program(host, "beyond_memory"), env=env, timeout=60)
    succeeded(run, "beyond_memory")


@pytest.mark.needs_espalier
def test_a_rank_gives_more_than_there_is_memory_for_when_none_reads_the_others_any_more(launch):
    """Calls that begin when a rank has been refused are the host's, too: none of them waits for memory that never comes."""
    host = hosts.HOSTS["mpich"]
    env = {"ESPALIER_SHM": "12MiB", "ESPALIER_BCAST": "single-copy", **SILENT, "MPIR_CVAR_CH4_CMA_ENABLE": "0"}
    library = f"{host.library}:{hosts.preloadable(host, 'refused_reads')}"
    run = launch(host, 3, "beyond_memory", "refused", env=env, library=library, timeout=60)
    succeeded(run, "beyond_memory")
    assert run.err.count("any more (") == 1, str(run)


@pytest.mark.sanitizer
@pytest.mark.parametrize("ranks", [2, full(4)])
def test_threads(launch, host, ranks):
    succeeded(launch(host, ranks, "nonblocking_threads", env=STRICT, timeout=120), "nonblocking_threads")


@pytest.mark.parametrize("name", ["mpich", full("openmpi"), full("impi")])
def test_threads_over_nodes(launch, name):
    env = {**STRICT, "ESPALIER_NODES": "1+2"}
    succeeded(launch(hosts.HOSTS[name], 3, "nonblocking_threads", env=env, timeout=60), "nonblocking_threads")


@pytest.mark.every_host
@pytest.mark.needs_espalier
@pytest.mark.parametrize("ranks", [2, 4])
def test_requests_that_are_left_at_finalize(launch, host, ranks):
    run = launch(host, ranks, "left_at_finalize", env=STRICT, timeout=40)
    succeeded(run, "left_at_finalize")
    assert "request" not in run.out + run.err, f"the host complains about what is left\n{run}"


# The index that MPICH 4.0.2 gives of a message is wrong, and it goes on waiting when all are complete.
HOST_WRONG = {("debian-mpich", "nonblocking_f08"): ["-waitany", "-testany", "-waitsome", "-testsome"]}


@pytest.mark.parametrize("name", ["debian-mpich", "debian-openmpi"])
@pytest.mark.parametrize("program", ["nonblocking_f90", "nonblocking_f08"])
@pytest.mark.parametrize("ranks", [2, 4])
def test_fortran(launch, name, program, ranks, statistics):
    host = hosts.HOSTS[name]
    if reason := hosts.missing(host):
        pytest.fail(reason)
    arguments = HOST_WRONG.get((name, program), [])
    run = launch(host, ranks, program, *arguments, env={**STRICT, **statistics.env}, timeout=120)
    succeeded(run, f"{program}.f90")
    assert hosts.BARE or served(statistics) == SERVED
