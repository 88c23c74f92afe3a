"""What all Python tests share: `full` marks those that take long and show little that others do not; `alone` those that
run beside no other (tools/test.py): they look at the whole machine, or their many ranks take several times as long there."""

import os
import tempfile

import pytest

FULL = os.environ.get("ESPALIER_TEST_FULL") == "1"
# Open MPI 5 tries this component for one-sided messages, cannot use it on a machine without such a network, and sleeps for a
# second when it puts it away: in MPI_Init, three times as long as all else. What its collectives do is the same without it.
os.environ.setdefault("OMPI_MCA_btl", "^ofi")
# It also asks libfabric for a network, whose InfiniBand part reads all of /proc/kallsyms in each rank before it finds none: half of
# the processors' time of a short job. Messages go by ob1 either way.
os.environ.setdefault("OMPI_MCA_mtl", "^ofi")
# numpy's BLAS starts a thread for each core when it is loaded. No test multiplies matrices, and each rank loads it anew.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def pytest_configure(config):
    config.addinivalue_line("markers", "full: only in `make test-full` (ESPALIER_TEST_FULL=1)")
    config.addinivalue_line("markers", "alone: what other tests do meanwhile would disturb it, or slow it several times")


def pytest_collection_modifyitems(config, items):
    chosen = config.getoption("markexpr") not in ("", "alone", "not alone")  # tools/test.py says these
    if FULL or chosen:  # -m sanitizer: a user who chooses gets what is chosen
        return
    left_out = [item for item in items if item.get_closest_marker("full")]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]


@pytest.fixture(autouse=True, scope="session")
def _own_temporary_folder():
    """Launchers of Open MPI remove the folder they share under TMPDIR when they think themselves the last: one that starts just
    then fails ("The PMIx server's listener thread failed to start"). Tests that run at once do not share it."""
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    if worker is None:
        yield
        return
    with tempfile.TemporaryDirectory(prefix=f"{worker}-", ignore_cleanup_errors=True) as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", folder)
        yield
