import pytest

from made_up import make_document, make_each, make_job, make_limit, steady
from espalier.bench.results.peers import best_hosts
from espalier.bench.results.stats import summarise
from espalier.bench.results.verdict import verdict

MIB = 1 << 20


def goals(*jobs):
    return {goal.name: goal for goal in verdict(make_document(*jobs))}


def test_all_goals_met(document):
    found = {goal.name: goal for goal in verdict(document)}
    assert found["own-host-faster"].verdict == "met" and found["own-host-faster"].judged == 2
    assert found["own-host-never-slower"].verdict == "met" and found["own-host-never-slower"].judged == 4
    assert found["limit-2.5-flags"].verdict == "met"
    assert found["oversubscribed-every-point"].verdict == "not measured"


def test_equal_is_not_faster_and_the_point_is_named():
    found = goals(make_job("impi", 2, steady("reduce", 4096, 1.0, 1.0)))
    assert found["own-host-faster"].verdict == "missed"
    assert found["own-host-faster"].misses == ["impi 2 ranks reduce 4KiB (near): 1.00 x its host (1.00 / 1.00 µs)"]
    assert found["own-host-never-slower"].verdict == "met"


def test_a_long_message_may_be_a_tenth_slower_but_no_more():
    assert goals(make_job("impi", 2, steady("bcast", 1 << 20, 90.0, 100.0)))["own-host-never-slower"].verdict == "met"
    assert goals(make_job("impi", 2, steady("bcast", 1 << 20, 89.0, 100.0)))["own-host-never-slower"].verdict == "missed"


def test_flag_exchanges_bound_barrier_and_8_bytes_only():
    rounds = steady("barrier", 0, 1.0, 0.16) + steady("allreduce", 8, 1.0, 0.14) + steady("allreduce", 64, 1.0, 0.9)
    found = goals(make_job("mpich", 2, rounds))["limit-2.5-flags"]
    assert found.judged == 2
    assert found.misses == ["mpich 2 ranks barrier (near): 2.7 flag exchanges of 60 ns"]


def test_oversubscribed_is_judged_against_the_best_host_at_any_setting():
    found = goals(
        make_job("mpich", 4, steady("barrier", 0, 30.0, 5.0)),
        make_job("openmpi", 4, steady("barrier", 0, 4.0, 6.5)),
        make_job("impi", 4, steady("barrier", 0, 3.0, None), variant="default"),
    )["oversubscribed-every-point"]
    assert found.judged == 2
    assert len(found.misses) == 2 and all("impi" in miss for miss in found.misses)


def test_oversubscribed_within_one_and_a_half_is_met():
    jobs = (make_job("mpich", 4, steady("barrier", 0, 30.0, 6.0)), make_job("openmpi", 4, steady("barrier", 0, 4.0, 6.0)))
    assert goals(*jobs)["oversubscribed-every-point"].verdict == "met"


def test_a_peer_of_another_mode_is_none():
    quick = make_job("impi", 2, steady("bcast", 8, 0.1, 0.1), mode="persistent")
    best = best_hosts(summarise(make_document(make_job("mpich", 2, steady("bcast", 8, 2.0, 1.0)), quick)))
    assert {s.key.mode: s.key.host for s in best.values()} == {"blocking": "mpich", "persistent": "impi"}


def test_states_are_not_mixed():
    near, far = steady("barrier", 0, 4.0, 4.0), steady("barrier", 0, 20.0, 20.0, f_ns=250)
    best = best_hosts(summarise(make_document(make_job("mpich", 4, near), make_job("impi", 4, far))))
    assert {place[-1]: s.key.host for place, s in best.items()} == {"near": "mpich", "far": "impi"}


