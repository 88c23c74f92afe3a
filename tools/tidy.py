"""clang-tidy over src/, simulation/ and sharp/, by the checks of .clang-tidy: `make tidy`.

    .venv/command/bin/python tools/tidy.py --clang-tidy .venv/format/bin/clang-tidy              # all of them
    .venv/command/bin/python tools/tidy.py --clang-tidy .venv/format/bin/clang-tidy --changed    # since the branch left main
    .venv/command/bin/python tools/tidy.py --clang-tidy .venv/format/bin/clang-tidy src/tree     # some files or folders

It takes the compile commands of the build without unity (`cmake --preset dev`), one of each file: the interposers share theirs.
A finding in a header shows up in many files and is printed once.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Callable

ROOT = Path(__file__).resolve().parents[1]
COMMANDS = ROOT / "build" / "dev" / "compile_commands.json"
SINGLE = ROOT / "build" / "tidy" / "compile_commands.json"
FOLDERS = ("src", "simulation", "sharp")
FINDING = re.compile(r"^/.*: (?:warning|error): ", re.M)

Entry = dict[str, Any]


def one_of_each(entries: list[Entry]) -> list[Entry]:
    """The first command of each file of those folders, without -Werror: the checks decide, not what clang warns of and g++ does not."""
    first: dict[str, Entry] = {}
    for entry in entries:
        if under([Path(entry["file"])], [ROOT / name for name in FOLDERS]):
            first.setdefault(entry["file"], entry | {"command": entry["command"].replace(" -Werror", "")})
    return list(first.values())


def configure() -> list[Path]:
    """Writes the compile commands; returns the files that they are of."""
    done = subprocess.run(["cmake", "-S", ROOT, "--preset", "dev"], capture_output=True, text=True, cwd=ROOT)
    if done.returncode:
        sys.exit(f"tidy: cmake --preset dev failed; `make build` sets up what it needs\n{done.stdout}{done.stderr}")
    entries = one_of_each(json.loads(COMMANDS.read_text(encoding="utf-8")))
    SINGLE.parent.mkdir(parents=True, exist_ok=True)
    SINGLE.write_text(json.dumps(entries, indent=1), encoding="utf-8")
    return [Path(entry["file"]) for entry in entries]


def git(*words: str) -> str:
    return subprocess.run(["git", *words], capture_output=True, text=True, cwd=ROOT).stdout


def changed() -> list[Path]:
    """C++ files of those folders that differ from where this branch left main, new ones included. For a header clang-tidy takes the
    command of a file with a similar name."""
    bases = (git("merge-base", "HEAD", main).strip() for main in ("origin/main", "main"))
    base = next(filter(None, bases), "HEAD")
    names = git("diff", "--name-only", "--diff-filter=d", base, "--", *FOLDERS)
    names += git("ls-files", "--others", "--exclude-standard", *FOLDERS)
    return sorted({ROOT / name for name in names.splitlines() if name.endswith((".cpp", ".hpp"))})


def under(files: list[Path], asked: list[Path]) -> list[Path]:
    """Those files that are asked for, or lie in a folder that is."""
    wanted = [path.resolve() for path in asked]
    return [file for file in files if any(file.is_relative_to(path) for path in wanted)]


def findings(output: str) -> list[str]:
    """Each with the lines that follow it."""
    starts = [match.start() for match in FINDING.finditer(output)]
    return [output[start:end].rstrip() for start, end in zip(starts, [*starts[1:], None])]


def place(finding: str) -> Path:
    return Path(finding.partition(":")[0])


def check(clang_tidy: str, file: Path) -> list[str]:
    done = subprocess.run([clang_tidy, "-p", SINGLE.parent, "--quiet", file], capture_output=True, text=True, cwd=ROOT)
    found = findings(done.stdout)
    if done.returncode and not found:
        return [f"{file}: clang-tidy ended with {done.returncode}: {done.stderr.strip()}"]
    return found


def run(files: list[Path], jobs: int, check_one: Callable[[Path], list[str]]) -> int:
    """Prints each finding once, as it comes; returns how many there are."""
    known: set[str] = set()
    with ThreadPoolExecutor(jobs) as pool:
        for number, found in enumerate(pool.map(check_one, files), 1):
            for finding in found:
                if finding.splitlines()[0] not in known:
                    print(finding.replace(f"{ROOT}/", ""), flush=True)
                known.add(finding.splitlines()[0])
            if sys.stderr.isatty():
                print(f"\rtidy: {number} of {len(files)} files", end="", file=sys.stderr, flush=True)
    return len(known)


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="*", type=Path, help=f"files or folders (default: {', '.join(FOLDERS)})")
    parser.add_argument("--clang-tidy", required=True, help="the program")
    parser.add_argument("--changed", action="store_true", help="only what differs from main")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count() or 1)
    return parser.parse_args()


def main() -> None:
    asked = options()
    if asked.changed and not changed():
        return print("tidy: no C++ file has changed")
    compiled = configure()
    files = changed() if asked.changed else under(compiled, asked.paths or [ROOT / name for name in FOLDERS])

    def findings_of(file: Path) -> list[str]:
        """What an unchanged header has is not asked of a change."""
        return [finding for finding in check(asked.clang_tidy, file) if not asked.changed or place(finding) in files]

    count = run(files, asked.jobs, findings_of)
    print(f"tidy: {len(files)} files, {count} findings")
    sys.exit(1 if count or not files else 0)


if __name__ == "__main__":
    main()
