"""bench/cluster: what is made of rounds over roots and of messages, on made-up numbers; and a real job."""

import json
import subprocess
import sys

import pytest

from espalier.bench import hosts
from espalier.install import source_tree
from espalier.problem import Problem

ROOT = source_tree()
for folder in ("bench", "tools"):
    sys.path.insert(0, str(ROOT / folder))

from cluster import document as file  # noqa: E402
from cluster import growth_plot, jobs, model, plot, settings, summary, table  # noqa: E402
from emulated_cluster import obstacle, parse_layout  # noqa: E402


def a_round(collective, root, host_us, espalier_us, size=8):
    return {
        "collective": collective,
        "bytes": size,
        "root": root,
        "round": root,
        "calls": 1,
        "host_us": host_us,
        "espalier_us": espalier_us,
    }


def a_job(*rounds, served="espalier"):
    names = {r["collective"] for r in rounds}
    return {
        "host": "mpich",
        "layout": "2x2",
        "rounds": list(rounds),
        "messages": [],
        "served": {name: {"by": served} for name in names},
    }


def test_rooted_collectives_are_summed_up_over_roots():
    """The median of each root first: one slow round of a root with three does not count."""
    rounds = [a_round("bcast", 0, us, us / 2) for us in (10, 10, 1000)] + [
        a_round("bcast", 1, 30, 10),
        a_round("bcast", 2, 50, 25),
    ]
    (point,) = summary.points({"jobs": [a_job(*rounds)]})
    assert (point.over, point.roots, point.rounds) == ("roots", (0, 1, 2), 5)
    assert vars(point.host_us) == {"least": 10, "median": 30, "most": 50}
    assert vars(point.espalier_us) == {"least": 5, "median": 10, "most": 25}
    assert point.ratio == 2 and point.served == "espalier"


def test_collectives_without_root_are_summed_up_over_rounds():
    (point,) = summary.points({"jobs": [a_job(*(a_round("scan", i, us, us) for i, us in enumerate((1, 2, 3, 4, 5))))]})
    assert point.over == "rounds" and point.roots == ()
    assert vars(point.host_us) == {"least": 2, "median": 3, "most": 4}


def test_the_host_alone():
    rounds = [
        {name: value for name, value in a_round("bcast", root, 7, 0).items() if name != "espalier_us"}
        for root in (0, 1)
    ]
    (point,) = summary.points({"jobs": [a_job(*rounds, served="host")]})
    assert point.espalier_us is None and point.ratio is None
    assert summary.described(point)["host_us"] == {"least": 7, "median": 7, "most": 7}


def test_the_model_finds_latency_and_rate():
    """Made up: 600 µs and 8 ns a byte; a row goes at 8 ns a byte and never faster than 5 µs a message."""
    sizes = (8, 1024, 65536, 262144, 1048576)
    messages = [
        {
            "where": "between nodes",
            "bytes": size,
            "half_trip_us": [600 + 0.008 * size] * 3,
            "gap_us": [max(5, 0.008 * size)] * 3,
        }
        for size in sizes
    ]
    (found,) = model.of_jobs([{**a_job(), "messages": messages}])
    assert found["latency_us"] == pytest.approx(600, abs=0.1) and found["ns_per_byte"] == pytest.approx(8)
    assert found["gap_us"] == 5 and found["gap_ns_per_byte"] == pytest.approx(8)
    assert [entry["bytes"] for entry in found["sizes"]] == list(sizes)


def parsed(*words):
    return settings.of_arguments(settings.parse(list(words)))


@pytest.mark.skipif(not hosts.HOSTS["mpich"].library_folder.exists(), reason="MPICH is not set up")
def test_settings():
    found = parsed("--hosts", "mpich", "--sizes", "8,64K", "--layouts", "4x2", "--root-layouts", "3+1+3")
    assert found.sizes == (8, 65536) and found.layouts == (parse_layout("4x2"),)
    assert found.collectives_of(parse_layout("4x2")) == settings.COLLECTIVES
    assert found.collectives_of(parse_layout("3+1+3")) == ("bcast", "reduce")
    for words, why in ((["--layouts", "4by2"], "no layout"), (["--collectives", "bcats"], "no collective")):
        with pytest.raises(Problem, match=why):
            parsed("--hosts", "mpich", *words)


@pytest.mark.skipif(not hosts.HOSTS["mpich"].library_folder.exists(), reason="MPICH is not set up")
def test_algorithms_in_turns():
    found = parsed("--hosts", "mpich", "--layouts", "4x2", "--root-layouts", "", "--shapes", "one,regular", "--networks", "ring,notified-ring:all")
    here = [job for job in jobs.plan(found)[parse_layout("4x2")] if not job.served]
    assert [(job.shape, job.network) for job in here] == [
        (shape, network) for shape in ("one", "regular") for network in ("ring", "notified-ring:all")
    ]
    assert here[0].environment == {"ESPALIER_NETWORK_ALLGATHERV": "ring"}
    assert here[1].environment == {"ESPALIER_NETWORK_ALLGATHERV": "notified-ring", "ESPALIER_LEADERS": "all"}
    assert "allgatherv one, notified-ring:all" in here[1].title
    found = parsed("--hosts", "mpich", "--layouts", "4x2", "--root-layouts", "", "--collectives", "allreduce", "--networks", "ring,tree:2")
    assert [job.environment for job in jobs.plan(found)[parse_layout("4x2")] if not job.served] == [
        {"ESPALIER_NETWORK_ALLREDUCE": "ring"}, {"ESPALIER_NETWORK_ALLREDUCE": "tree", "ESPALIER_LEADERS": "2"}]


