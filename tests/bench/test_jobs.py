import dataclasses
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from espalier.bench import hosts, jobs as bench_jobs, machine, neighbour, options, process as bench_process, quota as bench_quota
from espalier.demo import imb, mpi4py_program, mpis, plan, rounds
from espalier.problem import Problem


def settings(**changes):
    given = dict(
        hosts=tuple(hosts.HOSTS.values()),
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


def points(**changes):
    return [job for job in bench_jobs.plan(settings(**changes)) if job.kind == "points"]


def test_every_host_starts_by_its_own_launcher():
    """Intel's `mpirun` would start another MPI's that is on PATH before its own."""
    started = [hosts.launcher(host, 2)[0] for host in hosts.HOSTS.values()]
    assert [path.removeprefix(str(hosts.HOSTS["mpich"].folder.parent)) for path in started] == [
        "/mpich/bin/mpirun", "/openmpi/bin/mpirun", "/impi/bin/mpiexec.hydra"]


def test_an_intel_mpirun_of_the_user_starts_by_its_own_launcher(tmp_path):
    mpirun, hydra = tmp_path / "mpirun", tmp_path / "mpiexec.hydra"
    host = dataclasses.replace(hosts.HOSTS["impi"], name="impi-1", family="impi", own_launcher=mpirun)
    assert hosts.launcher(host, 2)[0] == str(mpirun), "there is no other"
    hydra.touch()
    assert hosts.launcher(host, 2)[0] == str(hydra)
    assert hosts.launcher(dataclasses.replace(host, family="mpich"), 2)[0] == str(mpirun)


def test_hosts_take_turns_and_defaults_run_once():
    jobs = points()
    assert [job.host.name for job in jobs[:3]] == ["mpich", "openmpi", "impi"]
    default = [job for job in jobs if job.variant == "default"]
    assert [(job.host.name, job.ranks, job.number) for job in default] == [("mpich", 64, 0), ("impi", 64, 0)]
    assert len(jobs) == 2 * 2 * 3 + 2


def words(job, given):
    return bench_jobs._arguments(job, given, "out")


def test_who_serves_what_is_asked_first_and_without_timing():
    given = settings()
    first = list(bench_jobs.plan(given))[: 2 * 3]
    assert all(job.kind == "served" and "--calls-only" in words(job, given) for job in first)
    assert not [job for job in bench_jobs.plan(settings(host_only=True)) if job.kind == "served"]


def test_late_ranks_and_a_neighbour_are_jobs_of_their_own():
    given = settings(late_us=100, neighbour=True, passes=1, ranks=(2,))
    late = [job for job in bench_jobs.plan(given) if job.place == "late" and job.kind == "points"]
    beside = [job for job in bench_jobs.plan(given) if job.kind == "neighbour"]
    assert len(late) == 3 and "--late 100" in " ".join(words(late[0], given))
    assert [("--late" in words(job, given), "--each" in words(job, given)) for job in beside] == [(False, True)] * 3 + [(True, True)] * 3


def test_all_jobs_of_a_run_are_of_one_mode():
    for mode in ("blocking", "persistent", "nonblocking"):
        given = settings(mode=mode, neighbour=True, late_us=100)
        for option in ("persistent", "nonblocking"):
            assert {f"--{option}" in words(job, given) for job in bench_jobs.plan(given)} == {mode == option}


def test_computing_ranks_are_jobs_of_their_own():
    given = settings(mode="nonblocking", compute_us=50, passes=1, ranks=(2,))
    computing = [job for job in bench_jobs.plan(given) if job.place == "computing"]
    assert len(computing) == 3 and "--compute 50" in " ".join(words(computing[0], given))
    assert not any("--compute" in words(job, given) for job in bench_jobs.plan(given) if job.place != "computing")


def test_what_a_host_gets_wrong_is_left_out_and_named():
    def left_out(name, **changes):
        given = settings(collectives=("barrier", "bcast", "gather"), **changes)
        job = next(job for job in bench_jobs.plan(given) if job.host.name == name)
        asked = words(job, given)[words(job, given).index("--collectives") + 1].split(",")
        wrong = bench_jobs._host_wrong(job, given)
        assert asked == [collective for collective in given.collectives if collective not in wrong]
        return wrong

    assert left_out("impi") == left_out("mpich", mode="persistent") == []
    assert left_out("impi", mode="persistent", sizes=(1 << 20,)) == ["gather"]
    assert left_out("impi", mode="persistent", ranks=(8,)) == ["gather"]
    assert left_out("impi", mode="persistent", ranks=(8,), sizes=(8, 1 << 20)) == ["bcast", "gather"]


def test_four_ranks_under_a_quota_or_else_on_one_core(tmp_path):
    made = bench_quota.Quota(tmp_path, 2)
    quota = [job for job in bench_jobs.plan(settings(quota=made)) if job.place == "quota"]
    assert {job.ranks for job in quota} == {4}
    given = settings(quota=bench_quota.Quota(None, 0, "may not"), cpus=(0, 1))
    (job, *_) = [job for job in bench_jobs.plan(given) if job.place == "one core"]
    line = " ".join(words(job, given))
    assert "--cpus 0 --pin yes" in line
    assert not [job for job in bench_jobs.plan(settings()) if job.place]


def test_other_sizes_above_the_number_of_cores():
    given = settings(oversubscribed_sizes=(8,), cpus=(0, 1))
    few, many = [job for job in points() if job.host.name == "impi" and job.variant == "best" and job.number == 0]
    assert "--sizes 8,64 " in " ".join(words(few, given)) and "--sizes 8 " in " ".join(words(many, given))


def test_hosts_yield_by_the_cores_that_may_be_used():
    host = hosts.HOSTS["openmpi"]
    assert "--oversubscribe" in hosts.launcher(host, 2, usable=1)
    assert "--oversubscribe" not in hosts.launcher(host, 2, usable=2)
    assert "I_MPI_WAIT_MODE" in hosts.environment(hosts.HOSTS["impi"], 2, usable=1)


def test_a_neighbour_computes_on_its_core_and_goes():
    cpu = hosts.cores()[-1]
    with neighbour.neighbour(cpu) as process:
        assert os.sched_getaffinity(process.pid) == {cpu} and os.getsid(process.pid) == process.pid
        assert process.poll() is None
    assert process.poll() is not None


def test_lines_of_compare_are_sorted_by_kind():
    text = 'noise\n{"kind": "run", "ranks": 2}\n{"kind": "round", "bytes": 8}\n3\n{"kind": "end", "wrong": 0}\n{"kind": "round"'
    found = bench_jobs.read_lines(text)
    assert found == {
        "run": {"ranks": 2}, "rounds": [{"bytes": 8}], "limits": [], "switches": [], "each": [], "messages": [],
        "end": {"wrong": 0},
    }


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
    assert words in bench_jobs.trouble({"end": end, "run": run}, outcome, host_only=False)


def test_sessions_that_were_asked_for_but_not_made_do_not_count():
    outcome = bench_process.Outcome("x", 0, "", 1.0)
    found = {"end": {"wrong": 0}, "run": {"mpi_library": "a", "host_library": "b", "own_sessions": False}}
    assert "could leave its launcher's session" in bench_jobs._session_trouble(found, "own")
    assert bench_jobs._session_trouble(found, "launcher") is None


def test_a_process_past_its_limit_is_stopped_and_told():
    begin = time.monotonic()
    outcome = bench_process.run(["sh", "-c", "echo hello; exec sleep 60"], {}, 2.0)
    assert time.monotonic() - begin < 50
    assert outcome.failure() | {"command": ""} == {"command": "", "why": "ran past its time limit", "last_lines": ["hello"]}


def test_a_program_behind_env():
    words = bench_process.wrapped({"A": "b"}, "/x.so", ["prog"])
    assert words == ["env", "A=b", "LD_PRELOAD=/x.so", "prog"]
    assert bench_process.wrapped({}, None, ["prog"]) == ["prog"]


def test_what_is_preloaded_already_stays_behind_espalier(monkeypatch):
    monkeypatch.setenv("LD_PRELOAD", "/other.so /another.so")
    assert hosts.preloaded("/x.so") == {"LD_PRELOAD": "/x.so:/other.so:/another.so"}


def test_a_library_of_espalier_that_is_preloaded_already_is_replaced_in_its_place(monkeypatch):
    monkeypatch.setenv("LD_PRELOAD", "/other.so /old/libespalier-abi.so")
    assert hosts.preloaded("/x.so") == {"LD_PRELOAD": "/other.so:/x.so"}


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: hosts.find("lam"), "'lam' is no host MPI"),
        (lambda: hosts.find(" , "), "no host MPI named"),
        (lambda: options.sizes("8,12"), "multiples of 8"),
        (lambda: options.sizes("many"), "no number of bytes"),
        (lambda: options.numbers("2;4", "numbers of ranks", 1, 256), "no list of"),
        (lambda: options.numbers("0", "numbers of ranks", 1, 256), "between 1 and 256"),
        (lambda: options.collectives("alltoallx"), "'alltoallx' is no collective"),
        (lambda: options.cpus("4000"), "processor 4000 is not among"),
        (lambda: options.late(-1), "--late -1: microseconds"),
        (lambda: options.one_of("two", "--sessions", ("launcher", "own")), "choose launcher or own"),
        (lambda: options.buffers("cold"), "choose written, reused, both or allocated"),
    ],
)
def test_bad_options_are_one_clear_line(call, words):
    with pytest.raises(Problem) as caught:
        call()
    assert words in str(caught.value) and "\n" not in str(caught.value)


