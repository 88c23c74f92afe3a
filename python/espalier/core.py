"""Asks the library: espalier_describe() of libespalier.so, through ctypes."""

from __future__ import annotations

import ctypes
import json
from typing import Any

from espalier.install import library, repair
from espalier.plain import plain_values
from espalier.problem import Problem


def _load() -> ctypes.CDLL:
    path = library("libespalier.so")
    if not path.exists():
        raise Problem(f"{path} is not there; {repair()}, or name its folder in ESPALIER_LIB")
    try:
        found = ctypes.CDLL(str(path))
        found.espalier_describe.restype = ctypes.c_void_p
        found.espalier_describe.argtypes = [ctypes.c_char_p]
        found.espalier_free.restype = None
        found.espalier_free.argtypes = [ctypes.c_void_p]
    except (OSError, AttributeError) as error:
        raise Problem(f"{path} does not fit this command ({error}); {repair()}") from error
    return found


def _ask(request: str) -> str:
    found = _load()
    answer = found.espalier_describe(request.encode())
    if not answer:
        raise Problem("the library had no memory for its answer")
    try:
        return ctypes.string_at(answer).decode()
    finally:
        found.espalier_free(answer)


def describe(request: dict[str, Any]) -> dict[str, Any]:
    """The answer to a request; the library's own error text becomes a Problem."""
    try:
        answer = json.loads(_ask(json.dumps(request)))
    except json.JSONDecodeError as error:
        raise Problem(
            f"the library's answer is not JSON ({error}); command and library may differ: {repair()}"
        ) from error
    if "error" in answer:
        raise Problem(answer["error"])
    return plain_values(answer)
