"""`espalier tune --export --ucc`: UCC's algorithms below Open MPI. What it prints and what was measured is made up; a run with a real
UCC is described in docs/tuning.md."""

import pytest

from espalier.bench.hosts import HOSTS
from espalier.measured import host_jobs as jobs
from espalier.measured.point import Point
from espalier.measured.times import Key, Sample
from espalier.problem import Problem
from espalier.tune import export_target, export_ucc, host_alone
from espalier.tune.export_target import OfUcc
from espalier.tune.host_alone import HostAlone

# Of UCC 1.3, shortened.
INFO = """cl/hier algorithms:
  Allreduce
    0 :              rab : intra-node reduce, followed by inter-node allreduce, followed by intra-node broadcast
    1 :       split_rail : intra-node reduce_scatter, followed by PPN concurrent  inter-node allreduces, followed by allgather
  Bcast
    0 :            2step : intra-node and inter-node bcasts executed in parallel

tl/ucp algorithms:
  Allgather
    0 :          knomial : recursive k-ing with arbitrary radix 
    1 :             ring : O(N) Ring
  Alltoallv
    0 :         pairwise : O(N) pairwise exchange with adjustable number of outstanding sends/recvs
    1 :           hybrid : hybrid a2av alg 
  Bcast
    0 :          knomial : bcast over knomial tree with arbitrary radix (optimized for latency)
    1 :      sag_knomial : recursive knomial scatter followed by knomial allgather (optimized for BW)
    2 :              dbt : bcast over double binary tree where a leaf in one tree will be intermediate in other (optimized for BW)
  Reduce
    0 :          knomial : reduce over knomial tree with arbitrary radix (optimized for latency)
  Reduce_scatter
    0 :             ring : O(N) ring
    1 :          knomial : recursive k-ing

"""
ALGORITHMS = export_ucc.algorithms_of(INFO)
POINTS = [Point(2, "bcast", 8), Point(2, "bcast", 4096), Point(2, "bcast", 65536), Point(2, "allgather", 64)]


def test_algorithms_are_those_that_ucc_names_of_the_layer_over_ucx():
    assert ALGORITHMS["bcast"] == ["knomial", "sag_knomial", "dbt"] and ALGORITHMS["allgather"] == ["knomial", "ring"]
    assert "allreduce" not in ALGORITHMS, "of another layer"
    assert export_ucc.algorithms_of("sh: ucc_info: not found") == {}


def test_what_has_no_choice_or_no_size_has_no_settings():
    assert [each.title for each in export_ucc.settings(ALGORITHMS, POINTS[0])] == ["bcast:@knomial", "bcast:@sag_knomial", "bcast:@dbt"]
    for collective in ("reduce", "alltoallv", "scan", "barrier"):
        assert export_ucc.settings(ALGORITHMS, Point(2, collective, 8)) == []
    assert export_ucc.settings(ALGORITHMS, Point(2, "reduce_scatter_block", 8))[1].title == "reduce_scatter:@knomial"


def tuned(quick):
    """`quick`: (bytes, token) that is faster than all others."""
    def run(job):
        tokens = dict(job.settings).get(export_ucc.TUNE, "").split("#")
        return jobs.Measured([Sample(Key(point), 0, 1.0 if any(point.size == size and token in tokens for size, token in quick) else 5.0)
                              for point in job.points] * job.rounds, [], "Open MPI", "")

    alone = HostAlone("openmpi", POINTS, 60.0, run, settings=lambda point: export_ucc.settings(ALGORITHMS, point))
    list(alone.measure())
    return alone.choices()


def test_several_collectives_have_one_setting_in_a_job():
    alone = HostAlone("openmpi", POINTS, 60.0, lambda job: None, settings=lambda point: export_ucc.settings(ALGORITHMS, point))
    settings = [dict(job.settings).get(export_ucc.TUNE) for _, job in alone.jobs()]
    assert settings[:4] == [None, "bcast:@knomial#allgather:@knomial", "bcast:@sag_knomial#allgather:@ring", "bcast:@dbt"]


def test_the_setting_has_ranges_whose_both_ends_belong_to_them():
    made = export_ucc.ucc(tuned([(4096, "bcast:@dbt"), (64, "allgather:@ring")]))
    tune = "allgather:0-inf:[2-2]:@ring#bcast:4096-65535:[2-2]:@dbt"
    assert made.environment == {**export_ucc.BASE, "UCC_TL_UCP_TUNE": tune}
    assert made.text.splitlines()[1:] == [
        "export OMPI_MCA_coll_ucc_enable='1'", "export OMPI_MCA_coll_ucc_priority='100'", f"export UCC_TL_UCP_TUNE='{tune}'"]
    assert export_ucc.ucc(tuned([(65536, "bcast:@dbt")])).environment["UCC_TL_UCP_TUNE"] == "bcast:65536-inf:[2-2]:@dbt"
    assert export_ucc.ucc(tuned([(8, "bcast:@dbt")])).environment["UCC_TL_UCP_TUNE"] == "bcast:0-4095:[2-2]:@dbt"


