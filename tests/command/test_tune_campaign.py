"""How `espalier tune` spends its budget, with jobs that are made up."""

import pytest

from espalier.measured import called, point as tune_point
from espalier.measured.time_left import time_left
from espalier.tune import campaign as tune_campaign, kept as tune_kept, verdict
from espalier.problem import Problem
from espalier.tune.campaign import STAGES, Campaign
from espalier.measured.point import CONTROL, DEFAULT, HOST, Point
from espalier.tune.trials import Measured, Work, points_of, read, rules_of
from espalier.tune.verdict import Sample

POINTS = [Point(2, "bcast", 8), Point(2, "allreduce", 8), Point(4, "allreduce", 8)]
PLANS = {point: [{"algorithm": "tree"}, {"algorithm": "sliced"}] for point in POINTS}
US = {HOST: 20.0, DEFAULT: 10.0, "1": 7.0, "2": 12.0}


class Jobs:
    """Answers each job, and writes down what it was asked."""

    def __init__(self, us=US, most_jobs=99):
        self.us, self.most_jobs, self.works = us, most_jobs, []

    def __call__(self, work):
        if len(self.works) == self.most_jobs:
            raise KeyboardInterrupt
        self.works.append(work)
        us = {**self.us, CONTROL: self.us[DEFAULT]}
        samples = [Sample(point, {side: us[side] for side in sides}, {}) for point, sides in work.sides.items()]
        return Measured(samples * work.rounds, "MPICH 5.0.2", 0)


def campaign(jobs, budget=60.0, done=None, keep=lambda job, measured: None, **more):
    return Campaign(POINTS, PLANS, 2, budget, jobs, keep, done or {}, **more)


def run(it):
    return [job for job in it.run()]


def test_the_best_candidate_is_found_and_judged():
    jobs = Jobs()
    it = campaign(jobs)
    assert len(run(it)) == len(it.jobs()) == 6
    assert {found.chosen for found in it.verdicts()} == {"1"}
    assert [sorted(work.sides[POINTS[-1]]) for work in jobs.works if work.ranks == 4] == [
        ["0", "1", "2", "host"], ["0", "1"], ["0", "1", "15"]]
    assert it.host_version == "MPICH 5.0.2"
    assert it.verdicts()[0].us["2"] == 12.0  # what fell out is shown, too


def test_where_the_default_leads_nothing_is_judged():
    jobs = Jobs({**US, "1": 11.0})
    it = campaign(jobs)
    run(it)
    assert {(found.chosen, found.why) for found in it.verdicts()} == {(DEFAULT, verdict.NOTHING)}
    assert max(work.rounds for work in jobs.works) < STAGES[-1].rounds


def test_what_leads_by_less_than_counts_is_not_judged():
    jobs = Jobs({**US, "1": 9.9})
    it = campaign(jobs)
    run(it)
    assert max(work.rounds for work in jobs.works) < STAGES[-1].rounds
    assert {found.chosen for found in it.verdicts()} == {DEFAULT}


def test_a_budget_that_is_spent_ends_it():
    jobs = Jobs()
    it = campaign(jobs)
    it.spent = 61.0
    assert run(it) == [] and jobs.works == []
    assert {found.why for found in it.verdicts()} == {"not measured: the budget was spent"}


def test_time_that_is_left_over_is_the_later_jobs():
    jobs = Jobs()
    it = campaign(jobs)
    run(it)
    seconds = [work.seconds for work in jobs.works]
    assert sum(seconds[:2]) < 60 and seconds[-1] == pytest.approx(60, rel=0.01)  # the earlier ones took no time


def test_a_run_that_was_cut_off_goes_on(tmp_path):
    settings = {"points": [list(point) for point in POINTS]}
    file = tune_kept.Kept(tmp_path / "a" / "run.jsonl", settings)
    assert file.read() is None
    file.begin({})
    first = Jobs(most_jobs=3)
    with pytest.raises(KeyboardInterrupt):
        run(campaign(first, keep=file.add))
    with open(file.path, "a") as out:
        out.write('{"job": [2, ')  # cut short while it was written
    done = file.read()
    assert len(done) == 3
    file.begin(done)
    rest = Jobs()
    it = campaign(rest, done=done, keep=file.add)
    assert len(run(it)) == 6 and len(rest.works) == 3
    assert {found.chosen for found in it.verdicts()} == {"1"} and len(file.read()) == 6
    file.remove()
    assert file.read() is None


