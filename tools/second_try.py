"""Which failed tests run a second time.

Launchers of the hosts lose output and exit codes of jobs that end by a signal, more often the busier the machine is. A test that
fails beside others and passes alone is reported as unsteady, not as failed. Never so where a result was wrong, where many tests
fail, or in `make test-full`, which is to find such tests.
"""

from __future__ import annotations

import os
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Optional

MOST = 4  # more have a cause of their own
WRONG = re.compile(r"\bwrong\b|\bcorrupt|\bdiffers?\b", re.IGNORECASE)


def candidates(report: Path, root: Path) -> list[str]:
    """Node ids of the tests that failed in a run of pytest; none if they all count as they are."""
    if os.environ.get("ESPALIER_TEST_FULL") == "1" or not report.exists():
        return []
    failed = [case for case in ET.parse(report).iter("testcase") if _failure(case) is not None]
    ids = [_node_id(case, root) for case in failed]
    known = [node_id for node_id in ids if node_id is not None]
    if len(known) != len(ids) or len(ids) > MOST or any(_says_wrong(case) for case in failed):
        return []
    return known


def _failure(case: ET.Element) -> Optional[ET.Element]:
    failure = case.find("failure")
    return case.find("error") if failure is None else failure


def _says_wrong(case: ET.Element) -> bool:
    """In what the test says of its failure; not in its source, which the report has, too."""
    failure = _failure(case)
    assert failure is not None
    said = [failure.get("message", "")]
    said += [line for line in (failure.text or "").splitlines() if line.startswith("E ")]
    return any(WRONG.search(text) for text in said)


def _node_id(case: ET.Element, root: Path) -> Optional[str]:
    path = Path(*case.get("classname", "").split(".")).with_suffix(".py")
    return f"{path}::{case.get('name', '')}" if (root / path).is_file() else None