def test_where_nothing_is_faster_ucc_chooses():
    made = export_ucc.ucc(tuned([]))
    assert made.environment == export_ucc.BASE and "TUNE" not in made.text


@pytest.mark.parametrize("collective, size, bytes_of_ucc", [
    ("bcast", 64, 64), ("allreduce", 64, 64), ("allgather", 64, 256), ("gather", 64, 256), ("alltoall", 64, 64),
    ("reduce_scatter_block", 64, 16), ("reduce_scatter", 64, 64)])
def test_bytes_as_ucc_counts_them(collective, size, bytes_of_ucc):
    assert export_ucc.bytes_of_ucc(Point(4, collective, size)) == bytes_of_ucc


def line(who, name):
    return f"[vm:1] coll_ucc_{name}.c:45 - mca_coll_ucc_{name}() running {who} {name}\n"


class Fake(OfUcc):
    """An Open MPI of which `serves` says what a job with such a setting prints."""

    def run(self, job):
        return jobs.Measured([], [], "Open MPI", "", self.algorithms["serves"](job))


def fake(serves):
    return Fake(HOSTS["openmpi"], {"serves": serves})


def test_calls_that_ucc_does_not_serve_are_left_out():
    target = fake(lambda job: line("ucc" if job.points[0].collective == "bcast" else "fallback", job.points[0].collective))
    assert target.usable(POINTS) == POINTS[:3]
    with pytest.raises(Problem, match="no component coll_ucc"):
        fake(lambda job: "").usable(POINTS)
    with pytest.raises(Problem, match="no component coll_ucc"):
        fake(lambda job: line("ucc", "bcast") + line("fallback", "bcast")).usable(POINTS[:1])


def test_what_ucc_does_not_serve_with_the_setting_goes_back():
    choices = tuned([(4096, "bcast:@dbt"), (64, "allgather:@ring")])
    target = fake(lambda job: line("fallback" if job.points[0].collective == "bcast" else "ucc", job.points[0].collective))
    assert [choice.point for choice in host_alone.chosen(target.taken(choices, {}))] == [POINTS[3]]


@pytest.mark.parametrize("said", [
    "[1] ucc_coll_score.c:735  UCC  ERROR incorrect algorithm id provided: nonsense, bcast:@nonsense, component TL_UCP\n",
    "[1795825171.692925] [vm:27419:0]  ucc_coll_score.c:808  UCC  ERROR failed to parse UCC_*_TUNE parameter: bcast:@nonsense\n"])
def test_a_setting_that_ucc_does_not_understand_is_told(monkeypatch, said):
    """It goes on as if there were none, so that the job itself looks well."""
    monkeypatch.setattr(export_target.host_jobs, "run", lambda host, job: jobs.Measured([], [], "", "", said + line("ucc", "bcast")))
    target = OfUcc(HOSTS["openmpi"], ALGORITHMS)
    assert "nonsense" in target.run(jobs.Job((POINTS[0],), "", 1, 1.0)).why_not
    with pytest.raises(Problem):
        target.usable(POINTS[:1])


def test_jobs_run_by_ucc(monkeypatch):
    seen = []
    monkeypatch.setattr(export_target.host_jobs, "run", lambda host, job: seen.append(dict(job.settings)) or jobs.Measured([], [], "", ""))
    OfUcc(HOSTS["openmpi"], ALGORITHMS).run(jobs.Job((POINTS[0],), "", 1, 1.0, ((export_ucc.TUNE, "bcast:@dbt"),)))
    assert seen == [{**export_ucc.BASE, export_ucc.TUNE: "bcast:@dbt"}]


def test_ucc_serves_open_mpi_alone(espalier, monkeypatch, tmp_path):
    with pytest.raises(Problem, match="UCC serves collectives of Open MPI"):
        export_target.of(HOSTS["mpich"], True)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Problem, match="ucc_info is not on PATH"):
        export_target.of(HOSTS["openmpi"], True)
    assert "--ucc goes with --export" in espalier("tune", "--ucc").stderr


def test_ucc_info_that_says_nothing(monkeypatch, tmp_path):
    program = tmp_path / "ucc_info"
    program.write_text("#!/bin/sh\necho 'tl/ucp algorithms:'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    with pytest.raises(Problem, match="names no algorithms"):
        export_ucc.ask()
    program.write_text(f"#!/bin/sh\ncat <<'E'\n{INFO}E\n")
    assert export_ucc.ask() == ALGORITHMS
