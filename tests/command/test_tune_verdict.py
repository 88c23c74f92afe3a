"""What `espalier tune` makes of measurements: these are made up, and nothing is measured."""

import random

import pytest

from espalier.measured import interval as intervals
from espalier.tune import verdict
from espalier.measured.point import DEFAULT, HOST, Point
from espalier.tune.verdict import Sample

POINT = Point(4, "allreduce", 8192)


def samples(rounds, block=None, **us):
    """Each side's time is the same in each round, or given round by round."""
    found = []
    for i in range(rounds):
        at = {name.removeprefix("t"): value[i] if isinstance(value, list) else value for name, value in us.items()}
        found.append(Sample(POINT, at, block or {}))
    return found


def test_the_interval_holds_the_median_as_often_as_it_says():
    chance = random.Random(7)
    inside = 0
    for _ in range(2000):
        found = intervals.interval([chance.gauss(1, 0.3) for _ in range(11)], verdict.CONFIDENCE)
        inside += found.low <= 1 <= found.high
    assert inside / 2000 > 0.97


def test_few_rounds_have_no_interval():
    n = intervals.least_rounds(verdict.CONFIDENCE)
    assert intervals.interval([1.0] * (n - 1), verdict.CONFIDENCE) is None
    assert intervals.interval([1.0] * n, verdict.CONFIDENCE) == (1, 1, 1)


def test_what_is_faster_is_chosen():
    found = verdict.judge(POINT, "1", samples(11, t0=10.0, t1=8.0))
    assert (found.chosen, found.why, found.rounds) == ("1", "faster", 11)
    assert found.gain.middle == pytest.approx(0.8) and found.us["1"] == 8.0


def test_the_host_is_chosen_where_it_is_faster():
    assert verdict.judge(POINT, HOST, samples(11, t0=10.0, host=5.0)).chosen == HOST


@pytest.mark.parametrize(
    "us, why",
    [
        ({"t0": 10.0, "t1": 9.9}, "within the noise"),  # faster, but by less than counts
        ({"t0": [10.0, 20.0] * 5 + [10.0], "t1": [9.0, 22.0] * 5 + [9.0]}, "within the noise"),
        ({"t0": 10.0, "t1": 12.0}, "within the noise"),
    ],
)
def test_nothing_is_chosen_within_the_noise(us, why):
    found = verdict.judge(POINT, "1", samples(11, **us))
    assert (found.chosen, found.why) == (DEFAULT, why)


def test_a_few_rounds_choose_nothing():
    found = verdict.judge(POINT, "1", samples(4, t0=10.0, t1=1.0))
    assert found.chosen == DEFAULT and found.why == "4 rounds are too few to tell"


def test_what_the_place_of_the_memory_makes_is_no_gain():
    """The default's own plan on another communicator is as quick."""
    found = verdict.judge(POINT, "1", samples(11, t0=10.0, t1=9.0, t15=9.1))
    assert (found.chosen, found.why) == (DEFAULT, "within the noise")
    found = verdict.judge(POINT, "1", samples(11, t0=10.0, t1=8.0, t15=9.1))
    assert found.chosen == "1" and found.gain.middle == pytest.approx(8 / 9.1)


def test_calls_in_a_row_may_not_get_slower():
    found = verdict.judge(POINT, "1", samples(11, {"0": 1.0, "1": 1.2}, t0=10.0, t1=8.0))
    assert found.chosen == DEFAULT and "follow on each other" in found.why


def test_without_a_challenger_the_default_stays():
    assert verdict.judge(POINT, None, []).chosen == verdict.judge(POINT, DEFAULT, samples(3, t0=1.0)).chosen == DEFAULT


def test_plans_that_are_alike_are_seldom_told_apart():
    """The best of five that are all like the default, judged by rounds of its own."""
    chance = random.Random(3)
    wrong = 0
    for _ in range(500):
        def rounds(n):
            return [Sample(POINT, {str(k): chance.lognormvariate(0, 0.1) for k in range(6)}, {}) for _ in range(n)]

        challenger = verdict.leader(rounds(7), [str(k) for k in range(1, 6)])
        wrong += verdict.judge(POINT, challenger, rounds(11)).chosen != DEFAULT
    assert wrong <= 5


def test_the_search_keeps_the_default_and_the_best():
    found = samples(3, t0=10.0, t1=8.0, t2=8.1, t3=30.0, host=50.0)
    assert verdict.still_in(found, [HOST, DEFAULT, "1", "2", "3"], 2) == [DEFAULT, "1", "2"]
    assert verdict.still_in(found, [HOST, DEFAULT, "1", "2", "3"], 1) == [DEFAULT, "1"]


def test_one_slow_round_drops_nobody():
    found = samples(3, t0=10.0, t1=[8.0, 8.0, 8.0], t2=[7.0, 30.0, 30.0])
    assert verdict.still_in(found, [DEFAULT, "1", "2"], 5) == [DEFAULT, "1", "2"]


def test_nothing_measured_drops_nobody():
    assert verdict.still_in([], [HOST, DEFAULT, "1"], 1) == [HOST, DEFAULT, "1"]
