"""topo, explain, stats and doctor: what they ask the library, and what they make of its answers."""

import json
import re
import xml.etree.ElementTree as ET

import pytest
from conftest import RECORDED

from espalier.topo import machine, svg, text

SVG = "{http://www.w3.org/2000/svg}"


def asked(describer):
    return json.loads((describer / "request.json").read_text())


def recorded(name):
    return json.loads((RECORDED / f"{name}.json").read_text())


def replace(describer, name, **changes):
    (describer / f"{name}.json").write_text(json.dumps({**recorded(name), **changes}))


def test_topo_prints_machine_ranks_and_trees(espalier, describer):
    result = espalier(
        "topo", "-n", 8, "--synthetic", "package:2 numa:2 core:2 pu:1", "--tree", "numa=flat", lib=describer
    )
    assert result.returncode == 0, result.stderr
    request = asked(describer)
    assert (request["ranks"], request["synthetic"], request["tree"], request["root"]) == (
        8,
        "package:2 numa:2 core:2 pu:1",
        "numa=flat",
        0,
    )
    for line in (
        "8 cores, no quota",
        "package cpus 4-7",
        "2 × core cpus 6 … 7",
        "numa ranks 6-7",
        "rank 0 root",
    ):
        assert line in result.stdout
    gather = result.stdout.split("gather  ")[1].split("release  ")[0]
    assert re.findall(r"rank (\d)", gather) == ["0", "1", "2", "3", "4", "5", "6", "7"]
    release = result.stdout.split("release  ")[1]
    assert re.findall(r"rank (\d)", release) == ["0", "4", "5", "6", "7", "1", "2", "3"]


def test_topo_takes_one_rank_per_core(espalier, describer):
    espalier("topo", lib=describer)
    assert asked(describer)["ranks"] == 8


def test_topo_writes_a_picture(espalier, describer, tmp_path):
    result = espalier("topo", "-n", 8, "--svg", tmp_path / "t.svg", lib=describer)
    assert result.returncode == 0, result.stderr
    picture = ET.parse(tmp_path / "t.svg").getroot()
    assert len(picture.findall(f"{SVG}g")) == 2


def boxes_and_ranks(panel):
    boxes = [
        tuple(float(box.get(side)) for side in ("x", "y", "width", "height"))
        for box in panel.findall(f"{SVG}rect")
    ]
    labels = [label.text for label in panel.findall(f"{SVG}text") if label.get("class") == "label"]
    numbers = [label for label in panel.findall(f"{SVG}text") if "number" in label.get("class")]
    circles = [(float(c.get("cx")), float(c.get("cy"))) for c in panel.findall(f"{SVG}circle")]
    return dict(zip(labels, boxes)), dict(zip((int(number.text) for number in numbers), circles))


def inside(box, point):
    x, y, width, height = box
    return x < point[0] < x + width and y < point[1] < y + height


def test_picture_shows_each_rank_in_its_boxes_and_no_other():
    picture = ET.fromstring(svg.picture(recorded("topology")))
    for panel in picture.findall(f"{SVG}g"):
        boxes, ranks = boxes_and_ranks(panel)
        assert len(boxes) == 7 and sorted(ranks) == list(range(8))
        for label, box in boxes.items():
            low, high = (int(number) for number in label.split(" · ")[1].split("-"))
            for rank, point in ranks.items():
                assert inside(box, point) == (low <= rank <= high), (label, rank)
        assert len(panel.findall(f"{SVG}path")) == 7


def test_picture_of_equal_trees_has_one_panel():
    answer = recorded("topology")
    answer["release"] = answer["gather"]
    assert len(ET.fromstring(svg.picture(answer)).findall(f"{SVG}g")) == 1


def test_picture_of_one_rank_and_of_names_with_markup():
    lonely = {"root": 0, "parent": [-1], "children": [[]], "text": "<flat> & more"}
    answer = {"groups": {"level": "machine", "ranks": [0], "groups": []}, "gather": lonely, "release": lonely}
    picture = ET.fromstring(svg.picture({**answer, "source": 'a "<b>" & c'}))
    assert picture.find(f"{SVG}title").text == 'a "<b>" & c · 1 ranks'


