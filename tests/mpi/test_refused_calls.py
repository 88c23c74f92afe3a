"""One system call refused, on one rank or on all: Espalier does without it, or leaves the calls to the host, agreed, and says
which call it was. No rank waits for another that was refused."""

import os
import re

import hosts
import meetings
import pytest

pytestmark = pytest.mark.needs_espalier

# What the reason says where the call's own name does not stand there.
WORDS = {"mmap": "cannot map", "fallocate": "fallocate|of shared memory left", "sendto": "send", "recvfrom": "recv"}
OF_MPI = ["memfd_create", "socket", "bind", "connect", "accept4", "getsockopt", "sendmsg", "recvmsg", "fcntl", "fchmod",
          "fallocate", "mmap", "madvise", "process_vm_readv", "pidfd_open", "futex", "getrandom"]
OF_MEETINGS = [*OF_MPI, "listen", "sendto", "recvfrom", "poll", "ftruncate"]
MORE = [("accept4", "EMFILE"), ("socket", "EMFILE")]
TURNS, LONG = [("all", 4), ("0", 2), ("1", 4)], [("0", 4), ("1", 2), ("all", 2)]
# Where Espalier does without; in all others the reason is to be said.
DONE_WITHOUT = {"memfd_create", "fchmod", "madvise", "process_vm_readv", "pidfd_open", "futex", "getrandom"}


def cases(calls, more):
    """(call, error, who, ranks): each call is refused by turns to all ranks, to the first and to another one. The rest is for the
    long tests."""
    for number, what in enumerate([*((call, "EPERM") for call in calls), *more]):
        chosen = TURNS[number % 3]
        # AddressSanitizer itself does not start where it may map nothing.
        yield pytest.param(*what, *chosen, marks=[pytest.mark.unsanitized] if what[0] == "mmap" else [])
        yield from (pytest.param(*what, *where, marks=pytest.mark.full) for where in (*TURNS, *LONG) if where != chosen)


def names(call, text):
    return re.search(WORDS.get(call, call), text)


def refusing(call, error, who):
    return [hosts.plain_program("refuse_call"), call, error, who]


def run(launch, wrap, ranks, **env):
    host = hosts.HOSTS["mpich"]
    # MPICH reads other ranks' memory by the call that is refused here.
    env["MPIR_CVAR_CH4_CMA_ENABLE"] = "0"
    return launch(host, ranks, wrap[0], *wrap[1:], hosts.program(host, "checked"), "--only", "barrier,roots", env=env, timeout=120)


def passed(outcome):
    return outcome.status == 0 and re.search(r"^\d+ passed, 0 failed", outcome.out, re.M)


@pytest.mark.parametrize("call, error, who, ranks", list(cases(OF_MPI, [*MORE, ("fallocate", "ENOSPC")])))
def test_a_call_refused_under_mpi(launch, statistics, call, error, who, ranks):
    wrap = refusing(call, error, who)
    outcome = run(launch, wrap, ranks, ESPALIER_FALLBACK="silent", **statistics.env)
    if not passed(outcome) and not passed(run(launch, wrap, ranks, ESPALIER="off")):
        pytest.skip(f"MPICH itself cannot do without {call}")
    assert passed(outcome), str(outcome)
    rows = statistics.read()["rows"]
    reasons = {row["fallback"] for row in rows if row["fallback"]}
    shared = any(row["transport"] == "shared memory" for row in rows)
    assert shared != bool(reasons), str(rows)
    assert call not in DONE_WITHOUT or shared, str(reasons)
    assert all(names(call, reason) for reason in reasons), str(reasons)


@pytest.mark.parametrize("call, error, who, ranks", list(cases(OF_MEETINGS, MORE)))
def test_a_call_refused_in_a_meeting(call, error, who, ranks):
    # Where a rank cannot say that it was refused, the others wait for the whole of the time. All come in a short one unless the
    # machine is busy.
    for milliseconds in (50_000,) if call in DONE_WITHOUT else (500, 15_000):
        name = f"refused-{os.getpid()}-{call}-{error}-{who}-{ranks}-{milliseconds}"
        met = meetings.meet(name, ranks, milliseconds, refusing(call, error, who))
        if meetings.right(met) or any(names(call, rank.said) for rank in met):
            break
    if call in DONE_WITHOUT:
        assert meetings.right(met), str(met)
    if meetings.right(met):
        return
    assert {rank.code for rank in met} <= {meetings.REFUSED, meetings.TIMED_OUT, meetings.SYSTEM}, str(met)
    if all(rank.code == meetings.REFUSED for rank in met):
        assert len({rank.said for rank in met}) == 1, "all ranks name the same reason"
    assert any(names(call, rank.said) for rank in met), str(met)
