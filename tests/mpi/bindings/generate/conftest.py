"""What the tests of the generator of entry points share: its modules, and the table."""

import sys
from pathlib import Path

import pytest

BINDINGS = Path(__file__).resolve().parents[4] / "src/mpi/bindings"
sys.path.insert(0, str(BINDINGS / "generate"))

import table  # noqa: E402


@pytest.fixture(scope="session")
def functions():
    return table.read(BINDINGS / "functions.def")


@pytest.fixture
def parse():
    """The only function of a table."""
    return lambda text: table.parse(text)[0]
