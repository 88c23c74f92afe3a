"""How generated C++ is laid out: lines of at most 110 columns, arguments aligned behind their parenthesis."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

COLUMNS = 110


def fill(opening: str, parts: Sequence[str], closing: str) -> str:
    """`opening` ends with a parenthesis or brace, under whose first part the lines go on."""
    lines = [opening]
    indent = " " * len(opening)
    for index, part in enumerate(parts):
        is_last = index == len(parts) - 1
        piece = part + (closing if is_last else ",")
        fits = len(lines[-1]) + 1 + len(piece) <= COLUMNS
        if index == 0:
            lines[-1] += piece
        elif fits:
            lines[-1] += " " + piece
        else:
            lines.append(indent + piece)
    return "\n".join(lines) if parts else opening + closing


def statement(condition: str, opening: str, parts: Sequence[str], closing: str) -> str:
    """`if (condition) opening parts closing`, on one line if that fits."""
    line = f"  if ({condition}) {opening}{', '.join(parts)}{closing}"
    return line if len(line) <= COLUMNS else f"  if ({condition})\n" + fill(f"    {opening}", parts, closing)


def braces(opening: str, parts: Sequence[str], closing: str) -> str:
    """A braced list, on one line if that fits; else each part begins a line."""
    line = f"{opening}{', '.join(parts)}{closing}"
    if len(line) <= COLUMNS:
        return line
    indent = " " * (len(opening) - len(opening.lstrip()) + 4)
    return "\n".join([opening, *(broken(indent, part) for part in parts), indent[:-4] + closing])


def broken(indent: str, part: str) -> str:
    """One part of such a list; a call that does not fit is broken behind its parenthesis."""
    line = f"{indent}{part},"
    if len(line) <= COLUMNS or not part.endswith(")"):
        return line
    name, arguments = part[:-1].split("(", 1)
    return fill(f"{indent}{name}(", arguments.split(", "), "),")


def guarded(condition: str, text: str) -> str:
    return f"#if {condition}\n{text}\n#endif" if condition else text


def grouped(parts: Iterable[tuple[str, str]], separator: str = "\n\n") -> str:
    """Texts with the condition of each; neighbours with the same one stand under it together."""
    groups: list[tuple[str, list[str]]] = []
    for condition, text in parts:
        if not groups or groups[-1][0] != condition:
            groups.append((condition, []))
        groups[-1][1].append(text)
    return separator.join(guarded(condition, separator.join(texts)) for condition, texts in groups)


def source(what: str, includes: Sequence[str], body: str, namespace: str = "espalier::mpi") -> str:
    lines = [f"// {what} Made from src/mpi/bindings/functions.def."]
    lines += [f'#include "{name}"' for name in includes]
    return "\n".join(lines) + f"\n\nnamespace {namespace} {{\n\n{body}\n\n}}  // namespace {namespace}\n"


def header(what: str, includes: Sequence[str], body: str, namespace: str = "espalier::mpi") -> str:
    first, rest = source(what, includes, body, namespace).split("\n", 1)
    return f"{first}\n#pragma once\n\n{rest}"
