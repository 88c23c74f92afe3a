"""What `espalier lint` finds in times: these are made up, after cliffs that hosts have; nothing is measured."""

import pytest

from espalier.lint import findings, remedies, show
from espalier.lint.run import Found, all_jobs, in_turn
from espalier.measured import host_jobs as jobs, host_settings as settings
from espalier.measured.times import Key, Sample, Times
from espalier.measured.point import Point, points

SIZES = (1024, 2048, 4096, 8192, 16384)


def times(us, rounds=8, ranks=2, collective="bcast", way="", spread=0.02):
    """`us`: by size; or by ranks and size; each round is a little off."""
    found = []
    for at, value in us.items():
        each = Key(Point(ranks, collective, at), way)
        found += [Sample(each, i % ranks, value * (1 + spread * (i % 3 - 1))) for i in range(rounds)]
    return found


def kinds(samples, cores=2):
    return {(found.kind, found.key.point.size): found for found in findings.all_of(Times(samples), cores)}


def test_a_call_that_grows_as_its_bytes_is_no_finding():
    assert kinds(times({size: 0.5 + size / 4096 for size in SIZES})) == {}


def test_a_jump_between_neighbours():
    """As Open MPI's bcast of 4 KiB: twice the bytes, seven times as long."""
    found = kinds(times({1024: 0.6, 2048: 0.7, 4096: 5.0, 8192: 6.0, 16384: 9.0}))
    assert set(found) == {("size", 4096), ("jump", 4096)}
    assert found["size", 4096].factor == pytest.approx(5.0 / 1.4, rel=0.05) and "2 calls of 2KiB" in found["size", 4096].what


def test_a_slow_rise_over_several_sizes():
    """As Intel MPI's scan: no step is far beyond the line, but four calls of 256 KiB are quicker than one of 1 MiB."""
    kib = 1024
    found = kinds(times({128 * kib: 32.0, 256 * kib: 67.0, 512 * kib: 187.0, 1024 * kib: 500.0, 2048 * kib: 1050.0}))
    assert set(found) == {("size", 1024 * kib)}
    assert found["size", 1024 * kib].factor == pytest.approx(500 / 256, rel=0.05) and "8 calls of 128KiB" in found["size", 1024 * kib].what


def test_a_hump():
    found = kinds(times({1024: 0.6, 2048: 0.7, 4096: 9.0, 8192: 2.0, 16384: 3.0}))
    assert {kind for kind, size in found if size == 4096} == {"size", "length", "jump"}
    assert "8KiB take 2 us" in found["length", 4096].what


def test_a_jump_below_the_line_of_bytes():
    """Twice the bytes, 1.9 times as long: but the steps beside it are of 1.1 and 1.15."""
    found = kinds(times({512: 0.6, 1024: 0.66, 2048: 1.25, 4096: 1.44}))
    assert set(found) == {("jump", 2048)} and "1KiB take 0.66 us" in found["jump", 2048].what


def test_a_jump_within_the_noise_is_none():
    assert kinds(times({1024: 0.9, 2048: 1.0, 4096: 4.0}, spread=0.9)) == {}
    assert kinds(times({2048: 1.0, 4096: 9.0}, rounds=3)) == {}  # too few rounds to tell


def test_more_ranks_than_cores():
    """As MPICH: 0.5 us among 2 ranks, milliseconds among 4 on two cores."""
    samples = times({8: 0.5}, collective="allreduce") + times({8: 4000.0}, ranks=4, collective="allreduce")
    found = kinds(samples)
    assert set(found) == {("ranks", 8)} and "2 ranks to a core" in found["ranks", 8].what
    assert kinds(times({8: 0.5}, collective="allreduce") + times({8: 2.0}, ranks=4, collective="allreduce")) == {}


def test_ranks_that_share_cores_need_switches():
    """As Open MPI, which yields: 4 ranks on two cores take 8 us, where 2 take 0.2."""
    few = times({8: 0.2}, collective="allreduce")
    assert kinds(few + times({8: 8.0}, ranks=4, collective="allreduce")) == {}
    assert set(kinds(few + times({8: 8.0}, ranks=4, collective="allreduce"), cores=4)) == {("ranks", 8)}


def test_a_jump_is_one_of_doubled_sizes_alone():
    """From what every call costs to what bytes cost: 64 times the bytes, 26 times as long."""
    assert kinds(times({8: 0.7, 1024: 1.1, 65536: 28.0})) == {}


