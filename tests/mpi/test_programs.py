"""Programs with one purpose each: sends in flight, communicators without end, threads, sessions, large messages."""

import os
import re

import hosts
import pytest

FULL = os.environ.get("ESPALIER_TEST_FULL") == "1"
STRICT = {"ESPALIER_FALLBACK": "error"}


def succeeded(run, name):
    assert run.status == 0, str(run)
    assert re.search(rf"^{re.escape(name)}.*\b0 failed$", run.out, re.M), f"no line that says so\n{run}"


SOON = ((2, "spin", 0), (2, "sleep", 60), (4, "auto", 60))


@pytest.mark.every_host
@pytest.mark.sanitizer
@pytest.mark.parametrize("ranks, wait, late", [
    *SOON, *(pytest.param(ranks, wait, late, marks=pytest.mark.full) for late in (0, 60) for ranks in (2, 4)
             for wait in ("auto", "spin", "sleep") if (ranks, wait, late) not in SOON)])
def test_send_in_flight(launch, host, ranks, wait, late):
    """A rank with a 4 MiB MPI_Isend outstanding waits in a collective until its partner has received, at once or after `late`
    milliseconds, when the other has fallen asleep: no deadlock."""
    if hosts.BARE and wait != "auto":
        pytest.skip("ESPALIER_TEST_BARE=1: the host has its own way of waiting")
    succeeded(launch(host, ranks, "isend_outstanding", late, env={**STRICT, "ESPALIER_WAIT": wait}, timeout=90),
              "isend_outstanding")


# How each host is told not to let the receiver fetch the data by itself: then the sender must make progress.
WITHOUT_SINGLE_COPY = {"mpich": {"MPIR_CVAR_CH4_CMA_ENABLE": "0"}, "openmpi": {"OMPI_MCA_smsc": "^cma"},
                       "impi": {"I_MPI_SHM_CMA": "0"}}


@pytest.mark.parametrize("wait", ["auto", "sleep"])
def test_send_in_flight_without_single_copy(launch, host, wait):
    """A probe of a communicator of one drove nothing under MPICH; the sender's wait must run the whole progress engine."""
    env = {**STRICT, "ESPALIER_WAIT": wait, **WITHOUT_SINGLE_COPY[host.name]}
    succeeded(launch(host, 2, "isend_outstanding", 20, env=env, timeout=90), "isend_outstanding")


CREATION = {
    "as it is": {},
    "short messages in slots": {"ESPALIER_INLINE": "off"},
    "by a counter": {"ESPALIER_ALLREDUCE": "central", "ESPALIER_BARRIER": "central"},
    "in slices": {"ESPALIER_ALLREDUCE": "sliced"},
    "agreed on": {"ESPALIER_SETUP": "agree"},
    "without memory": {"ESPALIER_SHM": "700KiB", "ESPALIER_FALLBACK": "silent"},
}


@pytest.mark.every_host
@pytest.mark.sanitizer
@pytest.mark.parametrize("ranks", [2, 3, 5])
def test_communicators_of_every_origin(launch, host, ranks):
    """The first call on a communicator finds the right memory, whichever function has made it."""
    succeeded(launch(host, ranks, "creation", 2, env=STRICT, timeout=120), "creation")


@pytest.mark.parametrize("way", [way for way in CREATION if CREATION[way]])
def test_communicators_of_every_origin_in_other_ways(launch, way):
    run = launch(hosts.HOSTS["mpich"], 4, "creation", 2, env={**STRICT, **CREATION[way]}, timeout=120)
    succeeded(run, "creation")


CHURN = {"mpich": 10000, "openmpi": 1000, "impi": 1000}  # `make test-full`: ten thousand under each


@pytest.mark.every_host
@pytest.mark.alone
@pytest.mark.slow
@pytest.mark.unsanitized
def test_communicators_come_and_go(launch, host):
    """Many create/collective/free cycles change neither memory nor descriptors nor maps."""
    cycles = 10000 if FULL else CHURN[host.name]
    run = launch(host, 4, "churn", cycles, env=STRICT, timeout=240)
    assert run.status == 0 and "GROWN" not in run.err, str(run)
    assert re.search(rf"^churn, rank 0, {cycles} cycles: ", run.out, re.M), str(run)


@pytest.mark.full
@pytest.mark.sanitizer
def test_communicators_come_and_go_a_little(launch):
    run = launch(hosts.HOSTS["mpich"], 4, "churn", 500, env=STRICT, timeout=120)
    # A sanitizer's own memory grows; wrong results and leaked descriptors still count.
    assert "WRONG" not in run.err and re.search(r"rank 0, 500 cycles", run.out + run.err), str(run)


@pytest.mark.every_host
@pytest.mark.sanitizer
@pytest.mark.parametrize("ranks", [2, 4])
def test_threads(launch, host, ranks):
    succeeded(launch(host, ranks, "threads", env=STRICT), "threads")


@pytest.mark.every_host
def test_sessions(launch, host):
    """A program without MPI_Init."""
    succeeded(launch(host, 3, "session", 1), "session")


@pytest.mark.full
def test_a_session_after_the_last_one_ended(launch):
    """Only MPICH can do that, and hangs in its own MPI_Comm_create_from_group one time in about thirty, with and without
    Espalier: so a run that hangs is no failure, three of them are."""
    for _ in range(3):
        try:
            return succeeded(launch(hosts.HOSTS["mpich"], 3, "session", 3, timeout=20), "session")
        except hosts.TimedOut as hung:
            last = hung
    raise last


def test_a_session_of_some_ranks_before_the_world(launch):
    """Two ranks have met before the others come: what spans both is the host's, and no rank waits for ever."""
    succeeded(launch(hosts.HOSTS["mpich"], 4, "session_first", env={"ESPALIER_FALLBACK": "silent"}), "session_first")


@pytest.mark.every_host
@pytest.mark.parametrize("ranks", [2, 5])
def test_intercommunicators(launch, host, ranks):
    """They belong to the host also where the policy is error: nothing there that Espalier should take."""
    succeeded(launch(host, ranks, "intercomm", env=STRICT), "intercomm")


@pytest.mark.every_host
@pytest.mark.parametrize("ranks", [2, 4])
def test_persistent_collectives(launch, host, ranks):
    """Beside other collectives (test_persistent.py has the rest): a rank that starts one and then waits in another must let
    it go on."""
    succeeded(launch(host, ranks, "persistent", env=STRICT), "persistent")


def test_spawned_children(launch):
    run = launch(hosts.HOSTS["mpich"], 2, "spawn", timeout=120)
    succeeded(run, "spawn, parents")
    succeeded(run, "spawn, children")


@pytest.mark.every_host
def test_programs_started_by_ranks(launch, host):
    succeeded(launch(host, 3, "child", env=STRICT), "child")


def memory_available():
    with open("/proc/meminfo") as lines:
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable"))


@pytest.mark.alone
@pytest.mark.slow
@pytest.mark.full
@pytest.mark.parametrize("name", hosts.THREE)
def test_messages_beyond_two_gibibytes(launch, name):
    """Two ranks with two buffers of 2.25 GiB each, on one host after the other."""
    needed = int(12 * 2**30)
    if memory_available() < needed:
        pytest.skip(f"needs {needed >> 30} GiB of free memory, there are {memory_available() >> 30}")
    succeeded(launch(hosts.HOSTS[name], 2, "large", "2.25", env=STRICT, timeout=240), "large")


def test_messages_of_some_mebibytes(launch, host):
    """The same program, small: longer than any slot, and the counts unlike."""
    succeeded(launch(host, 3, "large", "0.02", env=STRICT), "large")
