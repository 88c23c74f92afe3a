"""`espalier report` of a run: who waited when, when ranks came, and what calls cost beside the machine's limits. Pure functions."""

import json

import made_up_run as made_up
import pytest

from espalier.problem import Problem
from espalier.report.run import arrivals, clocks, gantt, gantt_words, limits, page, roofline, source, waiting

US = 1e-6
LIMITS = limits.Limits(made_up.MODEL["name"], made_up.MODEL)


def bars(**more):
    return gantt.of_ranks(made_up.flight(**more)).bars


def waited(**more):
    """By rank, microseconds of the first call; None where it is not known."""
    first = [bar for bar in bars(calls=((10.0, 20.0),), **more)]
    return {bar.rank: None if bar.waited is None else round(bar.waited / US, 3) for bar in first}


def last(**more):
    return [bar.rank for bar in bars(calls=((10.0, 20.0),), **more) if bar.is_last]


# Ranks 0 to 3 come at 10, 10.5, 11 and 13.5 us.
def test_each_rank_waits_for_the_last_of_those_whose_data_it_needs():
    assert waited() == {0: 3.5, 1: 3.0, 2: 2.5, 3: 0.0} and last() == [3]
    assert waited(late=0, lateness=5.0) == {0: 0.0, 1: 4.5, 2: 4.0, 3: 3.5} and last(late=0, lateness=5.0) == [0]
    assert waited(collective="bcast", root=1) == {0: 0.5, 1: 0.0, 2: 0.0, 3: 0.0} and last(collective="bcast", root=1) == []
    assert last(collective="bcast", root=3) == [3]
    assert waited(collective="reduce", root=0) == {0: 3.5, 1: 0.0, 2: 0.0, 3: 0.0} and last(collective="reduce", root=0) == [3]
    assert last(collective="reduce", root=3) == [], "it waits for all others, and none for it"
    assert waited(collective="scan", late=0) == {0: 0.0, 1: 1.5, 2: 1.0, 3: 0.5}
    assert last(collective="scan") == [], "none is above the last rank"


def test_waiting_ends_with_the_call():
    (first, *_) = bars(ranks=2, calls=((10.0, 12.0),), late=1, lateness=5.0)
    assert first.waited == pytest.approx(2 * US)


def test_what_is_not_known_is_not_said():
    """A rank whose record has the call no more; one in which the ranks do not call the same."""
    ranks = made_up.flight(calls=((10.0, 20.0),))
    ranks[3].calls.clear()
    assert all(bar.waited is None and not bar.is_last for bar in gantt.of_ranks(ranks).bars)
    ranks = made_up.flight(calls=((10.0, 20.0),))
    ranks[2].calls[0] = made_up.flight(collective="bcast", root=0, calls=((10.0, 20.0),))[2].calls[0]
    assert all(bar.waited is None for bar in gantt.of_ranks(ranks).bars)


def test_calls_without_times_are_counted_and_those_under_way_drawn():
    from dataclasses import replace

    ranks = made_up.flight(ranks=2, calls=((10.0, 20.0), (30.0, 35.0)))
    ranks[0].calls[0] = replace(ranks[0].calls[0], seconds=None)
    ranks[1].inside = [replace(ranks[1].calls.pop(), ended=None)]
    found = gantt.of_ranks(ranks)
    assert found.without_times == 1 and "1 calls have no times" in page._gantt_notes(found)[0]
    assert max(bar.end for bar in found.bars) - found.begin == pytest.approx((1000 - 10.5) * US)


def test_ranks_of_one_machine_have_one_clock_and_those_of_two_are_put_beside_each_other():
    assert gantt.of_ranks(made_up.flight()).notes == ()
    ranks = made_up.flight(boots=("a", "b"))
    found = gantt.of_ranks(ranks)
    assert "ranks 2, 3 is another machine's" in found.notes[0] and "2 calls" in found.notes[0]
    assert found.end - found.begin == pytest.approx(14 * US), "their clocks are a thousand seconds apart"
    assert {round((bar.end - found.begin) / US, 3) for bar in found.bars} == {4.0, 14.0}
    assert "not known" in clocks.offsets(made_up.flight(boots=("a", "b"), collective="bcast", root=0))[1][0]


