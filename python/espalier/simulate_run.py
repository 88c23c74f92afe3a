"""Asks the program that simulates."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from espalier import install
from espalier.problem import Problem


def program() -> Path:
    return install.library_folder().parent / "bin" / "espalier-simulate"


def ask(request: dict[str, Any]) -> dict[str, Any]:
    path = program()
    if not path.exists():
        raise Problem(f"{path} is not there: `make build` makes it where Boost.Context (libboost-context-dev) is installed")
    done = subprocess.run([str(path)], input=json.dumps(request), capture_output=True, text=True)
    if done.returncode != 0:
        raise Problem(f"{path} ended with {done.returncode}: {done.stderr.strip() or 'it said nothing'}")
    answer = json.loads(done.stdout)
    if "error" in answer:
        raise Problem(answer["error"])
    return answer
