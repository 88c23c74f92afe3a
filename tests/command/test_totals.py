"""The last line of `make test`: nothing that fails may be missing from it."""

import importlib.util
import sys
import xml.etree.ElementTree as ET

import pytest
from conftest import ROOT


@pytest.fixture(scope="module")
def runner():
    spec = importlib.util.spec_from_file_location("espalier_test_runner", ROOT / "tools" / "test.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


GOOGLE_TEST = """<testsuites><testsuite name="Tree">
  <testcase name="one" classname="Tree" status="run"/>
  <testcase name="two" classname="Tree" status="run">{inner}</testcase>
  <testcase name="DISABLED_three" classname="Tree" status="notrun"/>
</testsuite></testsuites>"""


def counts(totals):
    return (totals.passed, totals.failed, totals.skipped)


def test_cases_of_a_unit_test_program(runner, tmp_path):
    passed = ET.fromstring('<testcase name="tree" status="run"/>')
    failed = ET.fromstring('<testcase name="tree" status="fail"/>')
    assert counts(runner.unit_test_program(passed, tmp_path)) == (1, 0, 0)
    assert counts(runner.unit_test_program(failed, tmp_path)) == (0, 1, 0)
    written = tmp_path / "test_tree.xml"
    written.write_text(GOOGLE_TEST.format(inner=""))
    assert counts(runner.unit_test_program(passed, tmp_path)) == (2, 0, 1)
    # All cases passed and then the program crashed.
    assert counts(runner.unit_test_program(failed, tmp_path)) == (2, 1, 1)
    written.write_text(GOOGLE_TEST.format(inner='<failure message="no"/>'))
    assert counts(runner.unit_test_program(failed, tmp_path)) == (1, 1, 1)


TESTS = """
import pytest
def test_good(): pass
def test_bad(): assert False
@pytest.fixture
def broken(): raise RuntimeError
def test_error(broken): pass
def test_skipped(): pytest.skip("why")
@pytest.mark.alone
def test_alone(): pass
"""


def test_python_tests(runner, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(runner, "RESULTS", tmp_path)
    (tmp_path / "test_some.py").write_text(TESTS)
    assert counts(runner.pytest("some", str(tmp_path / "test_some.py"))) == (2, 2, 1)
    assert counts(runner.pytest("none", str(tmp_path / "missing.py"))) == (0, 2, 0)


def test_the_last_line_and_the_exit_code(runner, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(runner, "RESULTS", tmp_path)
    good, bad = runner.Totals(passed=3), runner.Totals(passed=1, failed=2, names=["a", "b"])
    monkeypatch.setattr(runner, "PARTS", {"good": lambda: good, "bad": lambda: bad, "none": runner.Totals})
    for words, last, code in (
        (["good"], "3 passed, 0 failed", 0),
        (["good", "bad"], "4 passed, 2 failed", 1),
        (["none"], "0 passed, 0 failed", 1),
    ):
        monkeypatch.setattr(sys, "argv", ["test.py", *words])
        assert runner.main() == code
        assert capsys.readouterr().out.splitlines()[-1] == last
    monkeypatch.setattr(sys, "argv", ["test.py", "nonsense"])
    assert runner.main() == 2
