"""Random programs (`make soak`), for some seconds; and that a wrong result is found, made short and printed as C."""

import os
import re
import socket
import subprocess
import sys
from dataclasses import replace

import hosts
import pytest

sys.path.insert(0, str(hosts.REPOSITORY / "tools"))
import soak.steps  # noqa: E402
from soak import cases, left, minimise, programs, run, shortages  # noqa: E402
from soak.steps import Step, parse, text_of  # noqa: E402

SHORT = 256 << 10  # bytes of the longest buffer


# Where Open MPI and Intel MPI now and then crash or hang by themselves; `make soak` asks them alone whether they do.
NOT_EVERYWHERE = ("WINDOW", "TIMER", "FORK", "JOIN", *soak.steps.NEIGHBOURS)


def everywhere(case):
    """One thread, and what every host can do for sure."""
    return case.but(steps=[replace(step, thread=0) for step in case.steps if step.verb not in NOT_EVERYWHERE])


@pytest.mark.parametrize("name, seeds", [("mpich", range(1, 5)), ("openmpi", range(5, 7)), ("impi", range(7, 9))])
def test_random_programs(name, seeds):
    """As they come from the seed, but for ranks that are killed: what remains of those is for the hours of `make soak`."""
    for seed in seeds:
        case = cases.make(seed, [name], [2, 3, 4, 5], SHORT, harms=False)
        case = case if name == "mpich" else everywhere(case)
        wrong, _ = run.run(case, espalier=not hosts.BARE)
        assert not wrong, f"seed {seed}, {case.env}, {case.ranks} ranks: {wrong}"


def test_ranks_that_are_stopped_now_and_then():
    case = cases.make(11, ["mpich"], [4], SHORT, harms=False, nodes="none").but(harm="stops")
    wrong, _ = run.run(case, espalier=not hosts.BARE)
    assert not wrong, wrong


@pytest.mark.parametrize("shortage", ["descriptors:2", "memory:40", "shm:64", "quota:0.5"])
def test_a_shortage(shortage):
    case = cases.make(12, ["mpich"], [3], SHORT, harms=False, nodes="none").but(env={}, shortage=shortage)
    wrong, digest = run.run(case, espalier=not hosts.BARE)
    assert not wrong and digest, wrong


def test_a_rank_without_memory_may_say_so():
    """The job ends with an error then, which is no wrong result; without a shortage it would be one."""
    case = small_case().but(shortage="memory:12")
    outcome = hosts.Outcome([], 3, "", "soak: no memory for a buffer", 1)
    assert run.result(case, outcome)[0] is None
    assert run.result(case.but(shortage="shm:64"), outcome)[0].startswith("fails")
    outcome.err = "Fatal error in internal_Scan: Other MPI error"
    assert run.result(case, outcome)[0] is None
    outcome.err += "\nWRONG: a result"
    assert run.result(case, outcome)[0].startswith("a result")
    outcome.err = "a line that names no reason"
    assert run.result(case, outcome)[0].startswith("fails")
    outcome.err = "espalier: no memory\nEXIT STRING: Segmentation fault (signal 11)"
    assert run.result(case, outcome)[0].startswith("fails")


@pytest.mark.parametrize("said, of_host", [
    ("crashed in libmpi.so.12", True), ("crashed in libucp.so.0\ncrashed in libespalier-mpich.so", False),
    ("crashed in soak", False), ("crashed in an unknown place", False), ("Segmentation fault (signal 11)", False),
    ("Assertion failed in file mpir_request.h at line 505: req != NULL", True)])
def test_crashes_of_the_host(said, of_host):
    assert shortages.crashed_in_host("memory:12", said) == of_host
    assert not shortages.crashed_in_host("shm:64", said)


@pytest.mark.parametrize("said, answers", [
    ("crashed in libopen-pal.so.80 as it reports an error", True), ("crashed in libopen-pal.so.80", False),
    ("crashed in libopen-pal.so.80 as it reports an error\ncrashed in libmpi.so.40", False),
    ("crashed in libespalier-ompi.so as it reports an error", False), ("Assertion failed in file a.h at line 5", False),
    ("", False)])
def test_a_host_that_crashes_as_it_reports_an_error_has_answered(said, answers):
    assert shortages.is_an_answer("memory:12", f"{said}\nSegmentation fault (11)") == answers
    assert not shortages.is_an_answer("shm:64", f"{said}\nSegmentation fault (11)")