@pytest.mark.skipif(not hosts.HOSTS["mpich"].library_folder.exists(), reason="MPICH is not set up")
def test_node_stages_in_turns():
    found = parsed("--hosts", "mpich", "--layouts", "4x2", "--root-layouts", "", "--collectives", "scan", "--node-stage", "messages,shared")
    assert [job.environment for job in jobs.plan(found)[parse_layout("4x2")] if not job.served] == [
        {"ESPALIER_NODE_STAGE": "p2p"}, {"ESPALIER_NODE_STAGE": "shared"}]
    with pytest.raises(Problem, match="no node stage"):
        parsed("--hosts", "mpich", "--node-stage", "p2p")


def test_what_shared_memory_is_worth(capsys):
    """Within each turn, and beside the host, whose own time was twice as long while one of the two was measured."""
    from rich.console import Console

    found = []
    usual = [("messages", 20, 12), ("shared", 10, 5)]
    turns = [*usual, *usual, ("messages", 10, 90), ("shared", 10, 1)]
    for stage, host_us, espalier_us in [*turns, ("", 10, 1)]:
        found.append({**a_job(a_round("scan", 0, host_us, espalier_us), a_round("barrier", 0, 1, 1)), "node_stage": stage})
    points = summary.points({"jobs": found})
    scan, barrier = summary.stage_pairs(points)
    assert (scan.point.collective, scan.by_medians) == ("scan", pytest.approx(12 / 5))
    assert scan.beside_the_host == pytest.approx((10 / 5) / (20 / 12)) and barrier.by_medians == 1
    table.print_stages([scan], Console(width=150, force_terminal=False))
    line = next(line for line in capsys.readouterr().out.splitlines() if "scan" in line)
    assert "12.0 (12.0–90.0)" in line and "5.0 (1.0–5.0)" in line and "2.40" in line and "1.20" in line


def a_document():
    rounds = [a_round("bcast", root, 10 + root, 5 + root, size) for size in (8, 65536) for root in range(4)]
    document = {"schema": file.SCHEMA, "settings": {"delay_us": 500, "rate_mbit": 1000}, "jobs": [a_job(*rounds)]}
    return document, summary.points(document)


def test_plots(tmp_path):
    written = plot.draw(*a_document(), tmp_path)
    assert [path.name for path in written] == ["roots-bcast.png", "roots-bcast.svg"]
    assert written[0].read_bytes().startswith(b"\x89PNG") and "<svg" in written[1].read_text()


def test_plot_of_growth(tmp_path):
    """Drawn for even data on three numbers of nodes or more; unequal nodes and other data stay out."""
    layouts = {"2x1": 2, "4x1": 4, "2x2": 4, "4x2": 8, "8x1": 8, "3+1+3": 7}
    jobs = [{**a_job(a_round("allgatherv", 0, 10 + ranks, 5, 65536 // ranks)), "layout": layout, "shape": shape}
            for layout, ranks in layouts.items() for shape in ("regular", "one")]
    document = {"schema": file.SCHEMA, "settings": {"delay_us": 500, "rate_mbit": 1000}, "jobs": jobs}
    points = summary.points(document)
    assert {point.layout for point in growth_plot.growing(points)} == set(layouts) - {"3+1+3"}
    assert growth_plot.growing([point for point in points if not point.layout.startswith("8")]) == []
    names = [path.name for path in plot.draw(document, points, tmp_path)]
    assert "allgatherv-growth.png" in names and "distributions.svg" in names


def test_table(capsys):
    from rich.console import Console

    table.print_points(a_document()[1], Console(width=150, force_terminal=False))
    line = next(line for line in capsys.readouterr().out.splitlines() if "64KiB" in line)
    assert "4 roots" in line and "11.5 (10.0–13.0)" in line and "6.5 (5.0–8.0)" in line and "espalier" in line


def test_a_file_of_another_kind_is_refused(tmp_path):
    other = tmp_path / "other.json"
    other.write_text(json.dumps({"schema": "espalier-bench/1"}))
    with pytest.raises(Problem, match="no result of bench-cluster"):
        file.load(other)


def test_a_run_on_emulated_nodes(tmp_path):
    """Every root is measured, results are right, ranks lie as asked: else the command fails."""
    why = obstacle()
    if why:
        pytest.skip(why)
    target = tmp_path / "result.json"
    words = [
        "--hosts",
        "openmpi",
        "--layouts",
        "2x2",
        "--root-layouts",
        "",
        "--collectives",
        "barrier,reduce,scan",
        "--sizes",
        "8,4K",
    ]
    words += ["--delay", "0", "--rate", "0", "--rounds", "1", "--json", str(target)]
    done = subprocess.run(
        [sys.executable, str(ROOT / "bench" / "cluster"), *words], capture_output=True, text=True, timeout=200
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = file.load(target)
    measured = {(p["collective"], p["bytes"]): p for p in found["points"]}
    assert set(measured) == {("barrier", 0), ("reduce", 8), ("reduce", 4096), ("scan", 8), ("scan", 4096)}
    assert measured["reduce", 8]["roots"] == 4 and measured["reduce", 8]["espalier_us"]["most"] > 0
    assert {m["where"] for m in found["messages"]} == {"within a node", "between nodes"}
    assert all(job["run"]["nodes"] == [0, 0, 1, 1] for job in found["jobs"])
    assert all(p["served"] in ("host", "espalier", "both") for p in found["points"])
