"""What all Python tests share: `full` marks those that take long and show little that others do not."""

import os

FULL = os.environ.get("ESPALIER_TEST_FULL") == "1"


def pytest_configure(config):
    config.addinivalue_line("markers", "full: only in `make test-full` (ESPALIER_TEST_FULL=1)")


def pytest_collection_modifyitems(config, items):
    if FULL or config.getoption("markexpr"):  # -m sanitizer: whoever chooses gets what is chosen
        return
    left_out = [item for item in items if item.get_closest_marker("full")]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]
