import pytest

from made_up import both_modes, make_document, make_job, make_round, steady
from espalier.bench.results.stats import FAR_FROM_NS, Spread, geometric_mean, modes, near_below, of_mode, points, quantile, state, summarise


def test_quantiles_interpolate():
    assert quantile([4, 1, 3, 2], 0.5) == 2.5
    assert quantile([1, 2, 3, 4, 5], 0.25) == 2
    assert quantile([7], 0.75) == 7
    assert Spread.of([1, 2, 3, 4, 5]) == Spread(2, 3, 4, 1)


def test_two_states_are_parted_between_them():
    border = near_below([55, 56, 57, 58, 60] * 4 + [240, 250, 260] * 4)
    assert 60 < border < 240


def test_a_single_state_is_not_cut_in_two():
    around = [145, 150, 153, 157, 162] * 4
    assert near_below(around) > 162
    assert near_below([ns + 15 for ns in around]) < 160


def test_one_state_keeps_the_fixed_border():
    assert near_below([110, 112, 115, 118] * 5) == FAR_FROM_NS
    assert near_below([]) == FAR_FROM_NS
    assert near_below([0] * 50) == FAR_FROM_NS


def test_state_of_a_round():
    assert [state(ns, 120) for ns in (60, 119.9, 120, 300, 0)] == ["near", "near", "far", "far", "unknown"]


def test_near_and_far_rounds_are_summarised_apart(document):
    found = {(s.key.collective, s.key.bytes, s.key.state): s for s in summarise(document)}
    assert found["bcast", 1048576, "near"].host.mid == 100
    assert found["bcast", 1048576, "far"].host.mid == 300
    assert found["bcast", 1048576, "far"].ratio.mid == 1.5
    assert found["bcast", 1048576, "far"].rounds == 5


def test_ratio_is_the_median_of_ratios_not_the_ratio_of_medians():
    rounds = [make_round("bcast", 8, host, esp) for host, esp in ((1, 1), (10, 2), (100, 50))]
    (found,) = summarise(make_document(make_job("mpich", 2, rounds)))
    assert found.ratio.mid == 2
    assert found.host.mid / found.espalier.mid == 5


def test_time_in_flag_exchanges():
    (found,) = summarise(make_document(make_job("mpich", 2, steady("barrier", 0, 0.4, 0.12, f_ns=60))))
    assert found.flags.mid == pytest.approx(2.0)


def test_host_only_rounds_have_no_ratio():
    (found,) = summarise(make_document(make_job("mpich", 2, steady("barrier", 0, 0.4, None))))
    assert found.espalier is None and found.ratio is None and found.flags is None


def test_points_of_the_file(document):
    found = {(p["collective"], p["bytes"], p["state"]): p for p in points(document)}
    place = found["bcast", 1048576, "far"]
    assert place["host_us"] == {"low": 300, "median": 300, "high": 300, "least": 300}
    assert place["ratio"]["median"] == 1.5 and place["served"] == "" and place["rounds"] == 5


def test_geometric_mean():
    assert geometric_mean([1, 4]) == pytest.approx(2) and geometric_mean([]) is None


def test_places_are_summarised_apart():
    jobs = make_job("mpich", 4, steady("bcast", 8, 1.0, 1.0)), make_job("mpich", 4, steady("bcast", 8, 2.0, 2.0), place="quota")
    assert {s.key.place: s.host.mid for s in summarise(make_document(*jobs))} == {"": 1.0, "quota": 2.0}


def test_modes_are_summarised_apart():
    document = both_modes()
    found = [(s.key.host, s.key.mode, s.host.mid, s.served) for s in summarise(document)]
    assert found == [
        ("mpich", "blocking", 2.0, "espalier"), ("impi", "blocking", 2.0, "espalier"),
        ("mpich", "persistent", 1.0, "host"), ("impi", "persistent", 1.0, "host"),
    ]
    assert [p["mode"] for p in points(document)] == ["blocking", "blocking", "persistent", "persistent"]


def test_a_document_is_parted_by_mode():
    document = both_modes()
    assert modes(document) == ["blocking", "persistent"]
    for kept in (document, document | {"jobs": [], "points": points(document)}):
        assert {s.host.mid for s in summarise(of_mode(kept, "persistent"))} == {1.0}
    assert modes(make_document() | {"settings": {"mode": "persistent"}}) == ["persistent"]


def test_a_job_that_names_no_mode_is_blocking():
    job = make_job("mpich", 2, steady("bcast", 8, 1.0, 1.0))
    del job["mode"]
    document = make_document(job)
    assert modes(document) == ["blocking"] and summarise(document)[0].key.mode == "blocking"
    assert of_mode(document, "blocking")["jobs"] == [job] and of_mode(document, "persistent")["jobs"] == []
