"""The forms in which MPI has a function: plain, for large counts, and prepared once. A new variant of many is one here."""

from __future__ import annotations

from dataclasses import dataclass

from kinds import is_buffer
from table import Function, Parameter

INIT_PARAMETERS = (Parameter("info", "info"), Parameter("request", "request", "out"))


@dataclass(frozen=True)
class Form:
    function: Function
    large: bool = False
    init: bool = False

    @property
    def suffix(self) -> str:
        return ("_init" if self.init else "") + ("_c" if self.large else "")

    @property
    def name(self) -> str:
        return self.function.name + self.suffix

    @property
    def member(self) -> str:
        return self.function.member + self.suffix

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        return self.function.parameters + (INIT_PARAMETERS if self.init else ())

    @property
    def has_buffer(self) -> bool:
        return any(is_buffer(parameter) for parameter in self.parameters)

    @property
    def condition(self) -> str:
        """Which builds have its entry point; empty: all."""
        conditions = []
        if self.function.family == "message":
            conditions.append("ESPALIER_NOTES_LONG_MESSAGES")
        if self.large:
            conditions.append("ESPALIER_HAS_LARGE_COUNT")
        return " && ".join(conditions)


def forms_of(function: Function) -> list[Form]:
    sizes = [False, True] if "large" in function.options else [False]
    variants = [False, True] if "init" in function.options else [False]
    return [Form(function, large, init) for init in variants for large in sizes]


def all_forms(functions: list[Function]) -> list[Form]:
    return [form for function in functions for form in forms_of(function)]


def exported_forms(functions: list[Function]) -> list[Form]:
    return [form for form in all_forms(functions) if form.function.family != "called"]