def test_a_root_that_is_slow():
    key = Key(Point(2, "bcast", 64))
    samples = [Sample(key, i % 2, 5.0 if i % 2 else 1.0) for i in range(8)]
    found = kinds(samples)
    assert found["root", 64].what == "root 1; root 0 takes 1 us"


def test_a_guideline_that_is_broken():
    samples = times({64: 9.0}, collective="allreduce") + times({64: 1.0}, collective="reduce") + times({64: 1.0}, collective="bcast")
    found = kinds(samples)
    assert found["guideline", 64].expected == 2.0 and "reduce and bcast" in found["guideline", 64].what
    assert kinds(samples[:8]) == {}  # nothing to put it beside


@pytest.mark.parametrize("guideline", findings.GUIDELINES, ids=lambda each: f"{each.collective}: {each.text}")
def test_guidelines_name_calls_that_are_measured(guideline):
    from espalier.bench.collectives import NAMES

    assert guideline.collective in NAMES and all(name in NAMES and size >= 0 for name, size in guideline.parts(4096, 4))


@pytest.mark.parametrize("way, kind", [("shifted", "alignment"), ("derived", "datatype")])
def test_ways_of_a_call(way, kind):
    assert set(kinds(times({4096: 1.0}) + times({4096: 4.0}, way=way))) == {(kind, 4096)}
    assert kinds(times({4096: 1.0}) + times({4096: 1.1}, way=way)) == {}


def finding():
    return kinds(times({2048: 0.7, 4096: 5.0}))["size", 4096]


class Host:
    """Answers jobs: by Espalier 0.5 us, by one setting 1 us, by all others as it comes."""

    def __init__(self, good="OMPI_MCA_coll_tuned_bcast_algorithm"):
        self.good, self.jobs = good, []

    def __call__(self, job):
        self.jobs.append(job)
        us = 1.0 if any(key == self.good and value == "2" for key, value in job.settings) else 5.0
        key = Key(job.points[0], job.way)
        return jobs.Measured([Sample(key, 0, us)] * 8, [Sample(key, 0, 0.5)] * 8 if job.beside_espalier else [], "MPI", "")


def test_remedies_are_tried_until_one_of_the_host_removes_it():
    host = Host()
    tried = remedies.tried(finding(), "openmpi", 2, host, True, lambda: 60.0)
    assert [each.title for each in tried] == ["Espalier", "OMPI_MCA_coll_tuned_bcast_algorithm=2"]
    assert all(each.removes for each in tried) and tried[0].factor == pytest.approx(10.0)
    assert len(host.jobs) == 3  # Espalier, and two algorithms


def test_what_does_not_help_is_left_out():
    host = Host(good="none")
    tried = remedies.tried(finding(), "mpich", 2, host, False, lambda: 60.0)
    assert tried == [] and len(host.jobs) == len(settings.of("mpich", "bcast", 4096, 2, 2))


def test_a_job_that_fails_is_no_remedy():
    def fails(job):
        return jobs.Measured([], [], "", "ended with code 1: bad algorithm")

    (only,) = remedies.tried(finding(), "impi", 2, fails, True, lambda: 60.0)
    assert not only.removes and "bad algorithm" in show.remedy_in_words(only.document())


def test_time_that_is_up_ends_the_trying():
    host = Host()
    assert len(remedies.tried(finding(), "openmpi", 2, host, True, lambda: 0.0)) == 1 == len(host.jobs)


@pytest.mark.parametrize("kind", ["mpich", "openmpi", "impi"])
def test_settings_of_each_host(kind):
    few = settings.of(kind, "scan", 8, 2, 2)
    many = settings.of(kind, "scan", 262144, 8, 2)
    assert few and len(many) > len(few) and all(each.environment and "=" in each.title for each in many)
    assert not any("two_proc" in each.title for each in many)


def test_jobs_keep_a_collective_together():
    wanted = points((2, 8), ["bcast", "scan"], [8 << i for i in range(18)], 1 << 30)
    made = all_jobs(wanted, 2, True, 60.0)
    assert {job.way for job in made} == {"", "shifted", "derived"}
    plain = [job for job in made if not job.way and job.points[0].ranks == 2]
    assert len(plain[0].points) == 28 and all(point.size < 131072 for point in plain[0].points)
    assert all(job.seconds >= 2 for job in made)
    assert not any(point.collective == "scan" for job in made if job.way == "derived" for point in job.points)  # it has an operator
    assert len([point for job in made if job.points[0].ranks == 8 for point in job.points]) == 12  # every third size


