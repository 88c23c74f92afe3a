import os
import subprocess
import sys
import time

import pytest

from espalier import bench, bench_hosts, bench_jobs, bench_machine, bench_process
from espalier import demo_imb, demo_mpi4py, demo_plan, demo_rounds
from espalier.problem import Problem


def settings(**changes):
    given = dict(
        hosts=tuple(bench_hosts.HOSTS.values()),
        ranks=(2, 64),
        sizes=(8, 64),
        collectives=("barrier", "bcast"),
        buffers=("written",),
        rounds=4,
        passes=2,
        seconds=1,
        pin="auto",
        limits=False,
        host_only=False,
    )
    return bench_jobs.Settings(**(given | changes))


def test_hosts_take_turns_and_defaults_run_once():
    jobs = list(bench_jobs.plan(settings()))
    assert [job.host.name for job in jobs[:3]] == ["mpich", "openmpi", "impi"]
    default = [job for job in jobs if job.variant == "default"]
    assert [(job.host.name, job.ranks, job.number) for job in default] == [("mpich", 64, 0), ("impi", 64, 0)]
    assert len(jobs) == 2 * 2 * 3 + 2


def test_lines_of_compare_are_sorted_by_kind():
    text = 'noise\n{"kind": "run", "ranks": 2}\n{"kind": "round", "bytes": 8}\n3\n{"kind": "end", "wrong": 0}\n{"kind": "round"'
    found = bench_jobs.read_lines(text)
    assert found == {"run": {"ranks": 2}, "rounds": [{"bytes": 8}], "limits": [], "end": {"wrong": 0}}


@pytest.mark.parametrize(
    "end, run, words",
    [
        (None, {"mpi_library": "a", "host_library": "b"}, "no complete result"),
        ({"wrong": 7}, {"mpi_library": "a", "host_library": "b"}, "7 wrong elements"),
        ({"wrong": 0}, {"mpi_library": "b", "host_library": "b"}, "still lead to the host"),
    ],
)
def test_a_job_that_does_not_count(end, run, words):
    outcome = bench_process.Outcome("x", 0, "", 1.0)
    assert words in bench_jobs._trouble({"end": end, "run": run}, outcome, host_only=False)


def test_a_process_past_its_limit_is_stopped_and_told():
    begin = time.monotonic()
    outcome = bench_process.run([sys.executable, "-uc", "print('hello'); import time; time.sleep(60)"], {}, 1.0)
    assert time.monotonic() - begin < 20
    assert outcome.failure() | {"command": ""} == {"command": "", "why": "ran past its time limit", "last_lines": ["hello"]}


def test_the_launcher_itself_is_not_preloaded():
    words = bench_process.wrapped({"A": "b"}, "/x.so", ["prog"])
    assert words == ["env", "A=b", "LD_PRELOAD=/x.so", "prog"]
    assert bench_process.wrapped({}, None, ["prog"]) == ["prog"]


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: bench_hosts.find("lam"), "'lam' is no host MPI"),
        (lambda: bench_hosts.find(" , "), "no host MPI named"),
        (lambda: bench._sizes("8,12"), "multiples of 8"),
        (lambda: bench._sizes("many"), "no number of bytes"),
        (lambda: bench._numbers("2;4", "numbers of ranks", 1, 256), "no list of"),
        (lambda: bench._numbers("0", "numbers of ranks", 1, 256), "between 1 and 256"),
        (lambda: bench._collectives("gather"), "'gather' is no collective"),
        (lambda: bench._buffers("cold"), "choose written, reused or both"),
    ],
)
def test_bad_options_are_one_clear_line(call, words):
    with pytest.raises(Problem) as caught:
        call()
    assert words in str(caught.value) and "\n" not in str(caught.value)


def test_missing_interposer_names_the_way_out(monkeypatch, tmp_path):
    monkeypatch.setenv("ESPALIER_LIB", str(tmp_path))
    with pytest.raises(Problem, match="libespalier-ompi.so is not there; run `make build`"):
        bench_hosts.preload(bench_hosts.HOSTS["openmpi"])


def test_demo_alternates_and_has_everything_in_its_first_round():
    todo = demo_plan.steps(2, (2, 4))
    first = [step for step in todo if step.number == 0 and not step.optional]
    assert {(s.program, s.kind.ranks, s.side) for s in first} == {
        (program, ranks, side) for program in ("imb", "mpi4py") for ranks in (2, 4) for side in ("host", "espalier")
    }
    order = [s.side for s in todo if s.program == "imb" and s.kind.ranks == 2 and s.kind.low == 8]
    assert order == ["host", "espalier", "espalier", "host"]


def test_mpi4py_output():
    assert demo_mpi4py.parse('x\nespalier-demo {"ranks": 2, "points": [{"bytes": 8}]}\n') == [{"bytes": 8}]
    assert demo_mpi4py.parse("espalier-demo {") == [] and demo_mpi4py.parse("Traceback") == []


def test_points_without_a_comparison_are_told():
    todo = demo_plan.steps(1, (2,))
    collected = demo_rounds.Collected()
    for side in ("host", "espalier"):
        for ranks, name, size in demo_imb.points(2, 8, 2 << 20):
            collected.add("imb", ranks, name, size, side, 0, 1.0)
    (note,) = demo_plan._missing(todo, collected)
    assert "no comparison at 3 of 61 points" in note


def test_a_busy_machine_is_told():
    assert bench_machine.busy_note({"load": [0.3], "cores": 2}) == ""
    assert "load 4.0 on 2 cores" in bench_machine.busy_note({"load": [4.0], "cores": 2})


def test_a_terminated_command_takes_its_job_along(tmp_path):
    mark = tmp_path / "job.pid"
    job = f"import os, time; open({str(mark)!r}, 'w').write(str(os.getpid())); time.sleep(100)"
    text = (
        "import sys; from espalier import bench_process as b; b.die_with_jobs(); "
        f"b.run([sys.executable, '-c', {job!r}], {{}}, 100)"
    )
    command = subprocess.Popen([sys.executable, "-c", text])
    until = time.monotonic() + 30
    while not (mark.exists() and mark.read_text()) and time.monotonic() < until:
        time.sleep(0.05)
    command.terminate()
    assert command.wait(timeout=20) == 143
    with pytest.raises(ProcessLookupError):
        os.kill(int(mark.read_text()), 0)
