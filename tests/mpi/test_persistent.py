"""Persistent collectives: what comes out of them, every way to complete them, what ranks may do between start and wait.

The programs hold on the bare hosts as well (ESPALIER_TEST_BARE=1), but for what these have wrong."""

import re

import hosts
import pytest

STRICT = {"ESPALIER_FALLBACK": "error"}
SILENT = {"ESPALIER_FALLBACK": "silent"}
OFF = {"ESPALIER_PERSISTENT": "off", **STRICT}


def full(*values):
    return pytest.param(*values, marks=pytest.mark.full)


# --- What hosts have wrong: arguments that leave it out where they serve --------------------------------------------

HOST_WRONG = {
    "persistent_collectives": {
        # MPICH 5.0.2 copies overlapping memory with memcpy: a long reduce_scatter of unequal blocks in place.
        "mpich": ["-reduce_scatter"],
        # Open MPI 5.0.11 keeps neither the communicator nor the datatypes of a request.
        "openmpi": ["-freed", "keep-types"],
        # Intel MPI 2021.18 reads what is sent, or copies the own block, when these are prepared; allgatherv of 800 kB
        # hangs from 3 ranks on; and ranks that start two requests in different orders get each other's data.
        "impi": ["in-order", "-gather", "-scatter", "-allgather", "-allgatherv"]},
    "persistent_completion": {
        # MPI_Testall fails with MPI_ERR_IN_STATUS, MPI_Waitall hangs where a collective is not started.
        **{name: ["idle-messages", "-testall", "-get_status_all"] for name in ("mpich", "impi")}},
    "persistent_progress": {"impi": ["-gather"]},
    "persistent_mpi4py.py": {"mpich": ["-testall"], "impi": ["-testall", "-allgather"]},
    # MPICH 4.0.2 goes on waiting when all are complete.
    **{name: {"debian-mpich": ["-testall", "-waitany", "-testany", "-waitsome", "-testsome"]}
       for name in ("persistent_f90", "persistent_f08")},
}


def on_host(program, host):
    return HOST_WRONG.get(program, {}).get(host.name.removesuffix("-abi"), [])


# --- Running them ---------------------------------------------------------------------------------------------------

def succeeded(run, name):
    assert run.status == 0, str(run)
    assert re.search(rf"^{re.escape(name)}: (\d+ checks, )?0 failed$", run.out, re.M), f"no line that says so\n{run}"


def check(launch, host, ranks, program, *arguments, host_serves=False, env=STRICT):
    """The program, without what the host has wrong if that serves."""
    left_out = on_host(program, host) if hosts.BARE or host_serves else []
    launched = [host.python, hosts.SOURCES / program] if program.endswith(".py") else [program]
    ending = ".f90" if (hosts.SOURCES / f"{program}.f90").exists() else ""
    succeeded(launch(host, ranks, *launched, *arguments, *left_out, env=env, timeout=120), program + ending)


def served(statistics):
    """The collectives that Espalier served as persistent ones."""
    rows = [row for row in statistics.read()["rows"] if row["algorithm"] == "persistent" and row["calls"] > 0]
    assert all(row["transport"] == "shared memory" and not row["fallback"] for row in rows), str(rows)
    return {row["collective"] for row in rows}


def check_served(statistics, host, ranks, collectives):
    if statistics.check(host, ranks, collectives):
        assert set(collectives) <= served(statistics), f"served as persistent: {sorted(served(statistics))}"


def check_left_to_host(statistics):
    assert hosts.BARE or served(statistics) == set()


def all_parts(ranks):
    # Halves of two ranks are communicators of one, which the host serves.
    return [] if ranks > 2 else ["-split", "-freed"]


# --- What comes out -------------------------------------------------------------------------------------------------

@pytest.mark.every_host
@pytest.mark.parametrize("ranks", [2, full(4), 5])
def test_every_collective(launch, host, ranks, statistics):
    check(launch, host, ranks, "persistent_collectives", *all_parts(ranks), env={**STRICT, **statistics.env})
    check_served(statistics, host, ranks, hosts.SPANNING)


@pytest.mark.every_host
@pytest.mark.needs_espalier
def test_one_rank(launch, host):
    """It waits for no other. (Open MPI's own calls of one rank crash, Intel MPI's gather is wrong.)"""
    check(launch, host, 1, "persistent_collectives")
    check(launch, host, 1, "persistent_completion")


@pytest.mark.parametrize("name", ["mpich-abi", full("impi-abi")])
def test_every_collective_through_the_standard_abi(launch, name, statistics):
    host = hosts.HOSTS[name]
    check(launch, host, 4, "persistent_collectives", *all_parts(4), env={**STRICT, **statistics.env})
    check_served(statistics, host, 4, hosts.SPANNING)


