"""`espalier who`: programs that hang, and the rank that is to blame, named from outside (hangs.py)."""

import json
import os
import re
import shutil
import signal
import subprocess
import time

import hosts
import pytest
from hangs import RANKS, WHO, check, job_of, looked, seeds, stuck, who

pytestmark = pytest.mark.needs_espalier

HOW = ("pause", "loop", "stopped", "dead", "recv", "wait", "order", "root", "crawl")
TRACERS = shutil.which("gdb") or shutil.which("eu-stack")

LONG = [
    pytest.param(host, how, nodes, guilty, marks=pytest.mark.full, id=f"{host}-{how}-{nodes}-rank{guilty}")
    for host in hosts.THREE
    for how in HOW
    for nodes in (1, 2)
    for guilty in (0, RANKS - 1)
]


@pytest.mark.parametrize("name, how, nodes, guilty", LONG)
def test_it_names_the_rank_that_is_to_blame(name, how, nodes, guilty):
    with stuck(hosts.HOSTS[name], how, guilty, nodes) as pid:
        check(how, guilty, job_of(pid, "--wait", 20))


SHORT = [("mpich", "loop", 2, 0), ("mpich", "order", 1, 1)]


@pytest.mark.parametrize("name, how, nodes, guilty", SHORT)
def test_some_of_them(name, how, nodes, guilty):
    with stuck(hosts.HOSTS[name], how, guilty, nodes) as pid:
        check(how, guilty, job_of(pid, "--wait", 20))


@pytest.mark.parametrize("hang", seeds(is_emulated=False, short=(3, 6, 7, 13, 18)))
def test_of_seeds(hang):
    """One look, as a user has it who gives no option."""
    with stuck(hosts.HOSTS[hang.host], hang.how, hang.guilty) as pid:
        check(hang.how, hang.guilty, looked(hang, lambda: job_of(pid)))


def test_what_is_known_of_each_rank(tmp_path):
    """Call, sequence number, bytes, place; as a table, as JSON, as a file that `espalier stats` and others read."""
    with stuck(hosts.HOSTS["mpich"], "loop", 2) as pid:
        job = job_of(pid, "--no-stacks")
        waiting = [seen for seen in job["seen"] if seen["rank"] != 2]
        for seen in waiting:
            (call,) = seen["inside"]
            assert (call["collective"], call["sequence"], call["bytes"], call["root"]) == ("allreduce", 71, 8, None)
            assert 0.2 < call["seconds"] < 60 and re.fullmatch(r"do_right \(stuck\.c:\d+\)", call["place"])
            assert [each["sequence"] for each in seen["calls"] if each["collective"] == "allreduce"] == list(range(10, 71))
        names = {comm["name"] for comm in waiting[0]["communicators"]}
        assert names == {"MPI_COMM_WORLD", "comm a", "comm b"}
        table = who(pid, "--no-stacks", "--dump", tmp_path / "flight.json", "--pytorch", tmp_path / "fr_")
        assert table.returncode == 0, table.stderr
        assert table.stdout.splitlines()[1].startswith("ranks 0, 1, 3 wait in allreduce #71 of MPI_COMM_WORLD (8 bytes)"), table.stdout
    check_files(tmp_path)


def check_files(folder):
    import pickle

    stats = subprocess.run([*WHO[:-1], "stats", str(folder / "flight.json")], capture_output=True, text=True,
                           env={**os.environ, "PYTHONPATH": str(hosts.REPOSITORY / "python"), "COLUMNS": "200"})
    assert stats.returncode == 0 and "allreduce" in stats.stdout and "barrier" in stats.stdout, stats.stderr + stats.stdout
    dumps = [pickle.loads((folder / f"fr_{rank}").read_bytes()) for rank in range(RANKS)]
    for rank, dump in enumerate(dumps):
        entry = dump["entries"][-1]
        assert entry["state"] == ("completed" if rank == 2 else "started")
        assert entry["profiling_name"] == ("nccl:all_reduce_barrier" if rank == 2 else "nccl:all_reduce")
        assert entry["process_group"][0] in dump["pg_config"]
        assert json.loads(dump["pg_config"][entry["process_group"][0]]["ranks"]) == list(range(RANKS))