def test_missing_interposer_names_the_way_out(monkeypatch, tmp_path):
    monkeypatch.setenv("ESPALIER_LIB", str(tmp_path))
    with pytest.raises(Problem, match="libespalier-ompi.so is not there; run `make build`"):
        hosts.preload(hosts.HOSTS["openmpi"])


MPI = mpis.Mpi(hosts.HOSTS["mpich"], imb=Path("IMB-MPI1"), python=Path("python3"))


def test_a_program_that_does_not_run_on_the_users_mpi_is_left_out():
    assert {step.program for step in plan.steps(dataclasses.replace(MPI, imb=None), 2, (2, 4))} == {"mpi4py"}
    assert {step.program for step in plan.steps(dataclasses.replace(MPI, python=None), 2, (2, 4))} == {"imb"}


def test_demo_alternates_and_has_everything_in_its_first_round():
    todo = plan.steps(MPI, 2, (2, 4))
    first = [step for step in todo if step.number == 0 and not step.optional]
    assert {(s.program, s.kind.ranks, s.side) for s in first} == {
        (program, ranks, side) for program in ("imb", "mpi4py") for ranks in (2, 4) for side in ("host", "espalier")
    }
    order = [s.side for s in todo if s.program == "imb" and s.kind.ranks == 2 and s.kind.low == 8]
    assert order == ["host", "espalier", "espalier", "host"]


