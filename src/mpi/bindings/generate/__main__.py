"""Makes C++ from the table of MPI functions: `generate TABLE FOLDER` writes it, `generate --outputs` lists the files."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Callable

import emit_c
import emit_collectives
import emit_exports
import emit_fortran
import emit_next
from table import Function, TableError, read

OUTPUTS: dict[str, Callable[[list[Function]], str]] = {
    "host/next.hpp": emit_next.emit,
    "collectives/collectives.hpp": emit_collectives.emit_served,
    "collectives/forward.hpp": emit_collectives.emit_forward_header,
    "collectives/forward.cpp": emit_collectives.emit_forward,
    "requests/prepare/make.hpp": emit_collectives.emit_makers,
    "requests/serve.hpp": emit_c.emit_requests_header,
    "bindings/c/entry_points.hpp": emit_c.emit_declarations,
    "bindings/c/collective_entry_points.cpp": emit_c.emit_collectives,
    "bindings/c/persistent_entry_points.cpp": emit_c.emit_persistent,
    "bindings/c/nonblocking_entry_points.cpp": emit_c.emit_nonblocking,
    "bindings/c/request_entry_points.cpp": emit_c.emit_requests,
    "bindings/c/message_entry_points.cpp": emit_c.emit_messages,
    "bindings/c/communicator_entry_points.cpp": emit_c.emit_communicators,
    "bindings/fortran/bodies.hpp": emit_fortran.emit_bodies,
    "bindings/fortran/collective_entry_points.cpp": emit_fortran.emit_collectives,
    "bindings/fortran/communicator_entry_points.cpp": emit_fortran.emit_communicators,
    "bindings/fortran/other_entry_points.cpp": emit_fortran.emit_others,
    "bindings/exports.map": emit_exports.emit,
}


def write(path: Path, text: str) -> None:
    """A file that stays as it is keeps its time, so that what depends on it is not built again."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def main(arguments: list[str]) -> int:
    if arguments == ["--outputs"]:
        print(";".join(OUTPUTS), end="")
        return 0
    if len(arguments) != 2:
        print("usage: generate TABLE FOLDER, or generate --outputs", file=sys.stderr)
        return 2
    table, folder = map(Path, arguments)
    try:
        functions = read(table)
        texts = {name: emit(functions) for name, emit in OUTPUTS.items()}
    except TableError as error:
        print(f"{table}: {error}", file=sys.stderr)
        return 1
    for name, text in texts.items():
        write(folder / name, text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
