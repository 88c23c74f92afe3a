import json
import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))
import hosts  # noqa: E402
import turns  # noqa: E402


def pytest_configure(config):
    config.addinivalue_line("markers", "sanitizer: short enough, and worth it, for the sanitizer builds (-m sanitizer)")
    config.addinivalue_line("markers", "unsanitized: measures or limits memory, loads the interposer by itself, or looks who calls")
    config.addinivalue_line("markers", "matrix: the checked run over hosts and ranks")
    config.addinivalue_line("markers", "slow: more than half a minute")
    config.addinivalue_line("markers", "every_host: what depends on the host, so `make test` runs it under all three (turns.py)")
    config.addinivalue_line("markers", "by_turns(parameter): `make test` takes its values by turns (turns.py)")
    config.addinivalue_line("markers", "needs_espalier: means nothing on the bare host")


def _of_host_and_ranks(item):
    """(what tests that differ in their number of ranks alone have in common, the host, that number); None for another kind."""
    params = dict(item.callspec.params) if hasattr(item, "callspec") else {}
    host, ranks = params.get("host"), params.pop("ranks", None)
    if host not in hosts.THREE or not isinstance(ranks, int) or item.get_closest_marker("full"):
        return None
    if not item.get_closest_marker("every_host"):
        return None  # turns.py chooses its host
    return (item.nodeid.split("[")[0], str(params)), host, ranks


def _leave_out_ranks(items):
    """Of tests that run under every host. What differs between numbers of ranks is above the host: under MPICH there are all of
    them, under the others the fewest that are several."""
    fewest = {}
    for item in items:
        if found := _of_host_and_ranks(item):
            key, _, ranks = found
            if ranks > 1:
                fewest[key] = min(ranks, fewest.get(key, ranks))
    for item in items:
        if (found := _of_host_and_ranks(item)) and found[1] != "mpich" and found[2] != fewest.get(found[0], found[2]):
            item.add_marker(pytest.mark.full)


@pytest.hookimpl(tryfirst=True)  # before those with the mark `full` are left out
def pytest_collection_modifyitems(items):
    turns.values_by_turns(items)
    _leave_out_ranks(items)
    turns.take_turns(items)
    if not hosts.BARE:
        return
    skip = pytest.mark.skip(reason="ESPALIER_TEST_BARE=1: this test is about Espalier itself")
    for item in items:
        if item.get_closest_marker("needs_espalier"):
            item.add_marker(skip)


@pytest.fixture
def launch():
    return hosts.launch


@pytest.fixture(params=hosts.THREE)
def host(request):
    return hosts.HOSTS[request.param]


class Statistics:
    """The file that rank 0 writes at MPI_Finalize (ESPALIER_STATS=file)."""

    def __init__(self, path):
        self.path = Path(path)

    @property
    def env(self):
        return {"ESPALIER_STATS": str(self.path)}

    def read(self):
        assert self.path.exists(), f"no statistics at {self.path}: nothing was intercepted, or MPI_Finalize was not"
        data = json.loads(self.path.read_text())
        assert data["schema"] == 1
        return data

    def check(self, host, ranks, collectives=hosts.FOUR):
        """All these collectives ran through shared memory, on this build and number of ranks."""
        if hosts.BARE:
            return None
        data = self.read()
        assert data["ranks"] == ranks
        assert data["build"] == host.build
        taken = {row["collective"] for row in data["rows"] if row["transport"] == "shared memory" and row["calls"] > 0}
        assert set(collectives) <= taken, f"taken: {sorted(taken)}\n{json.dumps(data, indent=1)[:4000]}"
        return data


@pytest.fixture
def statistics(tmp_path):
    return Statistics(tmp_path / "statistics.json")


@pytest.fixture
def root_or_skip():
    if os.geteuid() != 0:
        pytest.skip("needs root (or user namespaces) for `unshare -m`")
