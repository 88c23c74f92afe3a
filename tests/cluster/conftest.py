"""Emulated nodes for the tests: one cluster a session, on whose first nodes every layout is placed."""

import os
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent
for folder in (REPOSITORY / "tests" / "mpi", REPOSITORY / "tools", HERE):
    sys.path.insert(0, str(folder))
import hosts  # noqa: E402
import turns  # noqa: E402
from emulated_cluster import Cluster, obstacle, parse_layout  # noqa: E402
from jobs import Job  # noqa: E402

LAYOUTS = ["2x1", "2x2", "4x2", "8x2", "3+1+3", "4x2-cyclic"]


def pytest_configure(config):
    config.addinivalue_line("markers", "every_host: what depends on the host, so `make test` runs it under all three (turns.py)")
    config.addinivalue_line("markers", "needs_espalier: means nothing on the bare host")


@pytest.hookimpl(tryfirst=True)  # before those with the mark `full` are left out
def pytest_collection_modifyitems(config, items):
    turns.take_turns(items)
    if hosts.BARE:
        skip = pytest.mark.skip(reason="ESPALIER_TEST_BARE=1: this test is about Espalier itself")
        for item in items:
            if item.get_closest_marker("needs_espalier"):
                item.add_marker(skip)


@pytest.fixture(scope="session")
def namespaces():
    """Skips, with the reason, where name spaces are refused."""
    why = obstacle()
    if why:
        pytest.skip(why)


@pytest.fixture(scope="session")
def whole_cluster(namespaces, tmp_path_factory):
    most = max(parse_layout(name).nodes for name in LAYOUTS)
    keep = [tmp_path_factory.getbasetemp(), hosts.LIBRARIES, hosts.BUILT, hosts.VENVS.resolve()]
    with Cluster(most, keep=keep) as made:
        yield made


@pytest.fixture
def cluster(whole_cluster):
    """The session's cluster; what a test leaves running in it is killed."""
    yield whole_cluster
    whole_cluster.clear()


@pytest.fixture(params=hosts.THREE)
def host(request):
    return hosts.HOSTS[request.param]


@pytest.fixture
def run_on(cluster):
    """run_on(host, layout, program, ...): see jobs.Job.run."""
    return lambda host, layout, *words, **more: Job(cluster, host, parse_layout(layout)).run(*words, **more)
