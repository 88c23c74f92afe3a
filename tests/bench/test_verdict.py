from made_up import make_document, make_job, steady
from espalier.bench_stats import summarise
from espalier.bench_verdict import best_hosts, verdict


def goals(*jobs):
    return {goal.name: goal for goal in verdict(summarise(make_document(*jobs)), cores=2)}


def test_all_goals_met(document):
    found = {goal.name: goal for goal in verdict(summarise(document), cores=2)}
    assert found["two-ranks-faster"].verdict == "met" and found["two-ranks-faster"].judged == 2
    assert found["never-slower"].verdict == "met" and found["never-slower"].judged == 4
    assert found["near-the-limit"].verdict == "met"
    assert found["more-ranks-than-cores"].verdict == "not measured"


def test_equal_is_not_faster_and_the_point_is_named():
    found = goals(make_job("impi", 2, steady("reduce", 4096, 1.0, 1.0)))
    assert found["two-ranks-faster"].verdict == "missed"
    assert found["two-ranks-faster"].misses == ["impi 2 ranks reduce 4KiB (near): 1.00 x its host (1.00 / 1.00 µs)"]
    assert found["never-slower"].verdict == "met"


def test_a_long_message_may_be_a_tenth_slower_but_no_more():
    assert goals(make_job("impi", 2, steady("bcast", 1 << 20, 90.0, 100.0)))["never-slower"].verdict == "met"
    assert goals(make_job("impi", 2, steady("bcast", 1 << 20, 89.0, 100.0)))["never-slower"].verdict == "missed"


def test_flag_exchanges_bound_barrier_and_8_bytes_only():
    rounds = steady("barrier", 0, 1.0, 0.16) + steady("allreduce", 8, 1.0, 0.14) + steady("allreduce", 64, 1.0, 0.9)
    found = goals(make_job("mpich", 2, rounds))["near-the-limit"]
    assert found.judged == 2
    assert found.misses == ["mpich 2 ranks barrier (near): 2.7 flag exchanges of 60 ns"]


def test_crowded_is_judged_against_the_best_host_at_any_setting():
    found = goals(
        make_job("mpich", 4, steady("barrier", 0, 30.0, 5.0)),
        make_job("openmpi", 4, steady("barrier", 0, 4.0, 6.5)),
        make_job("impi", 4, steady("barrier", 0, 3.0, None), variant="default"),
    )["more-ranks-than-cores"]
    assert found.judged == 2
    assert len(found.misses) == 2 and all("impi" in miss for miss in found.misses)


def test_crowded_within_one_and_a_half_is_met():
    jobs = (make_job("mpich", 4, steady("barrier", 0, 30.0, 6.0)), make_job("openmpi", 4, steady("barrier", 0, 4.0, 6.0)))
    assert goals(*jobs)["more-ranks-than-cores"].verdict == "met"


def test_states_are_not_mixed():
    near, far = steady("barrier", 0, 4.0, 4.0), steady("barrier", 0, 20.0, 20.0, f_ns=250)
    best = best_hosts(summarise(make_document(make_job("mpich", 4, near), make_job("impi", 4, far))))
    assert {place[-1]: s.key.host for place, s in best.items()} == {"near": "mpich", "far": "impi"}


def test_a_state_seen_in_few_rounds_does_not_decide():
    rounds = steady("bcast", 8, 1.0, 0.5) + steady("bcast", 8, 1.0, 2.0, f_ns=250, rounds=2)
    assert goals(make_job("mpich", 2, rounds))["two-ranks-faster"].verdict == "met"
    only = steady("bcast", 8, 1.0, 2.0, f_ns=250, rounds=2)
    assert goals(make_job("mpich", 2, only))["two-ranks-faster"].verdict == "missed"


def test_reused_buffers_are_not_judged():
    found = goals(make_job("mpich", 2, steady("bcast", 8, 1.0, 2.0), buffers="reused"))
    assert found["two-ranks-faster"].verdict == "not measured"
