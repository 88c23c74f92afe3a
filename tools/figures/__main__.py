"""Runs the commands that docs/results/papers.md and docs/cost-model.md name, and writes what they print into the pages.

    .venv/command/bin/python tools/figures                  # all tables, and the pictures and files that the commands make
    .venv/command/bin/python tools/figures --check          # changes nothing; says what the pages have wrong, and ends with 1
    .venv/command/bin/python tools/figures osmp-fig-6 ...   # only these blocks

To be run after every change of the simulator, of its models, or of an algorithm. What the prose says about the figures is not
changed: read it again.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from figures import kept, makers, page  # noqa: E402
from figures.run import run  # noqa: E402


def check(block: page.Block, made: list[list[str]], folder: Path) -> bool:
    wrong = [line for old, new in zip(block.tables, made) for line in page.differences(old, new)]
    wrong += [line for file in folder.glob(kept.NAMES) for line in kept.differences(file)]
    for line in wrong:
        print(line)
    return not wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true", help="change nothing; say what differs")
    parser.add_argument("names", nargs="*", metavar="BLOCK")
    options = parser.parse_args()
    found = makers.all_blocks()
    unknown = set(options.names) - {block.name for block in found}
    if unknown:
        raise SystemExit(f"no such block: {', '.join(sorted(unknown))}; there are {', '.join(block.name for block in found)}")
    fine = True
    for block in found:
        if options.names and block.name not in options.names:
            continue
        with tempfile.TemporaryDirectory() as name:
            made, folder = makers.make(block, run(block.commands, Path(name))), Path(name)
            if options.check:
                good = check(block, made, folder)
                print(f"{block.name}: {'agrees' if good else 'DIFFERS'}", flush=True)
                fine &= good
            else:
                changed = page.write(block, made) | kept.take(folder)
                print(f"{block.name}: {'written' if changed else 'as it was'}", flush=True)
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