def test_mpi4py_output():
    assert mpi4py_program.parse('x\nespalier-demo {"ranks": 2, "points": [{"bytes": 8}]}\n') == [{"bytes": 8}]
    assert mpi4py_program.parse("espalier-demo {") == [] and mpi4py_program.parse("Traceback") == []


def test_points_without_a_comparison_are_told():
    todo = plan.steps(MPI, 1, (2,))
    collected = rounds.Collected()
    for side in ("host", "espalier"):
        for ranks, name, size in imb.points(2, 8, 2 << 20):
            collected.add("imb", ranks, name, size, side, 0, 1.0)
    (note,) = plan._missing(todo, collected)
    assert "no comparison at 3 of 61 points" in note


def test_a_busy_machine_is_told():
    assert machine.busy_note({"load": [0.3], "cores": 2}) == ""
    assert "load 4.0 on 2 cores" in machine.busy_note({"load": [4.0], "cores": 2})


def test_a_terminated_command_takes_its_job_along(tmp_path):
    mark = tmp_path / "job.pid"
    job = f"import os, time; open({str(mark)!r}, 'w').write(str(os.getpid())); time.sleep(100)"
    text = (
        "import sys; from espalier.bench import process as b; b.die_with_jobs(); "
        f"b.run([sys.executable, '-c', {job!r}], {{}}, 100)"
    )
    command = subprocess.Popen([sys.executable, "-c", text])
    until = time.monotonic() + 60
    while not (mark.exists() and mark.read_text()) and time.monotonic() < until:
        time.sleep(0.05)
    command.terminate()
    assert command.wait(timeout=60) == 143
    with pytest.raises(ProcessLookupError):
        os.kill(int(mark.read_text()), 0)