@pytest.mark.parametrize("enough_alone, said, ours", [
    (5, "fails\ncrashed in libmpi.so.12", False), (0, "fails\ncrashed in libmpi.so.12", True),
    (5, "fails\ncrashed in libespalier-mpich.so", True)])
def test_a_host_that_crashes_alone_where_it_lacks_more(enough_alone, said, ours, monkeypatch):
    """12 MiB are enough for the host alone, but not those that Espalier leaves of them: 6 and 3 are tried, too."""
    def ran(case, espalier=True, **_):
        is_short = espalier or int(case.shortage.partition(":")[2]) < enough_alone
        return (said if espalier else "fails\ncrashed in libucp.so.0", None) if is_short else (None, "0123")

    monkeypatch.setattr(run, "run", ran)
    verdict = run.judge(small_case().but(shortage="memory:12"), compare=False)
    assert verdict.wrong == (said if ours else None)
    assert verdict.of_host is None if ours else verdict.of_host.startswith("with memory:3: fails")


def test_cases_are_of_all_kinds():
    made = [cases.make(seed, ["mpich"], [2, 3, 8], SHORT, longest=64 << 20) for seed in range(1, 400)]
    assert {case.shortage.partition(":")[0] for case in made} == {"", *shortages.AMOUNTS}
    assert not any(case.harm and case.shortage for case in made)
    assert any(step.count > 8 << 20 for case in made for step in case.steps)
    assert all(case.ranks <= 3 for case in made if any(step.count > SHORT for step in case.steps))
    assert any(step.verb == "FILE_IO" for case in made for step in case.steps)


def test_open_mpi_makes_nothing_over_topologies():
    steps = [Step("CART", 0, 1), Step("DUP", 1, 2), Step("GRAPH", 2, 3), Step("SPLIT", 0, 2), Step("GRAPH", 2, 4)]
    assert cases.nothing_over_topologies(steps) == [*steps[:2], Step("GRAPH", 0, 3), *steps[3:]]


def test_programs_depend_on_the_seed_alone():
    programs_of = [programs.Generator(seed, 4, SHORT).program(200) for seed in (1, 1, 2)]
    assert programs_of[0] == programs_of[1] != programs_of[2]
    assert parse(text_of(programs_of[0])) == programs_of[0]


@pytest.fixture
def name_in_shm():
    name = left.SHM / f"espalier-{os.getpid():016x}"
    yield name
    name.unlink(missing_ok=True)


def test_what_a_job_leaves_is_found(name_in_shm, monkeypatch):
    """Not what a living process holds: that is of another job."""
    monkeypatch.setattr(left, "PATIENCE", 0)
    before = left.names()
    with open(name_in_shm, "w") as held, socket.socket(socket.AF_UNIX) as listening:
        listening.bind(f"\0{name_in_shm.name}")
        assert {str(name_in_shm), f"@{name_in_shm.name}"} <= left.names().keys() - before.keys()
        assert left.behind(before, "none") == []
        held.close()
        assert left.behind(before, "none") == [str(name_in_shm)]


def test_what_is_left_in_a_small_dev_shm_is_found():
    with shortages.around("shm:64") as wrap:
        if not wrap:
            pytest.skip("/dev/shm cannot be replaced here")
        done = subprocess.run([*wrap, "touch", f"{left.SHM}/espalier-1"], capture_output=True, text=True)
    assert (done.returncode, shortages.LEFT.findall(done.stderr)) == (0, ["espalier-1"])


def test_a_case_whose_job_leaves_something_fails(name_in_shm, monkeypatch):
    monkeypatch.setattr(hosts, "launch", lambda *_, **__: name_in_shm.touch() or hosts.Outcome([], 1, "", "", 1))
    monkeypatch.setattr(left, "PATIENCE", 0)
    wrong, _ = run.run(small_case().but(harm="kill"))
    assert wrong.startswith(f"left behind: {name_in_shm}")


@pytest.mark.parametrize("times, wrong", [(1, None), (2, "hangs")])
def test_who_hangs_is_run_again(times, wrong, monkeypatch):
    """Once may be a machine that was stopped: it is told, but is no failure."""
    said = iter([("hangs\n", None)] * times + [(None, "0123")])
    monkeypatch.setattr(run, "run", lambda *_, espalier=True, **__: next(said) if espalier else (None, "0123"))
    verdict = run.judge(small_case(), compare=False)
    assert (verdict.wrong or "").strip() == (wrong or "")
    assert bool(verdict.late) == (wrong is None)


