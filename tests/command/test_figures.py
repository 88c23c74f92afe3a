"""The pages whose tables are made from commands (tools/figures) say what these commands print."""

import re
import sys
from pathlib import Path

import pytest
from espalier.simulate import run as simulate

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
from figures import kept, makers, node_stages, outputs, page, run, text  # noqa: E402

SIMULATED = pytest.mark.skipif(not simulate.program().exists(), reason="built without Boost.Context: no espalier-simulate")
BLOCKS = makers.all_blocks()


@SIMULATED
@pytest.mark.parametrize("block", [pytest.param(block, id=block.name, marks=[pytest.mark.full] * block.slow) for block in BLOCKS])
def test_the_page_says_what_its_commands_print(block, tmp_path):
    made = makers.make(block, run.run(block.commands, tmp_path))
    wrong = [line for old, new in zip(block.tables, made, strict=True) for line in page.differences(old, new)]
    wrong += [line for file in sorted(tmp_path.glob(kept.NAMES)) for line in kept.differences(file)]
    assert not wrong, "\n".join([*wrong, f"to renew them: .venv/command/bin/python tools/figures {block.name}"])


def test_every_block_has_a_maker_and_every_maker_a_block():
    assert sorted(block.name for block in BLOCKS) == sorted(makers.MAKERS)


@pytest.mark.parametrize("path", makers.PAGES, ids=lambda path: path.name)
def test_every_command_of_a_page_is_in_a_block(path):
    """No command stands beside the blocks, where nothing would hold its figures to it, but for examples without figures."""
    outside = page.BLOCK.sub("", path.read_text(encoding="utf-8"))
    commands = re.findall(r"^    espalier (?:simulate|explain).*--(?:machine|published).*$", outside, re.M)
    assert commands == []


def test_every_picture_of_the_page_is_made_by_a_command_beside_it():
    for block in makers.all_blocks():
        pictures = re.findall(r"\]\((simulated-[\w-]+)\.png\)", block.body)
        assert pictures == re.findall(r"--out (simulated-[\w-]+)", block.commands), block.name


OUTPUT = """\
allreduce, us until the last rank is through, simulated: Frontera: two Xeons
bytes  nodes  ranks/node  host  gatherv, bcast  first/last
  16B      4           1  3.18            1.86        1.71
 2KiB      4           1  4.40            2.31        1.90
barrier, us until the last rank is through, simulated: Frontera: two Xeons
bytes  nodes  ranks/node  host
    -      4           2  2.10
"""


def test_times_are_found_in_what_simulate_prints():
    times = outputs.Times(OUTPUT)
    assert times.us(collective="allreduce", bytes="2KiB", variant="gatherv, bcast") == 2.31
    assert times.us(collective="barrier", machine="Frontera") == 2.10
    assert times.ratio("host", "gatherv, bcast", bytes="16B") == pytest.approx(3.18 / 1.86)
    assert times.of(variant="host") == [3.18, 4.40, 2.10]
    with pytest.raises(ValueError, match="no time of"):
        times.us(variant="first/last")
    with pytest.raises(ValueError, match="3 times of"):
        times.us(variant="host")


STAGES = """\
│ MPICH │ 4x2 │ scan │ 8B │ 1 │ 2 │ 3 │ 4 │
node stages: µs
┏━━━━━━━┳━━━━━━━━┓
│ MPICH │ 4x2    │ scan    │ 256KiB │ 1,115,284 (3,842–24,201) │ 4,160 (3,710–9,989) │ 4.12 │ 2.38 │
└───────┴────────┘
│ MPICH │ 4x2    │ within a node │
"""


def test_node_stages_are_found_in_what_the_cluster_bench_prints():
    ((_, _, row),) = node_stages.stages(STAGES)
    assert row == "| scan | 256 KiB | 1,115,284 → 4,160 | 4.12 | 2.38 | 1.138 |"


def test_numbers_as_the_pages_have_them():
    assert [text.us(value) for value in (1.864, 39.44, 126.12, 4702)] == ["1.86", "39.4", "126", "4,702"]
    assert [text.span(values) for values in ([2.5, 1.2], [3.31, 2.97, 7], [1.0, 1.0])] == ["1.20 to 2.50", "2.97 to 7.0", "1.00"]
    assert text.table(["", "a"], [["b", ""]]) == ["| | a |", "|---|---|", "| b | |"]


@pytest.mark.parametrize("old, new, same", [
    ("| a 8 | 1.86 |", "| a 8 | 1.87 |", True), ("| a 8 | 1.86 |", "| a 8 | 1.88 |", False), ("| a | 4,702 |", "| a | 4,703 |", True),
    ("| a | 4,702 |", "| a | 4,712 |", False), ("| a | **1.0** | 1.1 |", "| a | 1.1 | **1.0** |", True), ("| a | 1.0 |", "| b | 1.0 |", False),
    ("| a | 1.0 |", "| a | 1.0 | 2 |", False), ("| 9.9 to 10 |", "| 9.9 to 12 |", False)])
def test_a_figure_may_differ_by_one_in_its_last_digit(old, new, same):
    assert (page.differences([old], [new]) == []) == same


def test_missing_lines_are_differences():
    assert page.differences(["| a |", "| b |"], ["| a |"])


def test_only_the_tables_of_a_block_are_written(tmp_path):
    path = tmp_path / "page.md"
    path.write_text("before\n<!-- figures: one slow -->\n    command \\\n      --more\n\n![p](p.png)\n\n| old |\n|---|\n<!-- end: figures -->\n| other |\n")
    (block,) = page.blocks(path)
    assert block.slow and block.commands == "command \\\n  --more\n" and block.tables == [["| old |", "|---|"]]
    assert page.write(block, [["| new |", "|---|", "| 1 |"]])
    assert path.read_text() == ("before\n<!-- figures: one slow -->\n    command \\\n      --more\n\n![p](p.png)\n\n"
                                "| new |\n|---|\n| 1 |\n<!-- end: figures -->\n| other |\n")
    assert not page.write(page.blocks(path)[0], [["| new |", "|---|", "| 1 |"]])
    with pytest.raises(ValueError, match="1 tables, 2 were made"):
        page.write(block, [["|"], ["|"]])


def test_a_command_that_fails_is_told(tmp_path):
    with pytest.raises(ValueError, match="ended with 3"):
        run.run("echo before; exit 3", tmp_path)
