"""Holds docs/papers.md to the tree: the files, tests and settings that its tables name exist."""

import re
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "papers.md"
COLUMNS = ["mechanism", "code", "setting", "test", "evidence", "left out or different, and why"]
NOTHING = "–"
COLLECTIVES = ["barrier", "bcast", "reduce", "allreduce", "allgather", "allgatherv", "alltoall", "alltoallv", "gather", "gatherv",
               "scatter", "scatterv", "reduce_scatter", "reduce_scatter_block", "scan", "exscan"]


def rows_of(text):
    """(paper, cells by column) of every table; a cell is markdown."""
    paper, row, found = None, None, []
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    for token, inner in zip(tokens, tokens[1:]):
        if token.type == "heading_open":
            paper = inner.content
        elif token.type == "tr_open":
            row = []
        elif token.type in ("td_open", "th_open"):
            row.append(inner.content)
        if token.type == "td_open" and len(row) == len(COLUMNS):
            found.append((paper, dict(zip(COLUMNS, row))))
    return found


ROWS = rows_of(PAGE.read_text(encoding="utf-8"))


def named(cell):
    return re.findall(r"`([^`]+)`", cell)


def name_of(row):
    return f"{row[0]} {row[1]['mechanism'].split(':')[0]}"


def cases_of(source):
    if source.suffix == ".py":
        return set(re.findall(r"^def (test_\w+)", source.read_text(encoding="utf-8"), re.M))
    cases = re.findall(r"TEST(?:_F|_P)?\((\w+),\s*(\w+)\)", source.read_text(encoding="utf-8"))
    return {f"{suite}.{case}" for suite, case in cases}


def complaint_about_test(text):
    path, _, case = text.partition("::")
    source = ROOT / path
    if not path.startswith("tests/") or not source.is_file():
        return f"{text}: no such file of tests"
    return None if case in cases_of(source) else f"{text}: no such test there"


def keys():
    text = (ROOT / "src/base/config_keys.hpp").read_text(encoding="utf-8")
    per_collective = [f"{prefix}{name.upper()}" for prefix in ("ESPALIER_", "ESPALIER_NETWORK_") for name in COLLECTIVES]
    return {*re.findall(r'ConfigKey\{"(\w+)"', text), *per_collective}


def words_of_trees():
    text = "".join((ROOT / "src/tree" / name).read_text(encoding="utf-8") for name in ("spec.cpp", "shape.cpp"))
    return set(re.findall(r'"([a-z]+)"', text))


def algorithms():
    return set(re.findall(r'"([a-z-]+)"', (ROOT / "src/plan/algorithms.hpp").read_text(encoding="utf-8")))


def complaint_about_setting(text):
    """`KEY` or `KEY=VALUE` of the environment, or a word of a tree."""
    key, _, value = text.partition("=")
    if key.startswith("ESPALIER"):
        if key not in keys():
            return f"{text}: no such key"
        is_algorithm = key.removeprefix("ESPALIER_NETWORK_").removeprefix("ESPALIER_").lower() in COLLECTIVES
        return f"{text}: no such algorithm" if is_algorithm and value and value not in algorithms() else None
    return None if re.split("[=:]", text)[0] in words_of_trees() else f"{text}: neither a key nor a word of a tree"


def test_every_paper_has_a_table_of_whole_rows():
    assert [paper for paper in dict.fromkeys(paper for paper, _ in ROWS)] == ["RG", "OSMP", "HIER", "SHARP", "NOTIFY"]
    assert len(ROWS) == len(re.findall(r"^\| [^|]*:? ?[^|]*\|", PAGE.read_text(encoding="utf-8"), re.M)) - 5  # the heads
    assert [name_of(row) for row in ROWS if not all(row[1].values())] == []


def test_what_is_not_there_says_why():
    """A mechanism without code has no test and no evidence, and a reason."""
    for row in ROWS:
        if row[1]["code"] == NOTHING:
            assert row[1]["test"] == row[1]["evidence"] == NOTHING != row[1][COLUMNS[-1]], name_of(row)
        else:
            assert named(row[1]["code"]) and named(row[1]["test"]), name_of(row)


@pytest.mark.parametrize("row", ROWS, ids=name_of)
def test_what_is_named_exists(row):
    cells = row[1]
    wrong = [f"{path}: no such file" for path in named(cells["code"]) if not (ROOT / path).is_file()]
    wrong += [complaint_about_test(text) for text in named(cells["test"])]
    wrong += [complaint_about_setting(text) for text in named(cells["setting"])]
    assert [text for text in wrong if text] == []


@pytest.mark.parametrize("text", ["src/tree/shape.cpp::Shape.FlatAndChain", "tests/tree/nothing.cpp::A.B",
                                  "tests/tree/shape_test.cpp::Shape.Nothing", "tests/mpi/test_nodes.py::test_nothing"])
def test_a_test_that_is_not_there_is_caught(text):
    assert complaint_about_test(text)


@pytest.mark.parametrize("text", ["ESPALIER_NOTHING", "ESPALIER_NETWORK_BCAST=nothing", "leader=first"])
def test_a_setting_that_is_not_there_is_caught(text):
    assert complaint_about_setting(text)
