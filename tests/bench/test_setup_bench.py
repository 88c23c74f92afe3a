"""`espalier bench --setup`: a short run of each kind, and the points that are made of many."""

import io

import pytest
from rich.console import Console

from espalier.bench import file, hosts
from espalier.bench.setup import command, jobs, points, table
from espalier.problem import Problem

HOST = hosts.HOSTS["mpich"]
needs_host = pytest.mark.skipif(not HOST.library_folder.exists(), reason="MPICH is not set up")


def settings(**changes):
    given = dict(hosts=(HOST,), ranks=(2,), start_ranks=(2,), rounds=1, passes=1, seconds=1, communicators=20, churn=200)
    return jobs.Settings(**(given | changes))


def job(kind, side, ranks, *lines, number=0):
    return {"kind": kind, "host": "mpich", "ranks": ranks, "side": side, "pass": number, "command": "", "wall_ms": 50.0, "lines": lines}


def case(name, us, f_ns=60.0):
    return {"kind": "case", "case": name, "round": 0, "cycles": 100, "us": us, "f_ns": f_ns}


def usage(**changes):
    return dict(rss_kib=20000.0, shmem_kib=5000.0, own_shmem_kib=4000.0, descriptors=30.0, maps=160.0) | changes


def test_both_sides_take_turns_and_the_first_changes():
    planned = list(jobs.plan(settings(passes=2, hosts=tuple(hosts.HOSTS.values()))))
    cycles = [(one.number, one.host.name, one.side) for one in planned if one.kind == "cycles"]
    assert cycles[:3] == [(0, "mpich", "host"), (0, "mpich", "espalier"), (0, "openmpi", "host")]
    assert cycles[6:8] == [(1, "mpich", "espalier"), (1, "mpich", "host")]
    assert {one.number for one in planned if one.kind in ("live", "churn")} == {0}


@needs_host
def test_a_host_that_aborts_makes_fewer_communicators():
    many = settings(communicators=1000)
    asked = {name: jobs._words(jobs.Job("live", hosts.HOSTS[name], 2, "host", 0), many)[-1] for name in ("mpich", "impi")
             if hosts.HOSTS[name].library_folder.exists()}  # fmt: skip
    assert asked == {name: {"mpich": "1000", "impi": "250"}[name] for name in asked}


def test_churn_takes_the_smallest_numbers_of_ranks():
    planned = jobs.plan(settings(ranks=(16, 2, 8, 4)))
    assert {one.ranks for one in planned if one.kind == "churn"} == {2, 4}


def test_parts_are_chosen():
    assert command.parts("live, start") == ("live", "start")
    assert {one.kind for one in jobs.plan(settings(parts=("live", "start")))} == {"live", "start"}
    with pytest.raises(Problem, match="--parts lives: choose from start, cycles, live, churn"):
        command.parts("lives")


@needs_host
def test_ranks_of_both_sides_share_cores_alike():
    """The host's ranks have no Espalier, but a launcher that keeps them in one session."""
    many = len(hosts.cores()) + 1
    words, surroundings = jobs.command(jobs.Job("cycles", HOST, many, "host", 0), settings())
    assert "env -u LD_PRELOAD" in " ".join(words) and "libespalier" in surroundings["LD_PRELOAD"]
    for kind, ranks in (("start", many), ("cycles", 1)):
        words, surroundings = jobs.command(jobs.Job(kind, HOST, ranks, "host", 0), settings())
        assert "env" not in words and "LD_PRELOAD" not in surroundings


@pytest.mark.parametrize("name, host_us, espalier_us, met", [
    ("dup, allreduce", 100, 150, True), ("dup, allreduce", 100, 151, False), ("dup, allreduce", 6, 11, True),
    ("bcast_init", 1, 2, True), ("bcast_init", 1, 2.1, False), ("win_create", 10, 15, True), ("win_create", 100, 111, False)])  # fmt: skip
def test_goals(name, host_us, espalier_us, met):
    found, _ = points.cycles([job("cycles", "host", 2, case(name, host_us)), job("cycles", "espalier", 2, case(name, espalier_us))])
    assert [point["met"] for point in found] == [met] and found[0]["ratio"] == pytest.approx(espalier_us / host_us, abs=0.001)


@pytest.mark.parametrize("ranks, host_ms, espalier_ms, met", [
    (2, 20, 25, True), (2, 20, 26, False), (2, 1000, 1090, True), (64, 20, 25, False), (200, 1000, 1100, True)])  # fmt: skip
def test_goals_of_the_start(ranks, host_ms, espalier_ms, met):
    assert points.start_met(ranks, host_ms, espalier_ms) == met


def test_near_and_far_rounds_are_points_of_their_own():
    host = [case("dup", 5.0, 60), case("dup", 9.0, 300), case("dup", 5.2, 62)]
    ours = [case("dup", 6.0, 61), case("dup", 6.2, 60), case("dup", 10.0, 310)]
    found, border = points.cycles([job("cycles", "host", 2, *host), job("cycles", "espalier", 2, *ours)])
    assert 62 < border < 300
    medians = {point["state"]: (point["host_us"]["median"], point["espalier_us"]["median"]) for point in found}
    assert medians == {"near": (5.1, 6.1), "far": (9.0, 10.0)}


def test_a_state_that_one_side_never_met_is_told():
    found, _ = points.cycles([job("cycles", "host", 2, case("dup", 5.0, 60)), job("cycles", "espalier", 2, case("dup", 6.0, 300))])
    assert [point["state"] for point in found] == ["mixed"]


@pytest.mark.parametrize("after, words", [
    (usage(rss_kib=20100.0, maps=162.0), None), (usage(rss_kib=30000.0), "resident memory"),
    (usage(descriptors=31.0), "descriptors from 30 to 31"), (usage(maps=170.0), "maps from 160 to 170")])  # fmt: skip
def test_what_has_grown_is_named(after, words):
    found = points.grown({"before": usage(), "after": after})
    assert found is None if words is None else words in found


@needs_host
def test_a_short_run(tmp_path):
    """10,000 cycles are a part of the bench; 200 show a leak of a descriptor or a map, too."""
    console = Console(width=200, file=io.StringIO())
    document = command.run(settings(), tmp_path / "setup.json", console)
    assert document["failures"] == [] and file.read_json(tmp_path / "setup.json")["schema"] == command.SCHEMA
    assert len({point["case"] for point in document["cases"]}) == jobs.CASES
    assert all(point["host_us"]["median"] > 0 and point["espalier_us"]["median"] > 0 for point in document["cases"])
    assert [(p["side"], p["number"]) for p in document["live"]] == [("host", 20), ("espalier", 20)]
    assert [(p["side"], p["grown"]) for p in document["churn"]] == [("host", None), ("espalier", None)]
    assert all(p["of_espalier"]["usage"]["rss_kib"] > 0 for p in document["start"])
    table.print_all(document, console)
    assert "dup, allreduce" in console.file.getvalue() and "unchanged" in console.file.getvalue()