def test_long_messages_are_not_in_one_job_with_longer_ones():
    """MPICH's scan of 256 KiB takes three times too long, but not in a process that has freed a longer buffer before."""
    wanted = points((2,), ["bcast", "scan"], [8 << i for i in range(18)], 1 << 30)
    long = [job for job in all_jobs(wanted, 2, False, 60.0) if any(point.size >= 131072 for point in job.points)]
    assert [{point.size for point in job.points} for job in long] == [{131072}, {262144}, {524288}, {1048576}]
    assert [[point.collective for point in job.points] for job in long] == [["bcast", "scan"]] * 4


def test_buffers_of_the_host_are_a_remedy_for_long_messages():
    titles = [each.title for each in settings.of("impi", "scan", 1 << 20, 2, 2)]
    assert titles[0].startswith("MALLOC_MMAP_THRESHOLD_=")
    assert not any("MALLOC" in each.title for each in settings.of("impi", "scan", 8, 2, 2))


def test_one_collective_does_not_take_all_remedies():
    samples = times({2048: 0.7, 4096: 50.0, 8192: 900.0}) + times({2048: 0.7, 4096: 5.0}, collective="scan")
    found = findings.all_of(Times(samples), 2)
    order = [(each.kind, each.key.point.collective) for each in in_turn(found)]
    assert order[: len(set(order))] == list(dict.fromkeys(order)) and len(order) == len(found) > len(set(order))


def test_what_is_gone_in_a_job_of_its_own_needs_no_remedy():
    found = finding()
    found.alone_us = remedies.alone(found, Host())
    assert found.alone_us == 5.0 and not found.is_gone_alone
    found.alone_us = 1.1 * found.expected
    assert found.is_gone_alone and "makes no other call it takes" in show._untold(found)
    found.alone_us = remedies.alone(found, lambda job: jobs.Measured([], [], "", "ended with code 1"))
    assert found.alone_us is None and not found.is_gone_alone and show._untold(found) == "not tried"


def test_remedies_are_put_beside_the_host_in_a_job_of_its_own():
    """In the first job the call took 5 us, alone it takes 2: then 1.9 us is no help, and 1 us twice as fast."""
    found = finding()
    found.alone_us = 2.0
    tried = remedies.tried(found, "openmpi", 2, Host(), False, lambda: 60.0)
    assert [each.factor for each in tried] == [pytest.approx(2.0)]


def test_of_a_slow_root_only_that_root_is_looked_at():
    key = Key(Point(2, "bcast", 64))
    (found,) = findings.all_of(Times([Sample(key, i % 2, 5.0 if i % 2 else 1.0) for i in range(8)]), 2)
    again = [Sample(key, i % 2, 3.0 if i % 2 else 1.0) for i in range(8)]
    assert found.root == 1 and remedies.alone(found, lambda job: jobs.Measured(again, [], "", "")) == 3.0


def test_what_a_job_says():
    line = '{"kind": "trials", "collective": "bcast", "bytes": 8, "round": 1, "root": 1, "sides": ["host", "0"], "us": [2.0, 1.0]}'
    host, espalier, version = jobs.read('{"kind": "run", "host_version": "MPICH"}\n' + line + '\n{"kin', 2, "shifted")
    key = Key(Point(2, "bcast", 8), "shifted")
    assert (host, espalier, version) == ([Sample(key, 1, 2.0)], [Sample(key, 1, 1.0)], "MPICH")


def test_table_document_and_plot(tmp_path, capsys):
    found = Found(None, 2, "MPI 1", Times(times({2048: 0.7, 4096: 5.0})), [finding()], ["scan: no time"], 3.0)
    found.findings[0].remedies = [each.document() for each in remedies.tried(finding(), "openmpi", 2, Host(), True, lambda: 60.0)]
    show.table(found.findings)
    out = capsys.readouterr().out
    assert "bcast 4KiB, 2 ranks" in out and "Espalier: 0.5 us, 10 times as fast, removes it" in out
    assert "1 findings; of 1 for which remedies were tried 1 are removed" in show.summary(found) and "scan: no time" in show.summary(found)
    document = show.document(found)
    assert document["findings"][0]["expected_us"] == pytest.approx(1.4, rel=0.05) and len(document["times"]) == 2
    for name in ("a.png", "a.svg"):
        show.plot(found, tmp_path / name)
    assert (tmp_path / "a.png").read_bytes()[:4] == b"\x89PNG" and "<svg" in (tmp_path / "a.svg").read_text()
