"""Windows (espalier_window.h) under every host, over nodes that are pretended. Real ones: tests/cluster/test_windows.py."""

import re
import threading

import hosts
import pytest
import windows

pytestmark = pytest.mark.needs_espalier

CARRIED = [(name, kind) for name in hosts.THREE for kind in ("message", "rma")] + [("impi", "notify")]


def run(launch, host, ranks, nodes, *words, **settings):
    env = {"ESPALIER_NODES": nodes, **settings}
    return windows.passed(launch(host, ranks, windows.program(host), *words, env=env, timeout=120))


@pytest.mark.parametrize("name, kind", CARRIED)
def test_the_contract(launch, name, kind):
    outcome = run(launch, hosts.HOSTS[name], 4, "2", "contract", ESPALIER_WINDOW_TRANSPORT=kind)
    assert outcome.nodes == 2 and outcome.transport == kind


@pytest.mark.parametrize("ranks, nodes", [(5, "2+1+2"), (3, "1"), (1, "1")] + [
    pytest.param(*layout, marks=pytest.mark.full) for layout in ((7, "3+1+3"), (6, "3:cyclic"), (5, "5"))])
def test_the_contract_on_other_nodes(launch, ranks, nodes):
    outcome = run(launch, hosts.HOSTS["mpich"], ranks, nodes, "contract")
    assert outcome.transport == ("memory" if nodes == "1" else "message")


def test_the_contract_asleep(launch):
    run(launch, hosts.HOSTS["mpich"], 4, "2", "contract", ESPALIER_WAIT="sleep")


@pytest.mark.parametrize("name, kind", CARRIED)
def test_ids_wrap_around(launch, name, kind):
    run(launch, hosts.HOSTS[name], 2, "2", "stream", 5000, 7, 100, ESPALIER_WINDOW_TRANSPORT=kind)


@pytest.mark.parametrize("each", [50000, pytest.param(500000, marks=pytest.mark.full)])
def test_many_notifications(launch, each):
    """So many each way between two nodes, a million in all, each payload checked. (On one node: tests/runtime.)"""
    run(launch, hosts.HOSTS["mpich"], 2, "2", "stream", each, 1000, 8)


@pytest.mark.full
@pytest.mark.parametrize("name, kind", [row for row in CARRIED if row != ("mpich", "message")])
def test_many_notifications_by_every_transport(launch, name, kind):
    run(launch, hosts.HOSTS[name], 2, "2", "stream", 500000, 1000, 8, ESPALIER_WINDOW_TRANSPORT=kind)


def test_long_payloads_in_a_stream(launch, host):
    run(launch, host, 4, "2", "stream", 200, 5, 100000)


@pytest.mark.parametrize("name, kind", CARRIED)
def test_a_busy_target(launch, name, kind):
    run(launch, hosts.HOSTS[name], 4, "2", "busy", ESPALIER_WINDOW_TRANSPORT=kind)


def test_two_jobs_at_once(launch):
    """On one machine, with the same programs, windows and ids, and data of their own."""
    host, outcomes = hosts.HOSTS["mpich"], {}

    def job(seed):
        env = {"ESPALIER_NODES": "2"}
        outcomes[seed] = launch(host, 4, windows.program(host), "stream", 3000, 16, 500, seed, env=env, timeout=120)

    windows.program(host)
    jobs = [threading.Thread(target=job, args=(seed,)) for seed in (1, 2)]
    for each in jobs:
        each.start()
    for each in jobs:
        each.join()
    assert len(outcomes) == 2
    for outcome in outcomes.values():
        windows.passed(outcome)


def test_what_a_host_lacks_is_replaced(launch):
    """MPICH has no notified puts: messages carry the window, and it says so."""
    env = {"ESPALIER_NODES": "2", "ESPALIER_WINDOW_TRANSPORT": "notify"}
    host = hosts.HOSTS["mpich"]
    outcome = windows.passed(launch(host, 2, windows.program(host), "stream", 10, 3, 8, env=env))
    assert outcome.transport == "message" and "no MPIX_Put_notify" in outcome.why


def test_without_espalier_there_is_no_world(launch):
    host = hosts.HOSTS["mpich"]
    outcome = launch(host, 2, windows.program(host), "contract", espalier=False)
    assert outcome.status == 5 and "there is no MPI world here" in outcome.err, str(outcome)


def test_the_standard_abi(launch):
    run(launch, hosts.HOSTS["mpich-abi"], 4, "2", "contract", ESPALIER_WINDOW_TRANSPORT="rma")


def test_nothing_is_left_in_shared_memory(launch):
    before = windows.names_in_shm()
    run(launch, hosts.HOSTS["mpich"], 4, "2", "contract", ESPALIER_MEMFD="off")
    left = [name for name in windows.names_in_shm() - before if re.match(r"espalier-window", name)]
    assert not left
