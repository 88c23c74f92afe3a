"""The forms in which MPI has a function: plain, for large counts, prepared once, and nonblocking. A new variant of many is
one here."""

from __future__ import annotations

from dataclasses import dataclass

from kinds import is_buffer
from table import Function, Parameter

REQUEST = Parameter("request", "request", "out")
ADDED = {"": (), "init": (Parameter("info", "info"), REQUEST), "nonblocking": (REQUEST,)}


def nonblocking_name(name: str) -> str:
    """MPI_Iallreduce of MPI_Allreduce."""
    prefix, member = name.split("_", 1)
    return f"{prefix}_I{member[0].lower()}{member[1:]}"


@dataclass(frozen=True)
class Form:
    function: Function
    large: bool = False
    variant: str = ""  # a key of ADDED

    @property
    def init(self) -> bool:
        return self.variant == "init"

    @property
    def nonblocking(self) -> bool:
        return self.variant == "nonblocking"

    @property
    def suffix(self) -> str:
        return ("_init" if self.init else "") + ("_c" if self.large else "")

    @property
    def plain(self) -> str:
        """Its name without suffixes."""
        name = self.function.name
        return nonblocking_name(name) if self.nonblocking else name

    @property
    def name(self) -> str:
        return self.plain + self.suffix

    @property
    def member(self) -> str:
        return self.name.split("_", 1)[1]

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        return self.function.parameters + ADDED[self.variant]

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
    variants = ["", *(variant for variant in ADDED if variant in function.options)]
    return [Form(function, large, variant) for variant in variants for large in sizes]


def all_forms(functions: list[Function]) -> list[Form]:
    return [form for function in functions for form in forms_of(function)]


def exported_forms(functions: list[Function]) -> list[Form]:
    return [form for form in all_forms(functions) if form.function.family != "called"]
