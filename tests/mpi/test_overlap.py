"""Nonblocking collectives that a thread of Espalier's advances while the program computes."""

import re

import hosts
import pytest

THREAD = {"ESPALIER_FALLBACK": "error", "ESPALIER_NONBLOCKING": "on", "ESPALIER_PROGRESS": "thread"}

pytestmark = pytest.mark.needs_espalier


def full(*values):
    return pytest.param(*values, marks=pytest.mark.full)


def succeeded(run, name):
    assert run.status == 0, str(run)
    assert re.search(rf"^{re.escape(name)}: (\d+ checks, )?0 failed$", run.out, re.M), f"no line that says so\n{run}"


@pytest.mark.sanitizer
@pytest.mark.parametrize("ranks", [2, 3, full(4)])
def test_long_calls_end_while_the_program_computes(launch, host, ranks):
    succeeded(launch(host, ranks, "overlap", env=THREAD, timeout=60), "overlap")


def test_without_the_thread_they_wait_for_the_program(launch):
    """So the test before this one can fail."""
    run = launch(hosts.HOSTS["mpich"], 2, "overlap", 100, env={**THREAD, "ESPALIER_PROGRESS": "off"}, timeout=60)
    assert run.status != 0 and "did not end while the program computed" in run.out, str(run)


@pytest.mark.sanitizer
@pytest.mark.parametrize("ranks", [2, full(3), 4])
def test_every_part(launch, host, ranks):
    succeeded(launch(host, ranks, "nonblocking", env=THREAD, timeout=110), "nonblocking")


@pytest.mark.parametrize("program", ["nonblocking_threads", "exposed_scatter", "user_reductions", "left_at_finalize"])
@pytest.mark.parametrize("name", ["mpich", full("openmpi"), full("impi")])
def test_other_programs(launch, name, program):
    succeeded(launch(hosts.HOSTS[name], 4, program, env=THREAD, timeout=60), program)


@pytest.mark.parametrize("name", ["mpich", full("openmpi"), full("impi")])
def test_over_nodes(launch, name):
    env = {**THREAD, "ESPALIER_NODES": "1+2+1"}
    succeeded(launch(hosts.HOSTS[name], 4, "nonblocking", "-strangers", env=env, timeout=110), "nonblocking")


@pytest.mark.parametrize("progress", ["thread", full("off")])
def test_over_nodes_a_rank_that_has_started_owes_nothing(launch, progress):
    """What the thread did last on a node no rank sent, where all of them had started and waited in the host."""
    env = {**THREAD, "ESPALIER_NODES": "3+1", "ESPALIER_PROGRESS": progress}
    succeeded(launch(hosts.HOSTS["mpich"], 4, "owing_nothing", env=env, timeout=60), "owing_nothing")


@pytest.mark.skipif(hosts.CORES < 2, reason="there is no second processor")
@pytest.mark.parametrize("ranks", [2, full(4)])
def test_the_thread_takes_a_processor_that_no_rank_uses(launch, ranks):
    succeeded(launch(hosts.HOSTS["mpich"], ranks, "overlap", "pinned", env=THREAD, timeout=60), "overlap")
