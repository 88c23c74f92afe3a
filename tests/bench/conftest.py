import pytest

from made_up import make_document, make_job, steady


@pytest.fixture
def document():
    rounds = steady("barrier", 0, 0.4, 0.1) + steady("bcast", 8, 0.5, 0.25) + steady("bcast", 1048576, 100.0, 50.0)
    rounds += steady("bcast", 1048576, 300.0, 200.0, f_ns=250.0)
    return make_document(make_job("mpich", 2, rounds))