CALLS = tuple((100.0 * number, 100.0 * number + 10) for number in range(1, 6))  # numbers 1 to 5


@pytest.mark.parametrize("stretch, numbers", [
    ("2:3", {2, 3}), ("4:", {4, 5}), (":1", {1}), ("150us:250us", {3}), ("0us:0.1ms", {1, 2}), ("390us:", {5}), (None, {1, 2, 3, 4, 5})])
def test_a_stretch_is_chosen_by_numbers_or_times(stretch, numbers):
    found = gantt.chosen(gantt.of_ranks(made_up.flight(calls=CALLS)), stretch)
    assert {bar.number for bar in found.bars} == numbers


@pytest.mark.parametrize("stretch, words", [
    ("7:9", "calls 1 to 5"), ("3", "write FROM:TO"), ("a:b", "write FROM:TO"), ("5 parsecs:", "is no time"), ("1s:2s", "no call is in it")])
def test_a_stretch_that_is_none_is_told(stretch, words):
    with pytest.raises(Problem, match=words):
        gantt.chosen(gantt.of_ranks(made_up.flight(calls=CALLS)), stretch)


def test_the_gantt_in_words():
    found = gantt.of_ranks(made_up.flight(ranks=2, calls=((10.0, 20.0), (22.0, 32.0)), late=1))
    assert "Rank 1 came last most often, in 5 of 5" in gantt_words.verdict(gantt.of_ranks(made_up.flight(ranks=2, calls=CALLS, late=1)))
    drawn = gantt_words.lines(found, 100)
    assert drawn[0].startswith("rank 0 .") and drawn[1].startswith("rank 1") and "!" in drawn[1] and "!" not in drawn[0]
    assert max(map(len, drawn[:3])) <= 100 and drawn[-1].startswith("a allreduce; . waits")
    assert "no call" in gantt_words.verdict(gantt.Gantt([0], [])).lower()


def test_the_rank_that_cost_most_is_named_though_others_come_last_as_often():
    ranks = made_up.flight(ranks=2, calls=((10.0, 20.0), (30.0, 90.0)), step=0.0, late=1, lateness=0.1)
    late = made_up.flight(ranks=2, calls=((10.0, 20.0), (30.0, 90.0)), step=0.0, late=0, lateness=40.0)
    ranks[0].calls[1] = late[0].calls[1]
    assert "in 1 of 2 calls, as chance would have it" in gantt_words.verdict(gantt.of_ranks(ranks))
    assert "Of the waiting 100\u00a0% is for rank 0." in gantt_words.verdict(gantt.of_ranks(ranks))


def test_only_so_many_ranks_have_lanes_those_that_come_last_before_others():
    found = gantt.of_ranks(made_up.flight(ranks=40, calls=CALLS, late=37, step=0.0))
    ranks, left_out = gantt_words.shown(found)
    assert len(ranks) == gantt_words.LANES and left_out == 8 and 37 in ranks and ranks == sorted(ranks)


def test_collectives_have_letters_of_their_own():
    names = ("allreduce", "allgather", "alltoall", "a", "reduce_scatter_block")
    found = gantt.Gantt([0], [gantt.Bar(0, name, None, None, 0, False, 0.0, 1.0) for name in names])
    assert len(set(gantt_words.letters(found).values())) == len(names)


def test_what_chance_would_do_is_not_blamed():
    assert not waiting.is_beyond_chance(55, 100, 2) and waiting.is_beyond_chance(65, 100, 2)
    assert not waiting.is_beyond_chance(1, 1, 2)