def test_ranks_that_wait_for_messages_only():
    with stuck(hosts.HOSTS["mpich"], "deadlock", 0) as pid:
        job = job_of(pid, "--wait", 20)
        assert job["verdict"][0].startswith("no rank is in a collective"), job["verdict"]
        if TRACERS:
            assert "MPI_Recv" in job["verdict"][0], job["verdict"]


def test_a_job_that_goes_on():
    with stuck(hosts.HOSTS["mpich"], "steady", 0, ranks=2) as pid:
        job = job_of(pid)
        assert job["verdict"][0].startswith("the job goes on"), job["verdict"]


def test_ranks_that_call_different_collectives_on_two_nodes():
    """Nodes do not hold each other to their calls (docs/mistakes.md): the ranks hang."""
    with stuck(hosts.HOSTS["mpich"], "other", 1, nodes=2, ranks=2) as pid:
        job = job_of(pid)
        assert "different collectives" in job["verdict"][0] or job["guilty"], job["verdict"]


def test_ranks_write_their_record_when_they_are_asked(tmp_path):
    """At a signal, after which they go on; what they wrote is read as a running job is."""
    file = tmp_path / "last"
    settings = {"ESPALIER_FLIGHT": str(file), "ESPALIER_FLIGHT_SIGNAL": "USR2"}
    with stuck(hosts.HOSTS["mpich"], "loop", 1, ranks=2, settings=settings) as pid:
        ranks = {seen["rank"]: seen["pid"] for seen in job_of(pid, "--no-stacks")["seen"]}
        for each in ranks.values():
            os.kill(each, signal.SIGUSR2)
        wait_for(lambda: all(is_whole(tmp_path / f"last.rank-{rank}") for rank in ranks))
        assert job_of(pid, "--no-stacks")["guilty"] == [1]
    job = job_of(file)
    assert job["guilty"] == [1] and "allreduce #71" in job["verdict"][0], job["verdict"]
    assert "do_right (stuck.c:" in job["seen"][0]["inside"][0]["place"]


def is_whole(path):
    """The record, and behind it the mappings, of which the last is the kernel's."""
    return path.exists() and b"[vsyscall]" in path.read_bytes()[-200:] or (path.exists() and path.stat().st_size > 20000)


def wait_for(condition):
    ends = time.monotonic() + 60 * hosts.SLOWER
    while not condition():
        assert time.monotonic() < ends
        time.sleep(0.05)


def test_ranks_write_their_record_at_mpi_abort(launch, tmp_path):
    launch(hosts.HOSTS["mpich"], 2, "ended_early", "MPI_Abort", env={"ESPALIER_FLIGHT": str(tmp_path / "last")})
    job = job_of(tmp_path / "last")
    (aborted,) = [seen for seen in job["seen"] if seen["rank"] == 0]
    assert [call["collective"] for call in aborted["calls"][-31:]] == ["allreduce"] + ["barrier"] * 30
    assert [call["sequence"] for call in aborted["calls"][-30:]] == list(range(101, 131))


def test_top_shows_what_a_running_job_does():
    """For as long as the job runs; its exit code is the command's."""
    host = hosts.HOSTS["mpich"]
    program = hosts.program(host, "stuck")
    env = {**hosts.environment(host, 2), "PYTHONPATH": str(hosts.REPOSITORY / "python"), "ESPALIER_LIB": str(hosts.LIBRARIES)}
    for seconds in ("3", "10", "30"):  # a busy machine takes long to start a job
        run = [*WHO[:-1], "run", "--quiet", "--top", "--", "timeout", "-s", "INT", seconds]
        words = [*run, host.mpirun, "-n", "2", str(program), "steady", "0"]
        done = subprocess.run(words, capture_output=True, text=True, env=env, timeout=120)
        if "collective calls per second" in done.stderr:
            break
    assert re.search(r"espalier: [\d,]+ collective calls per second", done.stderr), done.stderr
    assert re.search(r"allreduce +8B .. <16B +2 +[\d,]+ ", done.stderr), done.stderr
    assert done.returncode != 0
