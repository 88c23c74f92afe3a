"""Plans, windows and settings as text."""

from __future__ import annotations

import sys
from typing import Any, Optional

from espalier import terminal
from espalier.plain import plain_lines
from espalier.sizes import print_bytes

Json = dict[str, Any]
# Fields of a plan that count bytes.
BYTES = ("bytes", "chunk", "slot", "segment")


def _value(name: str, value: Any) -> Optional[str]:
    if value is None or value == "":
        return None
    if isinstance(value, list):
        return "\n".join(str(item) for item in value) or None
    if isinstance(value, bool):
        return "yes" if value else "no"
    return print_bytes(value) if name in BYTES and isinstance(value, int) else str(value)


def plan(request: Json, answer: Json) -> None:
    call = request["collective"]
    if call != "barrier":
        call += f", {print_bytes(request['bytes'])} per rank"
    ranks = request["ranks"]
    terminal.print_lines([f"{call}, {ranks} rank{'s' if ranks > 1 else ''}"])
    known = [(name, _value(name, value)) for name, value in answer.items() if name not in ("rule", "why", "machine")]
    rule = answer.get("rule") or {}
    place = f"{rule['file']}:{rule['line']}" if rule.get("line") else rule.get("file")
    why = [("evidence", rule.get("evidence") or None), ("why", answer.get("why"))]
    terminal.print_facts([*known, ("rule", place), ("", rule.get("text")), *why])


def window(_: Json, answer: Json) -> None:
    nodes = answer["nodes"]
    print(f"window, {nodes} node{'s' if nodes > 1 else ''}")
    setting = f"ESPALIER_WINDOW_TRANSPORT={answer['setting']} ({answer['origin']})"
    terminal.print_facts([("transport", answer["transport"]), ("setting", setting), ("why", answer["why"])])


def config(_: Json, answer: Json) -> None:
    names = ("key", "value", "origin", "default", "help")
    headings = ("setting", "value", "from", "default", "meaning")
    columns = [terminal.Column(heading, wraps=heading == "meaning") for heading in headings]
    values = answer["values"]
    rows = [[str(value[name]) for name in names] for value in values]
    terminal.print_table(columns, rows, styles=["" if value["origin"] == "default" else "bold" for value in values])
    for warning in answer.get("warnings", []):
        print(f"espalier: {plain_lines(warning)}", file=sys.stderr)
