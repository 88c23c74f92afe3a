"""Runs every test of the tree and ends with one line of totals. `tools/test.py NAME...` runs only those parts."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from dataclasses import dataclass, field
from pathlib import Path

import second_try

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build"
RESULTS = BUILD / "log" / "tests"
NO_TESTS_CHOSEN = 5  # pytest's exit code
# One for each core. Where tests mostly wait, for commands or for ranks that start, one more: on 2 cores the command's take 75 s
# instead of 94, those of MPI 181 instead of 234, the unit tests 86 instead of 101.
AT_ONCE = min(os.cpu_count() or 1, 4)


@dataclass
class Totals:
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    names: list[str] = field(default_factory=list)
    unsteady: list[str] = field(default_factory=list)  # failed beside others, passed alone

    def fail(self, name: str) -> None:
        self.failed += 1
        self.names.append(name)

    def add(self, other: Totals) -> None:
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        self.names += other.names
        self.unsteady += other.unsteady


def junit(path: Path) -> Totals:
    """Counts the cases of a JUnit file, as ctest, GoogleTest and pytest write it."""
    totals = Totals()
    for case in ET.parse(path).iter("testcase"):
        name = f"{case.get('classname', '')}.{case.get('name', '')}".strip(".")
        if case.find("failure") is not None or case.find("error") is not None or case.get("status") == "fail":
            totals.fail(name)
        elif case.find("skipped") is not None or case.get("status") in ("notrun", "disabled"):
            totals.skipped += 1
        else:
            totals.passed += 1
    return totals


def run(command: list[str], log: Path, **environment: str) -> int:
    """Shows the output as it comes and keeps it."""
    with open(log, "w") as file:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
        assert process.stdout is not None
        for line in process.stdout:
            sys.stdout.write(line)
            sys.stdout.flush()
            file.write(line)
        return process.wait()


def checked(name: str, code: int, totals: Totals) -> Totals:
    """A program that fails without saying which test failed counts as one failure."""
    if code != 0 and totals.failed == 0:
        totals.fail(f"{name} (exit code {code})")
    return totals


def processor_seconds() -> float:
    """Of all processes that have ended below this one. On a busy machine it tells more than the time that passed."""
    used = os.times()
    return used.children_user + used.children_system


def unit_tests() -> Totals:
    """ctest runs one GoogleTest program per layer; its cases are counted, not the programs."""
    cases = RESULTS / "cases"
    cases.mkdir(exist_ok=True)
    report = RESULTS / "ctest.xml"
    command = [
        "ctest",
        "--test-dir",
        str(BUILD),
        "--output-on-failure",
        "--no-tests=error",
        "--parallel",
        str(AT_ONCE + 1),
        "--output-junit",
        str(report),
    ]
    code = run(command, RESULTS / "ctest.txt", GTEST_OUTPUT=f"xml:{cases}/", GTEST_BRIEF="1")
    totals = Totals()
    if report.exists():
        for program in ET.parse(report).iter("testcase"):
            totals.add(unit_test_program(program, cases))
    return checked("ctest", code, totals)


def unit_test_program(program: ET.Element, cases: Path) -> Totals:
    name = program.get("name", "")
    one = Totals()
    written = cases / f"test_{name}.xml"
    if written.exists():
        one = junit(written)
    if program.get("status") == "fail":
        return checked(name, 1, one)
    if not written.exists():
        one.passed += 1
    return one


def pytest(name: str, *paths: str, at_once: int = AT_ONCE) -> Totals:
    """Several tests at a time, then those marked `alone` one by one, then some that failed once more (second_try.py)."""
    totals = Totals()
    for run_name, marks, options in (
        (name, "not alone", [f"--numprocesses={at_once}", "--dist=worksteal"]),
        (f"{name}-alone", "alone", []),
    ):
        first = pytest_run(run_name, marks, *paths, *options)
        totals.add(again(run_name, first, second_try.candidates(RESULTS / f"{run_name}.xml", ROOT)))
    return totals


def again(name: str, first: Totals, failed: list[str]) -> Totals:
    if not failed or first.failed != len(failed):
        return first
    print(f"failed, and run again without others: {', '.join(failed)}", flush=True)
    second = pytest_run(f"{name}-again", "", *failed)
    if second.failed or second.passed != len(failed):
        return first
    return Totals(first.passed + second.passed, 0, first.skipped, [], failed)


def pytest_run(name: str, marks: str, *words: str) -> Totals:
    report = RESULTS / f"{name}.xml"
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        "-ra",
        f"--junitxml={report}",
        *(["-m", marks] if marks else []),
        *words,
    ]
    if not sys.stdout.isatty():
        command.append("-v")
    code = run(command, RESULTS / f"{name}.txt", PYTHONUNBUFFERED="1")
    if code == NO_TESTS_CHOSEN and marks == "alone":
        code = 0
    return checked(name, code, junit(report) if report.exists() else Totals())


def mpi_tests() -> Totals:
    run([sys.executable, "tests/mpi/hosts.py"], RESULTS / "mpi-programs.txt")  # if it fails the tests say so
    return pytest("mpi", "tests/mpi", at_once=AT_ONCE + 1)


PARTS = {
    "unit": unit_tests,
    "layers": lambda: pytest("layers", "tests/layers_test.py", "tests/static_lifetime_test.py", "tests/docs_test.py",
                             "tests/papers_test.py", "tests/python_package_test.py", "tests/split_debug_test.py",
                             "tests/site_test.py", "tests/second_try_test.py", "tests/guarantees_test.py",
                             "tests/nightly_test.py"),
    "command": lambda: pytest("command", "tests/command", at_once=AT_ONCE + 1),
    "bench": lambda: pytest("bench", "tests/bench"),
    "install": lambda: pytest("install", "tests/install"),
    "mpi": mpi_tests,
    "cluster": lambda: pytest("cluster", "tests/cluster", at_once=AT_ONCE + 1),
}


def main() -> int:
    wanted = sys.argv[1:] or list(PARTS)
    unknown = [name for name in wanted if name not in PARTS]
    if unknown:
        print(f"no such part: {', '.join(unknown)}; the parts are {', '.join(PARTS)}", file=sys.stderr)
        return 2
    RESULTS.mkdir(parents=True, exist_ok=True)
    for old in RESULTS.rglob("*.xml"):
        old.unlink()
    totals = Totals()
    for number, name in enumerate(wanted, 1):
        start, before = time.monotonic(), processor_seconds()
        print(f"[{number}/{len(wanted)}] {name} tests", flush=True)
        part = PARTS[name]()
        totals.add(part)
        print(
            f"[{number}/{len(wanted)}] {name} tests: {part.passed} passed, {part.failed} failed in "
            f"{time.monotonic() - start:.0f}s ({processor_seconds() - before:.0f}s of processors)",
            flush=True,
        )
    for name in totals.names:
        print(f"failed: {name}")
    for name in totals.unsteady:
        print(f"unsteady: {name} failed beside other tests and passed alone")
    if totals.skipped:
        print(f"skipped: {totals.skipped}, each with its reason above")
    print(f"{totals.passed} passed, {totals.failed} failed")
    return 1 if totals.failed or not totals.passed else 0


if __name__ == "__main__":
    sys.exit(main())
