"""The pages of `espalier demo`, `report`, `stats` and `doctor` as a reader sees them: in headless Chromium, from 400 to 1,600 pixels, light
and dark."""

import random

import pytest
import made_up_run
from browser import look
from made_up import make_document, make_job, make_round

from espalier.bench import process
from espalier.bench.collectives import NAMES
from espalier.bench.hosts import HOSTS
from espalier.doctor import page as doctor_page
from espalier.doctor.check import Check
from espalier.doctor.latencies import Latencies
from espalier.demo import command as demo_command, mpis, rounds as demo_rounds
from espalier.report import command as report_command
from espalier.report.run import arrivals, gantt, limits, page as run_page, roofline
from espalier.stats import page as stats_page

SIZES = (8, 64, 1024, 32768, 1048576)
LONG = "x" * 300


def bench():
    chance = random.Random(1)

    def rounds(ranks):
        for name in NAMES:
            for size in (0,) if name == "barrier" else SIZES:
                us = ranks * (1 + size / 20000)
                yield from (make_round(name, size, us, us / chance.uniform(0.8, 3), number=number) for number in range(3))

    document = make_document(*(make_job(host, ranks, list(rounds(ranks))) for host in HOSTS for ranks in (2, 4)))
    document["failures"] = [{"command": f"mpirun {LONG}", "why": "ended with code 3", "last_lines": [LONG]}]
    return report_command.page(document)


def demo():
    chance, found = random.Random(1), demo_rounds.Collected()
    for program in ("imb", "mpi4py"):
        for ranks in (2, 4):
            for name in ("Barrier", "Bcast", "Reduce", "Allreduce"):
                for size in (0,) if name == "Barrier" else [2**power for power in range(3, 23)]:
                    for number in range(3):
                        us = 1 + size / 10000
                        found.add(program, ranks, name, size, "host", number, us)
                        found.add(program, ranks, name, size, "espalier", number, us / chance.uniform(0.8, 3))
                    if ranks == 4 and size <= 8:
                        found.add(program, ranks, name, size, "default", 0, 8000.0)
    found.ran("IMB-MPI1, 2 ranks", process.Outcome(f"A={LONG} mpirun x", 9, "one\n", 1.0), 0)
    mpi = mpis.Mpi(HOSTS["mpich"], imb=None, python=None)
    machine = {"processor": "AMD EPYC 9654 96-Core Processor", "cores": 2}
    return demo_command.page(mpi, found, demo_command._sections(mpi, found), machine, "today")


def stats():
    wait = {"spin": 123456, "progress": 1, "yield": 1234567, "sleep": 9}
    rows = [
        {"communicator": 0, "collective": name, "bytes_from": size, "bytes_to": 2 * size - 1, "calls": 123456, "seconds": 12.5,
         "mean_seconds": 12.5, "slowest_seconds": 13.5, "waited_seconds": 6.0, "mostly_last": {"rank": 3, "calls": 99},
         "algorithm": "exchange", "transport": "shared memory and messages", "wait": wait, "fallback": why, "passed_over": None}
        for name in NAMES[1:] for size, why in ((8, None), (1 << 20, "the datatype is not made of equal basic elements"))
    ]
    frames = [{"file": "/nowhere/app", "address": 4660, "symbol": "a_function_of_a_rather_long_name_in_a_library"}] * 3
    site = {"frames": frames, "communicator": 0, "collective": "allreduce", "bytes_from": 8, "bytes_to": 15, "by_host": False,
            "ranks": 4, "calls": 40, "mean_seconds": 1.0, "slowest_seconds": 2.0}
    return stats_page.page({
        "schema": 1, "ranks": 4, "host": "Open MPI v5.0.11, package: Open MPI build distribution", "build": "ompi", "run_seconds": 60.0,
        "communicators": [{"id": 0, "size": 4, "name": "4 ranks", "transport": "host"}],
        "allocated": {"blocks": 2, "reads": 77}, "rows": rows, "sites": [site, site]})


