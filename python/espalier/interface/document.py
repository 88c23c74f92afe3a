"""What `--json` prints (docs/command-line.md); its schemas lie in python/espalier/schemas."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

_SCHEMAS = Path(__file__).resolve().parents[1] / "schemas"
VERSION = 1


def print_json(kind: str, content: dict[str, Any]) -> None:
    print(json.dumps({"schema": f"espalier-{kind}/{VERSION}", **content}, indent=1))


def schema(kind: str) -> dict[str, Any]:
    return json.loads((_SCHEMAS / f"{kind}.json").read_text(encoding="utf-8"))