# --- How it is completed --------------------------------------------------------------------------------------------

@pytest.mark.every_host
@pytest.mark.sanitizer
@pytest.mark.parametrize("ranks", [2, 4])
def test_every_way_to_complete(launch, host, ranks, statistics):
    check(launch, host, ranks, "persistent_completion", env={**STRICT, **statistics.env})
    check_served(statistics, host, ranks, ["allreduce", "bcast"])


@pytest.mark.parametrize("name", ["mpich-abi", full("impi-abi")])
def test_every_way_to_complete_through_the_standard_abi(launch, name):
    check(launch, hosts.HOSTS[name], 4, "persistent_completion")


@pytest.mark.sanitizer
@pytest.mark.parametrize("ranks", [2, 4])
def test_between_start_and_wait(launch, host, ranks):
    check(launch, host, ranks, "persistent_progress")


@pytest.mark.needs_espalier
@pytest.mark.parametrize("ranks", [2, 4])
def test_who_has_started_owes_nothing(launch, host, ranks, tmp_path):
    """The others complete while rank 0 calls no MPI at all; hosts, which move messages in calls only, do not manage that."""
    check(launch, host, ranks, "persistent_progress", tmp_path)


@pytest.mark.sanitizer
@pytest.mark.parametrize("ranks", [2, full(4)])
def test_threads(launch, host, ranks):
    check(launch, host, ranks, "persistent_threads")


# --- Names that mpi4py does without where hosts do not have them ----------------------------------------------------

@pytest.mark.every_host
def test_questions_about_several_requests(launch, host):
    arguments = [] if hosts.BARE else ["collective"]
    succeeded(launch(host, 2, host.python, hosts.SOURCES / "get_status.py", *arguments, env=STRICT, timeout=120), "get_status.py")


@pytest.mark.every_host
def test_questions_about_several_requests_of_the_host(launch, host):
    succeeded(launch(host, 2, host.python, hosts.SOURCES / "get_status.py", env={"ESPALIER": "off"}, timeout=120),
              "get_status.py")


# --- From other languages -------------------------------------------------------------------------------------------

@pytest.mark.every_host
@pytest.mark.parametrize("ranks", [2, 5])
def test_mpi4py(launch, host, ranks, statistics):
    check(launch, host, ranks, "persistent_mpi4py.py", env={**STRICT, **statistics.env})
    check_served(statistics, host, ranks, ["allreduce", "bcast", "barrier", "scan", "alltoall", "reduce_scatter_block"])


def check_fortran(launch, name, ranks, program, statistics, collectives):
    host = hosts.HOSTS[name]
    if reason := hosts.missing(host):
        pytest.fail(reason)
    check(launch, host, ranks, program, env={**STRICT, **statistics.env})
    check_served(statistics, host, ranks, collectives)


@pytest.mark.parametrize("program", ["persistent_f90", "persistent_f08"])
@pytest.mark.parametrize("ranks", [2, 4])
def test_fortran(launch, program, ranks, statistics):
    """Debian's Open MPI is too old to have them in Fortran."""
    check_fortran(launch, "debian-mpich", ranks, program, statistics, ["allreduce", "bcast", "barrier"])


@pytest.mark.parametrize("ranks", [2, 4])
def test_made_in_c_and_completed_in_fortran(launch, ranks, statistics):
    check_fortran(launch, "debian-openmpi", ranks, "persistent_mixed", statistics, ["allreduce"])


# --- Settings -------------------------------------------------------------------------------------------------------

@pytest.mark.every_host
@pytest.mark.parametrize("program", ["persistent_collectives", full("persistent_completion"), full("persistent_progress")])
def test_switched_off(launch, host, program, statistics):
    """All is the host's, user-defined operators as well, and no policy minds."""
    check(launch, host, 4, program, host_serves=True, env={**OFF, **statistics.env})
    check_left_to_host(statistics)


@pytest.mark.parametrize("program", ["persistent_progress", full("persistent_completion"), full("persistent_threads")])
def test_ranks_that_fall_asleep(launch, host, program):
    check(launch, host, 4, program, env={"ESPALIER_WAIT": "sleep", **STRICT})


@pytest.mark.parametrize("name", ["mpich", full("openmpi"), full("impi")])
def test_a_budget_that_is_too_small_for_long_ones(launch, name, statistics):
    """They fall back, all ranks together, while short ones go on."""
    host = hosts.HOSTS[name]
    check(launch, host, 4, "persistent_collectives", "each", host_serves=True,
          env={"ESPALIER_SHM": "6MiB", **SILENT, **statistics.env})
    if not hosts.BARE:
        reasons = {row["fallback"] for row in statistics.read()["rows"] if row["fallback"]}
        assert "allreduce" in served(statistics) and any("budget" in reason for reason in reasons), str(reasons)


