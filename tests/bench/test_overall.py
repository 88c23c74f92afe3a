"""What all single calls of a run say together."""

from rich.console import Console

from espalier.bench.results import overall, stats
from made_up import make_document, make_job, steady


def document():
    """Ratios: 4 and 1 under MPICH, 0.5 and 0.96 under Open MPI on 2 ranks, 2 on 4."""
    mpich = steady("allreduce", 8, 4.0, 1.0) + steady("bcast", 8, 3.0, 3.0)
    slow = steady("allreduce", 8, 1.0, 2.0) + steady("barrier", 0, 0.96, 1.0)
    return make_document(make_job("mpich", 2, mpich), make_job("openmpi", 2, slow), make_job("openmpi", 4, steady("bcast", 8, 2.0, 1.0)))


def shown(of, width=160):
    console = Console(record=True, width=width)
    overall.print_overall(of, console)
    return [line.rstrip() for line in console.export_text().splitlines()]


def test_means_by_ranks_and_host():
    found = overall.means(stats.summarise(document()))
    assert {key: round(mean, 3) for key, mean in found.items()} == {(2, "mpich"): 2.0, (2, "openmpi"): 0.693, (4, "openmpi"): 2.0}


def test_slower_points_are_counted_and_named():
    lines = shown(document())
    assert "1 of 5 points are more than 5 % slower than the host:" in lines
    assert "  0.50  allreduce of 8B, Open MPI, 2 ranks, cores near" in lines


def test_a_table_with_a_row_for_each_number_of_ranks():
    rows = [line.split() for line in shown(document())]
    assert ["2", "2.00", "0.69"] in rows and ["4", "2.00"] in rows


def test_no_point_is_slower():
    lines = shown(make_document(make_job("mpich", 2, steady("bcast", 8, 3.0, 1.0) + steady("reduce", 8, 3.0, 1.0))))
    assert lines[-1] == "0 of 2 points are more than 5 % slower than the host"


def test_a_host_as_it_comes_is_not_counted():
    usual = make_job("mpich", 2, steady("bcast", 8, 3.0, 1.0) + steady("reduce", 8, 3.0, 1.0))
    as_it_comes = {**make_job("mpich", 2, steady("bcast", 8, 1.0, 9.0)), "variant": "default"}
    assert shown(make_document(usual, as_it_comes))[-1].startswith("0 of 2 points")


def test_one_point_needs_no_mean():
    assert shown(make_document(make_job("mpich", 2, steady("bcast", 8, 3.0, 1.0)))) == []