@pytest.mark.parametrize("shortage, wrong, ours", [
    ("", "WRONG: a result", False), ("memory:12", "WRONG: a result", True), ("memory:12", "fails", False),
    ("", "left behind: process 7", False), ("", "left behind: /dev/shm/espalier-7", True)])
def test_what_is_ours_though_the_host_fails_too(shortage, wrong, ours, monkeypatch):
    monkeypatch.setattr(run, "run", lambda *_, espalier=True, **__: (wrong if espalier else "fails", None))
    verdict = run.judge(small_case().but(shortage=shortage), compare=False)
    assert (verdict.wrong, verdict.of_host) == ((wrong, None) if ours else (None, "fails"))


def small_case(*steps, ranks=3):
    return cases.Case(1, "mpich", ranks, {}, "", list(steps))


def broken(case, what, folder, shortage=""):
    """What the program says over a library that breaks one collective."""
    file = folder / "program.txt"
    file.write_text(text_of(case.steps))
    host = hosts.HOSTS[case.host]
    env = {"BROKEN": what, "SOAK_FOLDER": str(folder), **shortages.settings(shortage)}
    return hosts.launch(host, case.ranks, "soak", file, library=hosts.preloadable(host, "broken"), env=env)


@pytest.mark.parametrize("what, step", [
    ("bcast always from rank 0", Step("BCAST", type=2, count=5, root=1, seed=3)),
    ("bcast forgets the last element of long messages", Step("BCAST", type=2, count=1001, seed=3)),
    ("bcast fills the holes", Step("BCAST", type=8, count=2, seed=3)),
    ("read_at_all reads from the beginning", Step("FILE_IO", type=2, count=5, seed=3)),
])
def test_a_wrong_result_is_found(what, step, tmp_path):
    outcome = broken(small_case(Step("BARRIER"), step, Step("RING", count=3, seed=4)), what, tmp_path)
    wrong = rf"WRONG: rank \d: {step.verb} on communicator 0"
    assert outcome.status != 0 and re.search(wrong, outcome.err + outcome.out), str(outcome)
    assert run.LINE.search(outcome.out) is None or run.LINE.search(outcome.out)[3] != "0", str(outcome)


def test_a_rank_says_in_whose_code_it_crashes(tmp_path):
    case = small_case(Step("BCAST", type=2, count=5, root=1, seed=3))
    outcome = broken(case, "bcast writes where no memory is", tmp_path, shortage="memory:160")
    assert outcome.status != 0 and re.search(r"^crashed in \S*broken\S*$", outcome.err, re.M), str(outcome)


def test_a_program_is_made_as_short_as_it_can_be():
    """It fails as long as one step follows another on three ranks: nothing else is left."""
    def fails(case):
        verbs = [step.verb for step in case.steps]
        return case.ranks >= 3 and "SCAN" in verbs and "BCAST" in verbs[verbs.index("SCAN"):]

    steps = programs.Generator(5, 8, SHORT).program(100)
    case = cases.Case(5, "mpich", 8, {"ESPALIER_WAIT": "spin"}, "stops", [*steps, Step("SCAN", count=9), Step("BCAST", root=2)],
                      "memory:12")
    assert fails(case)
    shortest = minimise.Minimiser(fails, 60).minimise(case)
    assert [step.verb for step in shortest.steps] == ["SCAN", "BCAST"]
    assert (shortest.ranks, shortest.env, shortest.harm, shortest.shortage) == (3, {}, "", "")
    assert all(step.count <= 1 and not step.root for step in shortest.steps)


def test_a_program_as_c_does_the_same(tmp_path):
    case = cases.make(3, ["mpich"], [3], 1 << 12, harms=False, nodes="none")
    case = case.but(env={}, steps=case.steps[:60])
    wrong, digest = run.run(case, espalier=False)
    assert not wrong
    printed = minimise.as_c(case.but(shortage="memory:160"))
    assert "SOAK_SHORTAGE=memory:160 mpirun -n 3" in printed
    assert "from outside: shm:64" in minimise.as_c(case.but(shortage="shm:64"))
    (tmp_path / "printed.c").write_text(printed)
    host = hosts.HOSTS["mpich"]
    program = tmp_path / "printed"
    flags = ["-std=gnu11", "-O1", *host.flags, str(tmp_path / "printed.c"), *host.libraries, "-pthread"]
    hosts._compile(["gcc", *flags], program)
    outcome = hosts.launch(host, 3, program, espalier=False, cwd=tmp_path, env={"SOAK_SHORTAGE": "memory:160"})
    assert run.LINE.search(outcome.out)[4] == digest, str(outcome)