# --- Over nodes -----------------------------------------------------------------------------------------------------

OVER_NODES = {"ESPALIER_NONBLOCKING": "on", **STRICT}


@pytest.mark.parametrize("ranks, nodes", [(4, "1+2+1"), full(5, "2+1+2"), full(4, "3:cyclic"), full(2, "1+1")])
def test_over_nodes(launch, host, ranks, nodes, statistics):
    check(launch, host, ranks, "persistent_collectives", *all_parts(ranks),
          env={"ESPALIER_NODES": nodes, **OVER_NODES, **statistics.env})
    if not hosts.BARE:
        rows = [row for row in statistics.read()["rows"] if row["algorithm"] == "persistent" and row["calls"] > 0]
        assert {row["collective"] for row in rows} == set(hosts.SPANNING)
        assert all("messages" in row["transport"] and not row["fallback"] for row in rows), str(rows)


@pytest.mark.parametrize("name, program", [
    ("mpich", "persistent_completion"), ("mpich", "persistent_progress"), ("mpich", "persistent_threads"),
    ("mpich", "user_reductions"), full("impi", "user_reductions"),  # Open MPI aborts in it by itself
    *(full(name, program) for name in ("openmpi", "impi") for program in ("persistent_completion", "persistent_progress"))])
def test_ways_and_progress_over_nodes(launch, name, program):
    check(launch, hosts.HOSTS[name], 3, program, env={"ESPALIER_NODES": "2+1", **OVER_NODES})


@pytest.mark.parametrize("name", ["mpich", full("openmpi"), full("impi")])
def test_wrong_arguments_over_nodes_leave_nobody_waiting(launch, name):
    env = {"ESPALIER_NODES": "2+1", **OVER_NODES}
    succeeded(launch(hosts.HOSTS[name], 3, "persistent_bad_arguments", "-strangers", env=env, timeout=40),
              "persistent_bad_arguments")


@pytest.mark.needs_espalier
@pytest.mark.parametrize("mistake", ["lengths of allreduce", "roots of bcast", full("collectives")])
def test_ranks_of_several_nodes_that_do_not_agree_are_named(launch, mistake):
    env = {"ESPALIER_NODES": "1+1", **OVER_NODES}
    run = launch(hosts.HOSTS["mpich"], 2, "persistent_mistake", mistake, env=env, timeout=120)
    assert run.status != 0 and re.search(r"rank 0.*rank 1", run.err), str(run)


@pytest.mark.parametrize("name", ["openmpi", "impi"])
def test_over_nodes_these_hosts_serve_them_by_themselves(launch, name, statistics):
    check(launch, hosts.HOSTS[name], 4, "persistent_collectives", "-freed", "-split", host_serves=True,
          env={"ESPALIER_NODES": "2", **SILENT, **statistics.env})
    check_left_to_host(statistics)


# --- Mistakes -------------------------------------------------------------------------------------------------------

@pytest.mark.needs_espalier
@pytest.mark.parametrize("name, mistake", [
    ("mpich", "lengths of allreduce"), ("mpich", "lengths of bcast"), ("mpich", "roots of bcast"),
    ("mpich", "roots of reduce"), ("mpich", "collectives"), ("openmpi", "lengths of allreduce"),
    ("impi", "lengths of allreduce"), full("openmpi", "roots of bcast"), full("impi", "roots of bcast")])
def test_ranks_that_do_not_agree_are_named(launch, name, mistake):
    run = launch(hosts.HOSTS[name], 2, "persistent_mistake", mistake, env=STRICT, timeout=120)
    assert run.status != 0, str(run)
    assert re.search(r"rank 0.*rank 1", run.err), str(run)


@pytest.mark.parametrize("ranks", [2, full(4)])
def test_a_rank_whose_arguments_are_wrong_leaves_nobody_waiting(launch, host, ranks):
    run = launch(host, ranks, "persistent_bad_arguments", *([] if hosts.BARE else ["told"]), env=STRICT, timeout=40)
    succeeded(run, "persistent_bad_arguments")
    assert hosts.BARE or "could not prepare its part: its arguments are not valid" in run.err, str(run)


@pytest.mark.every_host
@pytest.mark.needs_espalier
def test_a_start_too_many_and_a_free_too_early_lose_nothing(launch, host):
    run = launch(host, 2, "persistent_misuse", env=STRICT, timeout=120)
    succeeded(run, "persistent_misuse")
    assert "started, and not complete" in run.err and "freed while it is active" in run.err, str(run)
    assert "inactive persistent request" not in run.out + run.err, f"MPICH complains about the one that is left\n{run}"