def test_ranges():
    assert machine.ranges([5, 0, 1, 2]) == "0-2,5"
    assert machine.ranges([]) == ""
    assert machine.ranges("0-3") == "0-3"


def test_explain_asks_for_the_plan_and_names_the_rule(espalier, describer):
    result = espalier(
        "explain", "allreduce", "64KiB", "-n", 8, "--cores", 2, "--type", "double", lib=describer
    )
    assert asked(describer) == {
        "what": "plan",
        "collective": "allreduce",
        "bytes": 65536,
        "ranks": 8,
        "ranks_per_core": 4.0,
        "commutative": True,
        "synthetic": None,
    }
    lines = dict(line.split(None, 1) for line in result.stdout.splitlines()[1:])
    assert (lines["algorithm"], lines["chunk"], lines["inline"]) == ("sliced", "32KiB", "no")
    assert lines["rule"] == "rules/default.json:12"
    assert lines["why"] == recorded("plan")["why"]


def test_explain_takes_the_usable_cores(espalier, describer):
    for words, ranks in (([], 8), (["--cores", 2], 2), (["-n", 3], 3)):
        espalier("explain", "allreduce", "64KiB", *words, lib=describer)
        assert asked(describer)["ranks"] == ranks
    topology = recorded("topology")
    replace(describer, "topology", budget={**topology["budget"], "quota": 2.5})
    espalier("explain", "allreduce", "64KiB", lib=describer)
    assert asked(describer)["ranks"] == 2


def test_explain_of_an_operator_that_does_not_commute(espalier, describer):
    espalier("explain", "reduce", "8", "-n", 2, "--op", "user", lib=describer)
    assert asked(describer)["commutative"] is False


def test_explain_of_a_plan_without_a_rule(espalier, describer):
    replace(describer, "plan", rule=None)
    result = espalier("explain", "barrier", "-n", 2, lib=describer)
    assert result.returncode == 0 and "rule" not in result.stdout.replace("the first rule", "")


def test_explain_config(espalier, describer):
    result = espalier("explain", "--config", lib=describer)
    row = next(line for line in result.stdout.splitlines() if line.startswith("ESPALIER_SLOTS"))
    assert row.split()[1:4] == ["4", "environment", "8"] and "slots of a rank [1 to 64]" in row


@pytest.mark.parametrize(
    "words, said",
    [
        (["explain", "gossip", "8", "-n", 2], "gossip"),
        (["explain", "bcast", "-n", 2], "how many bytes"),
        (["explain", "bcast", "many", "-n", 2], "many"),
        (["explain", "reduce", "7", "-n", 2, "--type", "int"], "7 bytes"),
        (["explain", "reduce", "8", "-n", 2, "--type", "quark"], "quark"),
        (["explain", "reduce", "8", "-n", 2, "--op", "mix"], "mix"),
        (["explain"], "which collective?"),
        (["explain", "64KiB"], "'64KiB' is a size; the collective comes before it"),
        (["topo", "-n", 4, "--root", 4], "--root 4"),
        (["topo", "-n", 4, "--svg", "/no/such/folder/t.svg"], "/no/such/folder"),
    ],
)
def test_bad_input_is_one_line(espalier, describer, words, said):
    result = espalier(*words, lib=describer)
    assert result.returncode == 2
    assert re.fullmatch(rf"espalier: .*{re.escape(said)}.*\n", result.stderr), result.stderr


def test_errors_of_the_library_are_passed_on(espalier, describer):
    (describer / "topology.json").write_text('{"error": "tree text: no shape \'kary:x\' at 5"}')
    result = espalier("topo", "-n", 4, lib=describer)
    assert (result.returncode, result.stderr) == (2, "espalier: tree text: no shape 'kary:x' at 5\n")
    (describer / "topology.json").write_text("{ no json")
    assert "not JSON" in espalier("topo", "-n", 4, lib=describer).stderr


def test_library_that_is_missing_or_wrong(espalier, tmp_path):
    assert "make build" in espalier("topo", lib=tmp_path).stderr
    (tmp_path / "libespalier.so").write_text("no library")
    assert "make build" in espalier("topo", lib=tmp_path).stderr


