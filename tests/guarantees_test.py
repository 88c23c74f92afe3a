"""Holds docs/guarantees.md to the tree: each promise names tests, and each of them exists."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "guarantees.md"
MACRO = re.compile(r"^(?:TYPED_)?TEST(?:_F|_P)?\((\w+),\s*(\w+)\)", re.M)


def promises(text):
    """(promise, names of tests) of each row of the page's tables."""
    cells, found = [], []
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    for token, inner in zip(tokens, tokens[1:]):
        if token.type == "tr_open":
            cells = []
        elif token.type == "td_open":
            cells.append(inner)
            if len(cells) == 2:
                names = [child.content for child in inner.children or [] if child.type == "code_inline"]
                found.append((cells[0].content, names))
    return found


@cache
def of_googletest():
    texts = [file.read_text(encoding="utf-8") for file in (ROOT / "tests").rglob("*.cpp")]
    return {".".join(match) for text in texts for match in MACRO.findall(text)}


@cache
def of_pytest(path):
    if not path.is_file():
        return frozenset()
    body = ast.parse(path.read_text(encoding="utf-8")).body
    return frozenset(node.name for node in body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"))


def exists(name):
    path, colons, function = name.partition("::")
    return function in of_pytest(ROOT / path) if colons else name in of_googletest()


PROMISES = promises(PAGE.read_text(encoding="utf-8"))


def test_the_tables_are_read():
    assert len(PROMISES) >= 25 and all(text for text, _ in PROMISES)


@pytest.mark.parametrize("number", range(len(PROMISES)))
def test_each_promise_has_tests_that_exist(number):
    promise, names = PROMISES[number]
    assert names, f"no test is named for: {promise}"
    assert [name for name in names if not exists(name)] == [], promise


@pytest.mark.parametrize("name", ["tests/mpi/test_killed.py::test_nothing", "tests/nothing.py::test_kill_the_job",
                                  "Litmus.Nothing", "MessagePassing", "tests/mpi/test_killed.py::kill_all"])
def test_a_name_of_no_test_is_noticed(name):
    assert not exists(name)


def test_a_promise_without_a_test_is_noticed():
    assert promises("| promise | tests |\n|---|---|\n| all is well | – |\n") == [("all is well", [])]
