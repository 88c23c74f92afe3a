import re

from rich.console import Console

from made_up import both_modes, make_document, make_each, make_job, make_limit, steady
from espalier.bench.collectives import NAMES
from espalier.bench import command as bench_command, process
from espalier.bench.hosts import HOSTS
from espalier.demo import command as demo_command, mpis, rounds as demo_rounds
from espalier.report import command as report_command


def assert_stands_alone(page):
    assert page.startswith("<!DOCTYPE html>") and page.rstrip().endswith("</html>")
    assert "<script" not in page and "<link" not in page and not re.search(r'src="', page)
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    for target in re.findall(r'(?:href="|url\()#([^")]+)', page):
        assert target in ids


def test_bench_page(document):
    document["failures"] = [{"command": "mpirun <x>", "why": "ended with code 3", "last_lines": ["a & b"]}]
    page = report_command.page(document)
    assert_stands_alone(page)
    assert "MPICH, 2 ranks, near" in page and "MPICH, 2 ranks, far" in page
    assert page.count("<svg") == 4  # times and ratios in each state
    assert re.search(r'class="verdict">Espalier is faster at \d+ of \d+ points; the geometric mean', page)
    assert "mpirun &lt;x&gt;" in page and "a &amp; b" in page
    assert '2.00<span class="quartiles"> (2.00–2.00)</span>' in page


def test_page_of_an_empty_run_and_of_hosts_alone():
    assert_stands_alone(report_command.page(make_document()))
    page = report_command.page(make_document(make_job("impi", 2, steady("bcast", 8, 1.0, None))))
    assert_stands_alone(page)
    assert page.count("<svg") == 1  # no ratios


def test_bench_page_shows_what_is_not_a_point(document):
    switches = [{"round": 0, "per_core": 2, "switch_us": 4.25, "f_ns": 60.0}]
    oversubscribed = make_job("mpich", 4, steady("barrier", 0, 90, 7.0), switches=switches)
    oversubscribed["run"]["left_out"] = [{"collective": "allgather", "bytes": 4194304}]
    beside = make_job("impi", 2, [], kind="neighbour", each=[make_each("host", 9.5), make_each("espalier", 3.25)])
    late = make_job("mpich", 2, steady("bcast", 8, 2.0, 1.0), place="late 100 µs")
    document["jobs"] += [oversubscribed, beside, late]
    document["jobs"][0]["limits"] = [make_limit(1048576, 0, 123.5)]
    document["quota"] = {"made": False, "why": "may not"}
    page = report_command.page(document)
    assert_stands_alone(page)
    for words in ("4.25", "9.50", "3.25", "123.5", "16384 B x 4", "no CPU quota: may not", "4 ranks allgather 4MiB"):
        assert words in page
    assert "one rank late by 100 µs: time from its arrival" in page and "one for each" in page


def test_persistent_calls_have_sections_and_goals_of_their_own(document):
    blocking = report_command.page(document)
    assert "persistent" not in blocking
    document["jobs"].append(make_job("impi", 2, steady("bcast", 8, 3.0, 1.0), mode="persistent", host_wrong=["gather"]))
    page = report_command.page(document)
    assert_stands_alone(page)
    assert "Intel MPI, 2 ranks, persistent calls, near" in page and "MPICH, 2 ranks, near" in page
    assert page.count("<h2>Against the goals") == 2 and "Against the goals, persistent calls" in page
    assert "persistent calls that the host gets wrong: Intel MPI, 2 ranks: gather" in page


def test_the_terminal_shows_one_mode_after_the_other():
    console = Console(record=True, width=200)
    bench_command.show(both_modes(), console, goals=True)
    times, goals = console.export_text().split("The best of the hosts", 1)
    assert times.index("MPICH, 2 ranks, buffers written") < times.index("MPICH, 2 ranks, persistent calls, buffers written")
    blocking, persistent = goals.split("Against the goals\n")
    assert "persistent" not in blocking
    for words in ("Espalier is faster), persistent calls", "Against the goals, persistent calls"):
        assert words in persistent


def test_many_collectives_become_a_map():
    rounds = [r for name in NAMES[1:] for r in steady(name, 8, 2.0, 1.0)]
    served = {"exscan": {"by": "host", "calls": 3, "espalier": 0}}
    page = report_command.page(make_document(make_job("mpich", 2, rounds, served=served)))
    assert_stands_alone(page)
    assert page.count("<svg") == 2 and "reduce_scatter_block" in page and page.count('<td class="more">host</td>') == 1


def collected():
    found = demo_rounds.Collected()
    for number, (host, espalier) in enumerate([(1.0, 0.5), (3.0, 1.0), (2.0, 2.0)]):
        for size in (8, 1024):
            found.add("imb", 2, "Bcast", size, "host", number, host)
            found.add("imb", 2, "Bcast", size, "espalier", number, espalier)
    found.add("imb", 4, "Barrier", 0, "host", 0, 30.0)
    found.add("imb", 4, "Barrier", 0, "espalier", 0, 5.0)
    found.add("imb", 4, "Barrier", 0, "default", 0, 8000.0)
    return found


def test_demo_rows_pair_the_rounds():
    first, _, barrier = demo_rounds.rows(collected(), "imb")
    assert (first.collective, first.bytes, first.host.mid, first.ratio.mid) == ("bcast", 8, 2.0, 2.0)
    assert barrier.default == 8000.0 and barrier.ratio.mid == 6.0


def test_a_round_with_one_side_gives_no_ratio():
    found = demo_rounds.Collected()
    found.add("imb", 2, "Bcast", 8, "host", 0, 1.0)
    found.add("imb", 2, "Bcast", 8, "espalier", 1, 1.0)
    (row,) = demo_rounds.rows(found, "imb")
    assert row.ratio is None and row.ratio_words == ""


# That programs run on it is no matter here.
MPI = mpis.Mpi(HOSTS["mpich"], imb=None, python=None)


def test_demo_page():
    found = collected()
    found.ran("IMB-MPI1, 2 ranks", process.Outcome("A=1 mpirun x", 9, "one\ntwo\n", 1.0), 0)
    page = demo_command.page(MPI, found, demo_command._sections(MPI, found), {"processor": "Test", "cores": 2}, "today")
    assert_stands_alone(page)
    assert "A=1 mpirun x" in page and "ended with code 9" in page and "as it comes" in page and "8000" in page
