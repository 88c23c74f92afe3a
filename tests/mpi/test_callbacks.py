"""What the program's own functions do while MPI, or the process, is in the middle of something: attribute callbacks, error
handlers and operators that call MPI or throw, destructors of static objects."""

import re

import hosts
import pytest

STRICT = {"ESPALIER_FALLBACK": "error"}


def succeeded(run, name, ranks):
    assert run.status == 0, str(run)
    assert len(re.findall(rf"{name}, rank \d: 0 failed", run.out)) == ranks, str(run)


@pytest.mark.every_host
@pytest.mark.parametrize("ranks", [pytest.param(2, marks=pytest.mark.full), 3])
@pytest.mark.parametrize("which", ["deletes", "copies", "handlers", "finalizes"])
def test_callbacks_use_what_is_being_freed(launch, host, which, ranks):
    # What a delete callback does on the communicator that is being freed is the host's, so no policy forbids that.
    succeeded(launch(host, ranks, "callbacks", which), "callbacks", ranks)


@pytest.mark.every_host
@pytest.mark.parametrize("what", ["error", "number"])
def test_an_error_handler_throws(launch, host, what):
    succeeded(launch(host, 2, "throwing", "handler", what, env=STRICT), "throwing", 2)


@pytest.mark.every_host
@pytest.mark.needs_espalier  # hosts leave the other ranks waiting
@pytest.mark.parametrize("what, ranks", [("error", 4), ("number", 2), *(pytest.param(what, ranks, marks=pytest.mark.full)
                                                                        for what, ranks in (("error", 2), ("number", 4)))])
def test_an_operator_throws(launch, host, ranks, what):
    run = launch(host, ranks, "throwing", "operator", what, env=STRICT)
    succeeded(run, "throwing", ranks)
    assert re.search(r"rank \d left its \w+ of \d+ bytes.* by an exception", run.err), str(run)


@pytest.mark.needs_espalier
def test_an_operator_throws_on_one_of_several_nodes(launch, host):
    """Ranks of the other node hear of it, too. (Not with node stages by messages: docs/mistakes.md, "What is not found".)"""
    env = {**STRICT, "ESPALIER_NODES": "2"}
    succeeded(launch(host, 4, "throwing", "operator", "error", env=env), "throwing", 4)


@pytest.mark.every_host
@pytest.mark.parametrize("used", [[], ["used"]])
def test_static_objects_use_mpi_after_main(launch, host, used):
    succeeded(launch(host, 2, "static_objects", *used, env=STRICT), "static_objects", 2)


@pytest.mark.needs_espalier
def test_static_objects_use_mpi_after_main_with_statistics(launch, statistics):
    succeeded(launch(hosts.HOSTS["mpich"], 2, "static_objects", env={**STRICT, **statistics.env}), "static_objects", 2)
    statistics.read()
