"""Holds the documentation: short pages, lines of prose that fit, and no link or path to what does not exist."""

import re
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

ROOT = Path(__file__).resolve().parents[1]
MOST_COLUMNS = 100
MOST_LINES = 220
MOST_LINES_OF_README = 120

PAGES = sorted(ROOT.glob("docs/*.md"))
WRAPPED = [*PAGES, *(ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "bench/README.md"))]
LINKED = [*WRAPPED, *(ROOT / name for name in ("bench/cluster/README.md", "examples/README.md", "docs/results/papers.md"))]

# What may be wider than prose: it cannot be broken, or not without loss.
BLOCKS = {"fence", "code_block", "html_block", "table_open"}
PATH = re.compile(r"(?:src|docs|packaging|tests|python|bench|include|tools|examples|cmake)/[\w./*-]*")


def tokens(text):
    return MarkdownIt("commonmark").enable("table").parse(text)


def inline(text):
    for token in tokens(text):
        yield from token.children or []


def wide_lines(text):
    """Lines of prose that do not fit, each with its number."""
    blocks = {
        number
        for token in tokens(text)
        if token.type in BLOCKS
        for number in range(*token.map)
    }
    lines = enumerate(text.splitlines())
    return [f"{number + 1}: {line}" for number, line in lines if number not in blocks and len(line) > MOST_COLUMNS]


def targets(text):
    """Where links and pictures lead."""
    for token in inline(text):
        target = token.attrGet("href") if token.type == "link_open" else token.attrGet("src") if token.type == "image" else None
        if target and not re.match(r"[a-z]+:", target):
            yield target


def anchors(text):
    """Those of the headings, as GitHub makes them."""
    found = {}
    nodes = tokens(text)
    for opening, heading in zip(nodes, nodes[1:]):
        if opening.type != "heading_open":
            continue
        words = "".join(child.content for child in heading.children if child.type in ("text", "code_inline"))
        anchor = re.sub(r"[^\w\- ]", "", words.strip().lower()).replace(" ", "-")
        count = found[anchor] = found.get(anchor, -1) + 1
        if count:
            found[f"{anchor}-{count}"] = 0
    return set(found)


def dead_links(page, text):
    found = []
    for target in targets(text):
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        if path and not file.exists():
            found.append(f"{target}: no such file")
        elif anchor and file.suffix == ".md" and anchor not in anchors(text if file == page else file.read_text(encoding="utf-8")):
            found.append(f"{target}: no such heading")
    return found


def dead_paths(text):
    """Paths of this tree that stand in code font and name nothing."""
    named = {word for token in inline(text) if token.type == "code_inline" for word in token.content.split() if PATH.fullmatch(word)}
    return sorted(path for path in named if not any(ROOT.glob(path.rstrip("/"))))


def name(page):
    return page.relative_to(ROOT).as_posix()


def test_readme_is_short():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= MOST_LINES_OF_README


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_pages_are_short(page):
    assert len(page.read_text(encoding="utf-8").splitlines()) <= MOST_LINES


@pytest.mark.parametrize("page", WRAPPED, ids=name)
def test_prose_fits(page):
    assert wide_lines(page.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("page", LINKED, ids=name)
def test_links_lead_somewhere(page):
    assert dead_links(page, page.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("page", WRAPPED, ids=name)
def test_paths_name_something(page):
    assert dead_paths(page.read_text(encoding="utf-8")) == []


def test_readme_leads_to_every_page():
    linked = {(ROOT / target.partition("#")[0]).resolve() for target in targets((ROOT / "README.md").read_text(encoding="utf-8"))}
    read = set()
    while linked - read:  # by way of other pages, such as docs/performance.md
        page = min(linked - read)
        read.add(page)
        if page.suffix == ".md" and page.exists():
            linked |= {(page.parent / target.partition("#")[0]).resolve() for target in targets(page.read_text(encoding="utf-8"))}
    assert [name(page) for page in PAGES if page not in read] == []


WIDE = "x" * (MOST_COLUMNS + 1)


@pytest.mark.parametrize("text", [WIDE, f"- item\n  {WIDE}", f"10. item\n    {WIDE}", f"# {WIDE}"])
def test_wide_prose_is_caught(text):
    assert len(wide_lines(text)) == 1


@pytest.mark.parametrize("text", [f"    {WIDE}", f"```\n{WIDE}\n```", f"| a |\n|---|\n| {WIDE} |", f"text\n\n    {WIDE}"])
def test_wide_code_and_tables_are_not(text):
    assert wide_lines(text) == []


@pytest.mark.parametrize("target", ["nothing.md", "design.md#nothing", "#nothing", "../src/nothing"])
def test_a_dead_link_is_caught(target):
    assert len(dead_links(ROOT / "docs" / "made_up.md", f"# A page\n\n[text]({target})")) == 1


@pytest.mark.parametrize("target", ["design.md", "design.md#layers", "#a-page", "#a-page-1", "../src", "https://example.org/nothing"])
def test_a_live_link_is_not(target):
    assert dead_links(ROOT / "docs" / "made_up.md", f"# A page\n\n[text]({target})\n\n# A `page`!") == []


def test_a_dead_path_is_caught():
    text = "`src/nothing.cpp`, `python bench/nothing`, `src/runtime/*.zig`; `src/base/`, `src/plan/*.json`, `a/src/b` and src/nothing are none"
    assert dead_paths(text) == ["bench/nothing", "src/nothing.cpp", "src/runtime/*.zig"]


FUNCTION = re.compile(r"`(?:\w+::)*(\w+)\(\)`")


def functions_and_files(text):
    """Of each step of the call path: the functions that it names, and the files of src/."""
    section = text.split("## A call, from the top")[1].split("\n## ")[0]
    for step in re.split(r"\n(?=\d+\. )|\n\n", section):
        files = [path for path in PATH.findall(step) if path.startswith("src/")]
        if files:
            yield FUNCTION.findall(step), files


def test_the_call_path_names_functions_that_exist():
    steps = list(functions_and_files((ROOT / "docs/design.md").read_text()))
    assert len(steps) >= 7 and sum(len(functions) for functions, _ in steps) >= 8
    for functions, files in steps:
        code = "\n".join((ROOT / file).read_text() for file in files)
        assert [name for name in functions if not re.search(rf"\b{name}\b", code)] == [], files
