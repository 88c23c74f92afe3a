"""The limits, distributions and who served what: worked out by hand."""

import json

import pytest

from made_up import make_document, make_each, make_job, make_limit, steady
from espalier.bench import served
from espalier.bench.results import each, limits as bench_limits, special


def test_distributions_of_blocks_are_put_together():
    line = lambda side, us: {"collective": "allreduce", "bytes": 8, "round": 0, "side": side, "us": us, "f_ns": 60.0}
    found = each.reduced([line("host", [1.0] * 94), line("espalier", [2.0]), line("host", [3.0] * 5 + [9.0])])
    (host, espalier) = found
    assert (host["side"], host["calls"], host["median"], host["least"], host["most"]) == ("host", 100, 1.0, 1.0, 9.0)
    assert host["p95"] == 3.0 and host["p99"] == pytest.approx(3.06)
    assert (espalier["calls"], espalier["p99"]) == (1, 2.0)


def test_jobs_of_a_neighbour_are_merged_by_medians():
    jobs = [make_job("mpich", 2, [], each=[make_each("host", p95)]) for p95 in (1.0, 2.0, 30.0)]
    found = each.beside_neighbour(make_document(*jobs))["back to back", "mpich", "host"]
    assert (found["p95"], found["calls"], found["most"]) == (2.0, 300, 300.0)


def test_statistics_say_who_served():
    row = lambda name, calls, why: {"collective": name, "calls": calls, "fallback": why}
    text = json.dumps({"rows": [row("bcast", 3, None), row("bcast", 1, "too long"), row("scan", 2, "no rule"), row("reduce", 5, None)]})
    found = served.of_statistics(text, ("bcast", "scan", "reduce", "gather"))
    assert {name: entry["by"] for name, entry in found.items()} == {
        "bcast": "both", "scan": "host", "reduce": "espalier", "gather": "host"
    }
    assert found["bcast"] == {"by": "both", "calls": 4, "espalier": 3}


def test_no_statistics_is_not_known(tmp_path):
    assert served.read(tmp_path / "none.json", ("bcast",)) == {}


def test_yardsticks_by_state():
    limits = [make_limit(64, 0, 2.0), make_limit(64, 1, 4.0), make_limit(64, 2, 50.0, f_ns=250)]
    near, far = sorted(bench_limits.yardsticks(make_document(make_job("mpich", 2, [], limits=limits))), key=lambda y: y.state, reverse=True)
    assert (near.pipe.mid, near.memcpy.mid, near.cut, far.pipe.mid) == (3.0, 1.5, "16384 B x 4", 50.0)


def test_every_round_is_measured_against_its_own_limit():
    rounds = steady("bcast", 1 << 20, 900, 120, rounds=2)
    limits = [make_limit(1 << 20, 0, 100.0), make_limit(1 << 20, 1, 50.0)]
    (found,) = bench_limits.distances(make_document(make_job("mpich", 2, rounds, limits=limits)))
    assert found.times.least == pytest.approx(1.0) and found.times.mid == pytest.approx(1.5)


def test_quota_and_late_jobs_have_no_distance():
    job = make_job("mpich", 2, steady("barrier", 0, 1, 0.1), place="quota")
    assert bench_limits.distances(make_document(job)) == []


def test_sessions_are_counted():
    shared = make_job("openmpi", 2, [])
    shared["run"] |= {"shared_session": True, "own_sessions": False}
    rows = special.session_rows(make_document(shared, make_job("mpich", 2, []), make_job("mpich", 4, [])))
    assert rows == [["MPICH", "one for each", "yes", "2"], ["Open MPI", "one for all", "yes", "1"]]