def test_arrivals_of_statistics():
    quiet, late = made_up.row("bcast", 8, waited=1e-6, last=((1, 51), (0, 49))), made_up.row("allreduce", 64)
    found = arrivals.of_report(made_up.report(quiet, late, made_up.row("reduce", arrival_spread=None, came_last=None)))
    assert [each.name for each in found] == ["allreduce 64B .. <128B", "bcast 8B .. <16B"], "most waiting first"
    worst = found[0]
    assert worst.calls == 100 and worst.at_most(0.5) == pytest.approx(4096e-9) and worst.at_most(0.95) == pytest.approx((1 << 20) * 1e-9)
    assert worst.blamed == (3, 80) and "Rank 3 is the last one in 80 of 100" in arrivals.verdict(found)
    assert "No rank is the last one more often" in arrivals.verdict([found[1]]) or found[1].blamed == (1, 51)
    assert "  <   4.1 us         70  ####" in "\n".join(arrivals.lines(found))
    assert arrivals.of_report(made_up.report({**late, "arrival_spread": None})) == [] and arrivals.verdict([]) == ""


def test_a_call_that_takes_what_it_must_is_at_the_limit():
    """Two ranks, 64 KiB: a line of 50 ns, and 64 KiB at 0.05 ns each."""
    size = 65536
    least = 50e-9 + size * 0.05e-9
    row = made_up.row("bcast", size, calls=10, mean=10 * (least + 1e-3), waited=10 * 1e-3)
    (point,), left_out = roofline.of_report(made_up.report(row, ranks=2), LIMITS)
    assert left_out == 0 and point.reached == pytest.approx(1) and point.lost == pytest.approx(0, abs=1e-12)
    assert point.rate == pytest.approx(size / least) and point.mood == "better"


def test_what_goes_beyond_the_limit_comes_first():
    rows = [made_up.row("allreduce", 8, calls=10, mean=1e-5, waited=0.0), made_up.row("barrier", 0, calls=1000, mean=1e-2, waited=1e-3),
            made_up.row("bcast", 8, waited=None)]
    points, left_out = roofline.of_report(made_up.report(*rows), LIMITS)
    assert [point.collective for point in points] == ["barrier", "allreduce"] and left_out == 1
    assert points[0].moved == 0 and points[0].lost == pytest.approx(9e-3 - 1000 * 50e-9)
    assert "is in barrier of 4 ranks: 9 us a call where 50 ns is the least" in roofline.verdict(points)


@pytest.mark.parametrize("collective, bytes_of_four", [
    ("bcast", 100), ("reduce", 100), ("allreduce", 150), ("allgather", 300), ("gather", 300), ("scatter", 100), ("alltoall", 75),
    ("reduce_scatter_block", 75), ("scan", 100), ("barrier", 0)])
def test_bytes_that_have_to_move(collective, bytes_of_four):
    assert roofline.moved(collective, 100, 4) == bytes_of_four


def test_limits_follow_the_levels_of_the_machine():
    assert LIMITS.of(4).line == pytest.approx(50e-9) and LIMITS.of(5).line == pytest.approx(100e-9)
    assert LIMITS.of(8).per_byte_together == pytest.approx(8 * 0.02e-9), "the controller bounds all together"
    oversubscribed = LIMITS.of(16)
    assert oversubscribed.shares_cores and oversubscribed.line == pytest.approx(2000e-9) and not LIMITS.of(8).shares_cores


def test_files_of_a_run_are_told_apart(tmp_path):
    from espalier.who import flight

    statistics, recorded, other = tmp_path / "run.json", tmp_path / "flight.json", tmp_path / "bench.json"
    statistics.write_text(json.dumps(made_up.report(made_up.row())))
    recorded.write_text(json.dumps(flight.document(made_up.flight())))
    other.write_text('{"schema": "espalier-bench/1"}')
    assert [source.is_statistics(path) for path in (statistics, recorded, other)] == [True, False, False]
    assert [source.is_flight(path) for path in (statistics, recorded, other)] == [False, True, False]
    assert gantt.of_ranks(source.flight(recorded)) == gantt.of_ranks(made_up.flight())
    recorded.write_text('{"schema": "espalier-flight/1", "seen": [{"job": 1}]}')
    with pytest.raises(Problem, match="missing or of the wrong kind"):
        source.flight(recorded)
    with pytest.raises(Problem, match="--flight="):
        source.flight(tmp_path / "nothing")
