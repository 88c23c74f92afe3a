"""Asks the programs that simulate and that measure."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from espalier import install
from espalier.problem import Problem

SIMULATE = "espalier-simulate"
MEASURE = "espalier-measure"


def program(name: str = SIMULATE) -> Path:
    return install.helper(name)


def ask(request: dict[str, Any], name: str = SIMULATE) -> dict[str, Any]:
    path = program(name)
    if not path.exists():
        raise Problem(f"{path} is not there; {install.repair()}, where Boost.Context (libboost-context-dev) is for its build")
    done = subprocess.run([str(path)], input=json.dumps(request), capture_output=True, text=True)
    if done.returncode != 0:
        raise Problem(f"{path} ended with {done.returncode}: {done.stderr.strip() or 'it said nothing'}")
    answer = json.loads(done.stdout)
    if "error" in answer:
        raise Problem("\n".join(filter(None, [answer["error"], done.stderr.strip()])))
    return answer
