"""What all Python tests share: `full` marks those that take long and show little that others do not; `alone` those that
look at the whole machine, and so run beside no other."""

import fcntl
import os

import pytest

FULL = os.environ.get("ESPALIER_TEST_FULL") == "1"


def pytest_configure(config):
    config.addinivalue_line("markers", "full: only in `make test-full` (ESPALIER_TEST_FULL=1)")
    config.addinivalue_line("markers", "alone: what other tests do meanwhile would disturb it (tools/test.py runs several at once)")


def pytest_collection_modifyitems(config, items):
    if FULL or config.getoption("markexpr"):  # -m sanitizer: whoever chooses gets what is chosen
        return
    left_out = [item for item in items if item.get_closest_marker("full")]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]


@pytest.fixture(autouse=True)
def _beside_others(request, tmp_path_factory):
    """Tests share a lock, and one that is marked `alone` has it to itself."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        yield
        return
    with open(tmp_path_factory.getbasetemp().parent / "beside-others.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX if request.node.get_closest_marker("alone") else fcntl.LOCK_SH)
        yield