def test_stats_table(espalier):
    result = espalier("stats", RECORDED / "stats.json")
    assert result.returncode == 0, result.stderr
    assert "4 ranks, MPICH 5.0.2, mpich build" in result.stdout
    row = next(line for line in result.stdout.splitlines() if " allreduce " in line)
    assert re.split(r"\s{2,}", row.strip()) == [
        "4",
        "allreduce",
        "8B .. <16B",
        "1000",
        "3.1 ms",
        "3.1 us",
        "shared memory",
        "exchange",
        "spin 900 poke 3",
    ]
    assert "rule says host [large]" in result.stdout
    assert "slowest, mean: time in these calls" in result.stdout


def test_stats_of_a_run_whose_length_is_known(espalier, tmp_path):
    report = recorded("stats")
    report["run_seconds"] = 2.0
    report["rows"][1] |= {"mean_seconds": 0.5, "slowest_seconds": 0.75}
    (tmp_path / "s.json").write_text(json.dumps(report))
    text = espalier("stats", tmp_path / "s.json").stdout
    assert text.startswith("what ran (4 ranks, MPICH 5.0.2, mpich build, 2 s)\n")
    row = next(line for line in text.splitlines() if " reduce " in line)
    assert re.split(r"\s{2,}", row.strip())[3:8] == ["2", "750 ms", "500 ms", "250 ms", "25.0 %"]


def test_stats_as_a_page(espalier, tmp_path):
    report = recorded("stats")
    report["rows"][1]["fallback"] = "<b>large</b>"
    (tmp_path / "s.json").write_text(json.dumps(report))
    result = espalier("stats", tmp_path / "s.json", "--html", tmp_path / "new" / "s.html")
    assert (result.returncode, result.stdout) == (0, ""), result.stderr
    page = (tmp_path / "new" / "s.html").read_text()
    assert "Espalier served 1000 of 1002 collective calls; the host MPI served 2" in page
    assert "&lt;b&gt;large&lt;/b&gt;" in page and "<script" not in page and page.count("<tr>") == 4
    assert "allreduce 8B .. &lt;16B" in page and "width: 100.0%" in page
    refused = espalier("stats", tmp_path / "s.json", "--html", tmp_path)
    assert refused.returncode == 2 and "is a folder" in refused.stderr


def test_stats_from_stdin(espalier):
    assert "MPICH" in espalier("stats", "-", stdin=(RECORDED / "stats.json").read_text()).stdout


@pytest.mark.parametrize(
    "content, said",
    [
        ("", "not JSON"),
        ("{", "not JSON"),
        ("[]", "schema 1"),
        ('{"schema": 2}', "schema 1"),
        ('{"schema": 1}', "missing"),
        (
            '{"schema": 1, "ranks": 1, "host": "h", "build": "b", "communicators": [], "rows": [{"communicator": 0}]}',
            "missing",
        ),
    ],
)
def test_bad_statistics(espalier, tmp_path, content, said):
    (tmp_path / "s.json").write_text(content)
    result = espalier("stats", tmp_path / "s.json")
    assert result.returncode == 2
    assert said in result.stderr and "s.json" in result.stderr and result.stderr.count("\n") == 1


def test_missing_statistics(espalier):
    assert "/no/such cannot be read" in espalier("stats", "/no/such").stderr


def test_doctor(espalier, describer, libraries):
    for library in libraries.glob("*.so"):
        (describer / library.name).write_bytes(library.read_bytes())
    well = espalier("doctor", "--quick", lib=describer)
    assert well.returncode == 0, well.stdout
    for name in ("hwloc", "memfd", "/dev/shm", "futex", "single copy", "processors", "huge pages", "ptrace scope", "openmpi/bin/mpirun"):
        assert name in well.stdout
    (describer / "libespalier-abi.so").unlink()
    ill = espalier("doctor", "--quick", lib=describer)
    assert ill.returncode == 1 and "make build" in ill.stdout


def test_every_command_is_listed(espalier):
    from espalier.app import COMMANDS

    listed = espalier("--help").stdout
    assert all(re.search(rf"^  {name}\s+\S", listed, re.MULTILINE) for name in COMMANDS)
    assert espalier("--version").stdout.startswith("espalier 0.")
    assert espalier("dance").returncode == 2
