import pytest
from made_up import make_document, make_job, steady
from espalier.bench.results.means import ALL, means, print_means
from espalier.bench.results.stats import summarise
from espalier.bench.results.verdict import usable
from rich.console import Console


def found(*jobs):
    summaries = summarise(make_document(*jobs))
    return means(usable(summaries), summaries, cores=2)


def test_each_collective_has_the_mean_over_sizes_and_hosts_of_the_best_host():
    mpich = steady("bcast", 8, 4.0, 1.0) + steady("bcast", 64, 1.0, 1.0) + steady("scan", 8, 8.0, 1.0)
    openmpi = steady("bcast", 8, 8.0, 4.0) + steady("bcast", 64, 4.0, 1.0) + steady("scan", 8, 9.0, 2.0)
    column = found(make_job("mpich", 2, mpich), make_job("openmpi", 2, openmpi))[2, "", "near"]
    assert [column[name] for name in ("bcast", "scan", ALL)] == pytest.approx([2 ** (1 / 2), 32 ** (1 / 2), 128 ** (1 / 6)])


def test_states_are_apart_with_a_core_for_each_rank_and_together_without():
    rounds = steady("bcast", 8, 4.0, 1.0) + steady("bcast", 8, 9.0, 1.0, f_ns=250)
    columns = found(make_job("mpich", 2, rounds), make_job("mpich", 4, rounds), make_job("mpich", 4, rounds, place="quota"))
    assert set(columns) == {(2, "", "near"), (2, "", "far"), (4, "", ""), (4, "quota", "")}
    assert columns[4, "", ""]["bcast"] == pytest.approx(6.0)


def test_the_table_names_columns_and_collectives():
    summaries = summarise(make_document(*(make_job(host, 2, steady("bcast", 8, 4.0, 2.0)) for host in ("mpich", "impi"))))
    console = Console(record=True, width=120)
    print_means(usable(summaries), summaries, 2, console)
    text = console.export_text()
    assert "2 ranks, near" in text and "bcast" in text and text.count("2.00") == 2


def test_buffers_of_mpi_have_a_table_of_their_own():
    jobs = [make_job(host, 2, steady("bcast", 8, 4.0, us), buffers=buffers) for host in ("mpich", "impi") for buffers, us in (("written", 2.0), ("allocated", 1.0))]
    summaries = summarise(make_document(*jobs))
    for buffers, mean in (("written", 2.0), ("allocated", 4.0)):
        assert means(usable(summaries, buffers), summaries, 2)[2, "", "near"]["bcast"] == pytest.approx(mean)
    console = Console(record=True, width=200)
    print_means(usable(summaries, "allocated"), summaries, 2, console)
    assert "buffers of MPI_Alloc_mem" in console.export_text()