def test_a_state_seen_in_few_rounds_does_not_decide():
    rounds = steady("bcast", 8, 1.0, 0.5) + steady("bcast", 8, 1.0, 2.0, f_ns=250, rounds=2)
    assert goals(make_job("mpich", 2, rounds))["own-host-faster"].verdict == "met"
    only = steady("bcast", 8, 1.0, 2.0, f_ns=250, rounds=2)
    assert goals(make_job("mpich", 2, only))["own-host-faster"].verdict == "missed"


def test_reused_buffers_are_not_judged():
    found = goals(make_job("mpich", 2, steady("bcast", 8, 1.0, 2.0), buffers="reused"))
    assert found["own-host-faster"].verdict == "not measured"


def test_what_the_host_serves_is_not_judged_against_itself():
    served = {"scan": {"by": "host", "calls": 0, "espalier": 0}}
    found = goals(make_job("mpich", 2, steady("scan", 8, 1.0, 1.0), served=served))
    assert found["own-host-faster"].verdict == "not measured"
    assert found["best-peer-every-point"].judged == 1


def test_two_ranks_are_judged_against_the_best_host_in_the_same_state():
    slow, quick = steady("bcast", 8, 4.0, 1.0), steady("bcast", 8, 0.9, 0.5)
    far = steady("bcast", 8, 0.1, 0.1, f_ns=250)
    found = goals(make_job("mpich", 2, slow), make_job("openmpi", 2, quick), make_job("impi", 2, far))
    goal = found["best-peer-every-point"]
    assert goal.judged == 3
    assert goal.misses == ["mpich 2 ranks bcast 8B (near): 0.90 x openmpi (0.90 / 1.00 µs)"]


def test_a_twentieth_is_noise():
    jobs = make_job("mpich", 2, steady("bcast", 8, 4.0, 1.0)), make_job("openmpi", 2, steady("bcast", 8, 0.96, 0.5))
    assert goals(*jobs)["best-peer-every-point"].verdict == "met"


def test_a_peer_seen_in_one_round_of_a_state_does_not_count_if_there_is_another():
    lucky = steady("bcast", 8, 0.1, 0.1, rounds=1)
    found = goals(make_job("mpich", 2, steady("bcast", 8, 2.0, 1.0)), make_job("impi", 2, lucky))["best-peer-every-point"]
    assert not any(miss.startswith("mpich") for miss in found.misses)


@pytest.mark.parametrize("state, f_ns, espalier_us, verdict_", [
    ("near", 60, 1.0, "met"), ("near", 60, 1.1, "missed"), ("far", 250, 1.3, "met"), ("far", 250, 1.4, "missed"),
])
def test_the_geometric_mean_of_a_state(state, f_ns, espalier_us, verdict_):
    rounds = steady("bcast", 8, 4.0, 2 * espalier_us, f_ns) + steady("scan", 8, 1.0, espalier_us / 2, f_ns)
    goal = goals(make_job("mpich", 2, rounds))[f"best-peer-mean-{state}"]
    assert goal.verdict == verdict_ and goal.judged == 2
    assert goal.note == f"{2 / espalier_us:.2f} x"
    if verdict_ == "missed":
        assert "bcast" in goal.misses[0] and "scan" in goal.misses[0]


def test_a_mean_leaves_out_states_in_which_a_host_was_not_seen():
    both, alone = steady("bcast", 8, 4.0, 2.0), steady("bcast", 8, 9.0, 1.0, f_ns=250)
    jobs = (make_job("mpich", 4, both + alone), make_job("impi", 4, steady("bcast", 8, 3.0, 2.0)))
    goal = goals(*jobs)["oversubscribed-mean-4"]
    assert goal.judged == 2 and goal.note == "1.50 x, 2.73 x with those where a host was not seen in the state"


def test_the_mean_of_what_espalier_serves_stands_beside_it():
    rounds = steady("bcast", 8, 4.0, 1.0) + steady("scan", 8, 1.0, 1.0)
    served = {name: {"by": by, "calls": 1, "espalier": 1} for name, by in (("bcast", "espalier"), ("scan", "host"))}
    goal = goals(make_job("mpich", 2, rounds, served=served))["best-peer-mean-near"]
    assert goal.note == "2.00 x, where Espalier serves 4.00 x" and goal.verdict == "met"


