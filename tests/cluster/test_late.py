"""Late ranks and late nodes: no rank's result may change, and no rank may wait for ever."""

import re
import threading
from contextlib import contextmanager

import pytest
from test_checked import passed, without

LATE_MS = 10


def succeeded(run):
    assert run.status == 0, str(run)
    assert re.search(r"^late_root: 0 failed$", run.out, re.M), f"no line that says so\n{run}"


@pytest.mark.parametrize(
    "layout",
    [
        "2x2",
        "3+1+3",
        pytest.param("4x2", marks=pytest.mark.full),
        pytest.param("4x2-cyclic", marks=pytest.mark.full),
        pytest.param("8x2", marks=pytest.mark.full),
    ],
)
def test_a_root_that_comes_last(run_on, host, layout):
    """With a 4 MiB MPI_Isend between two other ranks outstanding throughout."""
    succeeded(run_on(host, layout, "late_root", LATE_MS, timeout=200))


@contextmanager
def now_and_then(cluster, node, stop_s=0.15, go_s=0.25):
    """All processes of the node stand still from time to time. Yields a list that grows by one each time."""
    over, times = threading.Event(), []

    def work():
        while not over.wait(go_s):
            with cluster.stopped(node) as held:
                if held:
                    times.append(len(held))
                over.wait(stop_s)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield times
    finally:
        over.set()
        thread.join()


@pytest.mark.parametrize(
    "node", ["n1", pytest.param("n0", marks=pytest.mark.full), pytest.param("n2", marks=pytest.mark.full)]
)
def test_a_node_that_stops_now_and_then(cluster, run_on, host, node):
    subjects = "barrier,roots,prefixes,communicators,interleaved"
    with now_and_then(cluster, node) as times:
        run = run_on(
            host, "3+1+3", "checked", "--only", subjects, *without(host), timeout=200
        )
    assert passed(run) == 7
    assert times, "the node was never stopped while the job ran"


@pytest.mark.full
def test_a_late_root_and_a_node_that_stops(cluster, run_on, host):
    with now_and_then(cluster, "n1") as times:
        succeeded(run_on(host, "2x2", "late_root", LATE_MS, timeout=200))
    assert times, "the node was never stopped while the job ran"