def test_a_run_of_another_question_is_not_gone_on_with(tmp_path):
    file = tune_kept.Kept(tmp_path / "run.jsonl", {"points": []})
    file.begin({})
    file.add(tune_campaign.Job(0, 2, 0), Measured([], "", 0))
    assert tune_kept.Kept(file.path, {"points": [1]}).read() is None
    assert tune_kept.path_of({"a": 1}) != tune_kept.path_of({"a": 2})


def test_long_lists_are_cut_into_jobs():
    points = tune_point.points((2,), ["bcast", "reduce", "scan"], range(8, 8 * 20, 8), 1 << 30)
    it = Campaign(points, {point: [] for point in points}, 2, 60, Jobs(), lambda job, measured: None)
    jobs = [job for job in it.jobs() if job.stage == 0]
    assert [len(it.points_of(job)) for job in jobs] == [16, 16, 16, 9]


def test_points_that_take_too_much_memory_are_left_out():
    assert tune_point.points((64,), ["allgather"], (8, 1 << 20), 1 << 28) == [Point(64, "allgather", 8)]


def test_what_a_job_is_told():
    work = Work(4, {Point(4, "alltoall", 8): [HOST, DEFAULT, "2"], Point(4, "gatherv", 64): [DEFAULT, "1"]},
                {Point(4, "alltoall", 8): PLANS[POINTS[0]], Point(4, "gatherv", 64): PLANS[POINTS[0]]}, 3, 5)
    assert points_of(work) == "alltoall 8 host 0 2\ngatherv 64 0 1\n"
    assert '{"trial": 2, "collective": "alltoall", "bytes": [24, 40], "algorithm": "sliced"}' in rules_of(work)
    assert '{"trial": 1, "collective": "gatherv", "algorithm": "tree"}' in rules_of(work)


def test_what_a_job_says():
    line = ('{"kind": "trials", "collective": "bcast", "bytes": 8, "round": 0, "sides": ["host", "0"], "us": [2.0, 1.0], '
            '"block_us": [0.5, 0.25]}')
    samples, version, end = read('{"kind": "run", "host_version": "MPICH"}\n' + line + '\n{"kind": "tri', 2)
    assert samples == [Sample(POINTS[0], {HOST: 2.0, DEFAULT: 1.0}, {HOST: 0.5, DEFAULT: 0.25})]
    assert version == "MPICH" and end is None


def test_the_time_that_is_left():
    assert time_left(125.2) == "2:05 left"


STATISTICS = """{"schema": 1, "communicators": [{"id": 0, "size": 4}, {"id": 1, "size": 1000}],
 "rows": [{"communicator": 0, "collective": "allreduce", "bytes_from": 64, "bytes_to": 127, "calls": 10, "seconds": 1.5},
          {"communicator": 0, "collective": "barrier", "bytes_from": 0, "bytes_to": 0, "calls": 1, "seconds": 0.1},
          {"communicator": 1, "collective": "bcast", "bytes_from": 8, "bytes_to": 15, "calls": 1, "seconds": 0.1},
          {"communicator": 0, "collective": "allreduce", "bytes_from": 1024, "bytes_to": 2047, "calls": 2, "seconds": 9.5}]}"""


def test_what_a_program_called(tmp_path):
    file = tmp_path / "run.json"
    file.write_text(STATISTICS)
    found = called.points(file)
    assert found.points == [Point(4, "barrier", 0), Point(4, "allreduce", 96), Point(4, "allreduce", 1536)]
    assert found.left_out == ["bcast of 1000 ranks"]


@pytest.mark.parametrize("text, said", [("{", "is not JSON"), ("[]", "no statistics file"), ('{"rows": [], "communicators": []}', "no collective call")])
def test_what_is_no_statistics_file(tmp_path, text, said):
    (tmp_path / "x").write_text(text)
    with pytest.raises(Problem, match=said):
        called.points(tmp_path / "x")
