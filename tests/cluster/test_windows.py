"""Windows across emulated nodes: every transport, under every host."""

import hosts
import pytest
import windows

pytestmark = pytest.mark.needs_espalier

CARRIED = [(name, kind) for name in hosts.THREE for kind in ("message", "rma")] + [("impi", "notify")]


def check(run_on, name, layout, kind, *words):
    host = hosts.HOSTS[name]
    run = run_on(host, layout, windows.program(host), *words, env={"ESPALIER_WINDOW_TRANSPORT": kind}, timeout=200)
    outcome = windows.passed(run)
    assert outcome.transport == kind
    return outcome


@pytest.mark.parametrize("name, kind", CARRIED)
def test_the_contract(run_on, name, kind):
    assert check(run_on, name, "2x2", kind, "contract").nodes == 2


@pytest.mark.full
@pytest.mark.parametrize("name, kind", CARRIED)
def test_ids_wrap_around(run_on, name, kind):
    check(run_on, name, "2x1", kind, "stream", 500, 7, 1000)


@pytest.mark.full
@pytest.mark.parametrize("name", hosts.THREE)
def test_nodes_of_unequal_size(run_on, name):
    assert check(run_on, name, "3+1+3", "message", "contract").nodes == 3


@pytest.mark.full
@pytest.mark.parametrize("layout", ["4x2", "8x2", "4x2-cyclic"])
@pytest.mark.parametrize("name, kind", CARRIED)
def test_the_contract_on_more_nodes(run_on, name, kind, layout):
    check(run_on, name, layout, kind, "contract")
