"""Statistics of runs that do not reach MPI_Finalize: they are kept, whatever ends the run, and nothing is left of one that
ends well."""

import json
import os
import signal
import subprocess
import sys

import hosts
import pytest

pytestmark = pytest.mark.needs_espalier

RANKS = 2
BY_ITSELF = ["abort", "killed", "MPI_Abort", "exit", "all exit"]
SHOW = [sys.executable, "-c", "from espalier.app import main; main()", "stats"]


def shown(path, *options):
    env = {**os.environ, "PYTHONPATH": str(hosts.REPOSITORY / "python"), "COLUMNS": "200"}
    return subprocess.run([*SHOW, str(path), *options], capture_output=True, text=True, env=env)


def check_kept(path, run, ranks=RANKS):
    """All that both ranks had counted, and no file that pretends to be a whole run's."""
    assert not path.exists(), str(run)
    table = shown(path)
    assert table.returncode == 0, f"{table.stderr}\n{run}"
    assert f"what {ranks} of its ranks have counted" in table.stdout, f"{table.stdout}\n{run}"
    report = json.loads(shown(path, "--json").stdout)
    calls = {row["collective"]: row["calls"] for row in report["rows"]}
    assert calls == {"allreduce": 100, "barrier": 30}, f"{report}\n{run}"
    assert all(row["seconds"] > 0 for row in report["rows"])
    assert report["ranks"] == ranks


@pytest.mark.parametrize("how", BY_ITSELF)
def test_what_was_counted_is_kept(launch, host, tmp_path, how):
    path = tmp_path / "run.json"
    for _ in range(3):
        run = launch(host, RANKS, "ended_early", how, env={"ESPALIER_STATS": str(path)}, timeout=120)
        check_kept(path, run)
        if how != "MPI_Abort" or run.err:
            break
        # MPICH's launcher may end before it has passed on what a rank wrote; then its own message of the abort is missing, too.
        for file in tmp_path.glob("run.json*"):
            file.unlink()
    if how in ("MPI_Abort", "exit", "all exit"):
        assert f"espalier stats {path}" in run.err, str(run)


def start(host, how, settings):
    program = hosts.program(host, "ended_early")
    command = hosts.command_for(host, RANKS, [program, how], hosts.preload_of(host, host.library), settings)
    process = subprocess.Popen(command, env=hosts.environment(host, RANKS), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               stdin=subprocess.DEVNULL, text=True, start_new_session=True)
    assert process.stdout.readline() == "waits\n"
    return process


def end(process, how):
    """The launcher gets the signal. MPICH's waits until its ranks have gone."""
    process.send_signal(how)
    try:
        out, err = process.communicate(timeout=120 * hosts.SLOWER)
    finally:
        hosts.stop(process)
    return hosts.Outcome(process.args, process.returncode, out, err, 0)


@pytest.mark.every_host
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_signals_to_the_launcher(host, tmp_path, how):
    path = tmp_path / "run.json"
    process = start(host, "wait", {"ESPALIER_STATS": str(path)})
    try:
        going_on = shown(path)
        assert "still goes on" in going_on.stdout, going_on.stderr
    finally:
        run = end(process, how)
    check_kept(path, run)


# The other launchers end the ranks' output with the job.
@pytest.mark.parametrize("name, how", [("mpich", signal.SIGINT), ("impi", signal.SIGINT), ("impi", signal.SIGTERM)])
def test_rank_0_prints_what_it_counted(name, how):
    run = end(start(hosts.HOSTS[name], "wait", {"ESPALIER_STATS": "1"}), how)
    assert run.status != 0, str(run)
    line = next((line for line in run.err.splitlines() if "ended rank 0 before MPI_Finalize" in line), "")
    assert "what rank 0 of 2 counted" in line, str(run)
    rows = {line.split()[1]: line.split() for line in run.err.splitlines() if " .. " in line}
    assert {name: int(row[5]) for name, row in rows.items()} == {"allreduce": 100, "barrier": 30}, str(run)


@pytest.mark.every_host
@pytest.mark.parametrize("how", ["MPI_Abort", "exit", "all exit"])
def test_a_rank_that_ends_the_run_prints_what_it_counted(launch, host, how):
    for _ in range(4):  # on a busy machine MPICH's launcher loses what was printed just before the end in 1 of 40 runs
        run = launch(host, RANKS, "ended_early", how, env={"ESPALIER_STATS": "1"}, timeout=120)
        if "before MPI_Finalize" in run.err or host.name != "mpich":
            break
    assert run.err.count("before MPI_Finalize; what rank 0 of 2 counted") == 1, str(run)
    rows = {line.split()[1]: line.split() for line in run.err.splitlines() if " .. " in line}
    assert {name: int(row[5]) for name, row in rows.items()} == {"allreduce": 100, "barrier": 30}, str(run)


@pytest.mark.every_host
def test_the_programs_own_handler_is_left_alone(host):
    run = end(start(host, "own handler", {"ESPALIER_STATS": "1"}), signal.SIGTERM)
    assert "before MPI_Finalize" not in run.err, str(run)


@pytest.mark.parametrize("setting", ["1", "run.json"])
def test_nothing_is_left_of_a_run_that_ends_well(launch, host, tmp_path, setting):
    for name in ("run.json.rank-1", "run.json.rank-2"):  # of an earlier run, of more ranks
        (tmp_path / name).write_bytes(b"old")
    run = launch(host, RANKS, "ended_early", "finalize", env={"ESPALIER_STATS": setting}, cwd=tmp_path, timeout=120)
    assert run.status == 0 and "before MPI_Finalize" not in run.err, str(run)
    if setting != "1":
        assert [path.name for path in tmp_path.iterdir()] == ["run.json"]
        assert "did not reach" not in shown(tmp_path / "run.json").stdout


def test_a_pipe_or_a_device_is_only_written_at_the_end(launch, tmp_path):
    """No file is put beside one of /dev."""
    run = launch(hosts.HOSTS["mpich"], RANKS, "ended_early", "finalize", env={"ESPALIER_STATS": "/dev/stderr"}, timeout=120)
    assert run.status == 0 and '"collective": "allreduce"' in run.err, str(run)
    assert not [name for name in os.listdir("/dev") if "rank-" in name]
