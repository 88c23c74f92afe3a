"""GASPI's names (espalier/gaspi.h): tutorial programs under every host, on one node and on two that are pretended."""

import subprocess
import time

import gaspi
import hosts
import pytest
from test_killed import alive

pytestmark = pytest.mark.needs_espalier

PROGRAMS = ["ping_pong", "halo_exchange", "allreduce"]


def _within(seconds, condition):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


@pytest.mark.parametrize("nodes", ["1", "2"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_tutorial_programs(launch, host, name, nodes):
    ranks = 2 if name == "ping_pong" else 4
    run = launch(host, ranks, gaspi.program(name), env={"ESPALIER_NODES": nodes})
    assert run.status == 0 and f"{name}: ranks {ranks}, right" in run.out, str(run)


@pytest.mark.parametrize("name", PROGRAMS)
def test_without_mpi(name):
    run = gaspi.without_mpi(3, gaspi.program(name))
    assert run.status == 0 and f"{name}: ranks 3, right" in run.out, str(run)


def test_a_rank_that_fails_ends_the_job(tmp_path):
    script = tmp_path / "fails"
    script.write_text('#!/bin/sh\n[ "$ESPALIER_RUN_RANK" = 1 ] && exit 7\nexec sleep 60\n')
    script.chmod(0o755)
    run = gaspi.without_mpi(3, script, timeout=30)
    assert run.status == 7, str(run)


def test_a_killed_command_leaves_no_rank(tmp_path):
    started = tmp_path / "started"
    script = tmp_path / "waits"
    script.write_text(f'#!/bin/sh\necho $$ >> "{started}"\nexec sleep 60\n')
    script.chmod(0o755)
    with subprocess.Popen(gaspi.command(2, script), env=gaspi.environment()) as command:
        try:
            assert _within(60, lambda: started.exists() and len(started.read_text().split()) == 2)
        finally:
            command.kill()
    ranks = [int(word) for word in started.read_text().split()]
    assert _within(60, lambda: not alive(ranks)), f"still there: {alive(ranks)}"


@pytest.mark.parametrize("nodes", ["1", "2"])
def test_order_and_limits(launch, nodes):
    """Notifications come after all earlier writes, long ones too; numbers out of place are refused with a text."""
    run = launch(hosts.HOSTS["mpich"], 2, gaspi.program("gaspi", hosts.SOURCES), "contract", env={"ESPALIER_NODES": nodes})
    assert run.status == 0 and "gaspi: right" in run.out, str(run)


def test_threads():
    """A thread that waits lets the other threads in."""
    run = gaspi.without_mpi(2, gaspi.program("gaspi", hosts.SOURCES), "threads")
    assert run.status == 0 and "gaspi: right" in run.out, str(run)


def test_a_transport_without_order_is_refused(launch):
    env = {"ESPALIER_NODES": "2", "ESPALIER_WINDOW_TRANSPORT": "rma"}
    run = launch(hosts.HOSTS["mpich"], 2, gaspi.program("allreduce"), env=env)
    assert run.status != 0 and "ESPALIER_WINDOW_TRANSPORT=rma does not keep the order of writes" in run.err, str(run)


@pytest.mark.parametrize("mistake, text", [
    ("range", "gaspi_write: 16 bytes at offset 4088 leave the segment of 4096 bytes of rank 1"),
    ("mismatch", "calls gaspi_barrier"),
    ("passive", "gaspi_passive_send: not supported; use gaspi_write_notify"),
])
def test_mistakes(mistake, text):
    run = gaspi.without_mpi(2, gaspi.program("gaspi", hosts.SOURCES), mistake)
    assert run.status != 0 and text in run.err, str(run)


def test_without_a_launcher():
    done = gaspi.alone(gaspi.program("allreduce"))
    assert done.returncode != 0 and "no launcher has started this program: espalier run -n 4" in done.stderr


def test_without_the_interposer(launch):
    run = launch(hosts.HOSTS["mpich"], 2, gaspi.program("allreduce"), espalier=False)
    assert run.status != 0 and "espalier run -- mpirun" in run.err, str(run)