def test_each_number_of_ranks_and_the_quota_have_means_of_their_own():
    found = goals(
        make_job("mpich", 4, steady("barrier", 0, 6.0, 3.0)),
        make_job("mpich", 16, steady("barrier", 0, 6.0, 5.0)),
        make_job("mpich", 4, steady("barrier", 0, 6.0, 5.0), place="quota"),
    )
    assert found["oversubscribed-mean-4"].verdict == "met" and found["oversubscribed-mean-16"].verdict == "missed"
    assert found["oversubscribed-mean-8"].verdict == "not measured" and found["quota-mean"].note == "1.20 x"


def test_without_a_quota_one_core_is_judged():
    found = goals(make_job("mpich", 4, steady("barrier", 0, 6.0, 3.0), place="one core"))
    assert found["quota-mean"].verdict == "not measured" and found["one-core-mean"].verdict == "met"


def test_sixteen_ranks_below_a_millisecond_up_to_8_kib():
    rounds = steady("bcast", 8192, 3000, 999) + steady("scan", 8, 3000, 1001) + steady("bcast", 32768, 9000, 9000)
    goal = goals(make_job("mpich", 16, rounds))["oversubscribed-below-1-ms"]
    assert goal.judged == 2 and goal.misses == ["mpich 16 ranks scan 8B (near): 1001 µs"]


def test_late_ranks_are_shown_but_not_judged():
    found = goals(make_job("mpich", 2, steady("bcast", 8, 1.0, 5.0), place="late 100 µs"))
    assert all(goal.verdict == "not measured" for goal in found.values())


def test_flags_and_40_ns():
    assert goals(make_job("mpich", 2, steady("barrier", 0, 1, 0.129, f_ns=60)))["limit-flags"].verdict == "met"
    missed = goals(make_job("mpich", 2, steady("allreduce", 8, 1, 0.131, f_ns=60)))["limit-flags"]
    assert missed.misses == ["mpich 2 ranks allreduce 8 B (near): 1.01 x the bound (0.13 µs, limit 0.060 µs)"]


@pytest.mark.parametrize("collective, fine, bad", [("bcast", 119, 121), ("allreduce", 239, 241)])
def test_a_mebibyte_against_the_copies_of_the_same_round(collective, fine, bad):
    limits = [make_limit(MIB, number, 100.0) for number in range(5)]
    for us, expected in ((fine, "met"), (bad, "missed")):
        job = make_job("mpich", 2, steady(collective, MIB, 1000, us), limits=limits)
        assert goals(job)[f"limit-{collective}"].verdict == expected


def test_a_barrier_against_the_least_of_the_switches():
    switches = lambda us: [{"round": number, "per_core": 2, "switch_us": us, "f_ns": 60.0} for number in range(5)]
    weak = make_job("mpich", 4, steady("barrier", 0, 90, 7.0), switches=switches(5000.0))
    good = make_job("openmpi", 4, steady("barrier", 0, 90, 5.0), switches=switches(4.0))
    goal = goals(weak, good)["limit-switches"]
    assert goal.judged == 2 and len(goal.misses) == 1 and goal.misses[0].startswith("mpich 4 ranks barrier")


def test_a_neighbour():
    job = lambda host, host_p95, p95, place="": make_job(
        host, 2, [], kind="neighbour", place=place, each=[make_each("host", host_p95), make_each("espalier", p95)]
    )
    found = goals(job("mpich", 9.0, 1.9), job("impi", 6.0, 2.1), job("mpich", 90.0, 20.0, "late 500 µs"))
    assert found["neighbour-p95"].judged == 2
    assert found["neighbour-p95"].misses == ["impi: p95 2.10 µs, impi 6.00 µs"]
    assert found["neighbour-p95-late"].verdict == "met"