def doctor():
    near = [[None if i == j else 40.0 + i + j if i // 8 == j // 8 else 200.0 + i for j in range(24)] for i in range(24)]
    levels = [["l3" if i // 8 == j // 8 else "machine" for j in range(24)] for i in range(24)]
    checks = [Check("preloading", True, f"the loader takes {LONG}"), Check("MPI", None, "a job ran", "another launcher"),
              Check("hwloc", False, "cannot be loaded", "apt-get install libhwloc15")]
    return doctor_page.page(checks, Latencies(list(range(24)), near, levels))


def run():
    """Of more ranks than have lanes, and of all collectives."""
    names = [name for name in NAMES if not name.endswith("v")]
    rows = [made_up_run.row(name, size, waited=6e-4 / (1 + at)) for at, name in enumerate(names) for size in (8, 1 << 20)]
    machine = limits.Limits(made_up_run.MODEL["name"], made_up_run.MODEL)
    statistics = made_up_run.report(*rows, made_up_run.row("bcast", 64, waited=None))
    points, left_out = roofline.of_report(statistics, machine)
    ranks = made_up_run.flight(ranks=40, calls=[(100.0 * at, 100.0 * at + 60) for at in range(9)], boots=("a", "b"))
    return run_page.page(run_page.Run(run_page.title_of(statistics), gantt.of_ranks(ranks), arrivals.of_report(statistics), points,
                                      machine, left_out=left_out, has_statistics=True))


def few_calls():
    """Two ranks that made a call, without statistics."""
    ranks = made_up_run.flight(ranks=2, calls=((10.0, 14.0),), late=1)
    return run_page.page(run_page.Run("the last calls of 2 of 2 ranks", gantt.of_ranks(ranks)))


PAGES = {"run": (run, None, "Most waiting "), "few_calls": (few_calls, None, "In 4 us "), "doctor": (doctor, "ratio"), "bench": (bench, "ratio"), "demo": (demo, "ratio"), "stats": (stats, None)}


@pytest.fixture(scope="module", params=PAGES)
def page(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("pages") / f"{request.param}.html"
    path.write_text(PAGES[request.param][0](), encoding="utf-8")
    return path


@pytest.mark.parametrize("width, dark", [
    (400, False), (1000, True), (1600, False), pytest.param(400, True, marks=pytest.mark.full)])
def test_it_can_be_read(page, width, dark):
    seen = look(page, width, dark)
    assert seen["console"] == []
    assert seen["width"] == width
    assert seen["scrolls"] <= width, "the page is wider than the window"
    assert (seen["paper"] == "rgb(255, 255, 255)") == (not dark), seen["paper"]
    assert seen["first"].startswith((*PAGES[page.stem], "Espalier ")[2]) and 0 < seen["verdict_bottom"] < 600, seen
    assert seen["blocks"] == seen["cells"] == seen["drawn"] == [], "parts lie over each other"
    assert seen["faint"] == seen["faint_drawn"] == []
    if PAGES[page.stem][1]:
        assert seen["ratios"] > 0 and seen["hidden_ratios"] == []


def test_what_is_wrong_is_seen(tmp_path):
    """Without it the tests above would show nothing."""
    path = tmp_path / "wrong.html"
    path.write_text("""<!DOCTYPE html><meta name="viewport" content="width=device-width"><body style="background: #fff">
        <h1>A page</h1><p style="color: #ccc">faint</p><p style="margin-top: -30px">over it</p>
        <p style="width: 900px">wide</p><table><tr><td>a</td><td class="ratio" style="padding-left: 600px">1.5</td></tr></table>
        <svg viewBox="0 0 100 20"><text style="" x="5" y="15">one</text><text style="" x="10" y="15">two</text></svg>
        <script>console.error("wrong")</script>""")
    seen = look(path, 400)
    assert seen["console"] and seen["scrolls"] > 400 and seen["verdict_bottom"] == -1
    assert "faint" in seen["faint"] and seen["blocks"] and seen["drawn"] == ["one / two"] and seen["hidden_ratios"] == ["1.5"]
