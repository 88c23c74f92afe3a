"""The list of commands: a new one is a folder with command.py and a function in it, and one line in COMMANDS."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterable
from typing import Callable

import typer

from espalier import completion
from espalier.interface import ending, suggest
from espalier.interface.help import Command, Group, context_settings, examples
from espalier.problem import Problem, note

# name -> "module:function". Modules load what is heavy (plots, tables) inside their functions, so that `run` starts fast.
COMMANDS = {
    "run": "espalier.run.command:run",
    "topo": "espalier.topo.command:topo",
    "explain": "espalier.explain.command:explain",
    "stats": "espalier.stats.command:stats",
    "who": "espalier.who.command:who",
    "doctor": "espalier.doctor.command:doctor",
    "bench": "espalier.bench.command:bench",
    "tune": "espalier.tune.command:tune",
    "lint": "espalier.lint.command:lint",
    "report": "espalier.report.command:report",
    "aggregate": "espalier.aggregate.command:aggregate",
    "simulate": "espalier.simulate.command:simulate",
    "demo": "espalier.demo.command:demo",
    "completion": "espalier.completion.command:completion",
}


def _function(target: str) -> Callable[..., None]:
    module, function = target.split(":")
    return getattr(importlib.import_module(module), function)


def _version(wanted: bool) -> None:
    if wanted:
        from espalier.version import version_line

        print(version_line())
        raise typer.Exit()


def build(names: Iterable[str]) -> typer.Typer:
    app = typer.Typer(
        cls=Group,
        context_settings=context_settings(),
        epilog=examples("espalier run -- mpirun -n 4 ./app", "espalier explain allreduce 64KiB", "espalier COMMAND -h"),
        help="Makes the collectives of MPI programs fast on the nodes they run on, without changing the programs.",
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )

    @app.callback()
    def _options(
        version: bool = typer.Option(
            False, "--version", callback=_version, is_eager=True, help="Print the version."
        ),
    ) -> None:
        pass

    for name in names:
        function = _function(COMMANDS[name])
        settings = {"cls": Command, **getattr(function, "typer_settings", {})}
        settings["context_settings"] = {**context_settings(), **settings.get("context_settings", {})}
        app.command(name, **settings)(function)
    return app


def _check_name(asked: str) -> None:
    if asked and not asked.startswith("-") and asked not in COMMANDS:
        raise suggest.unknown(f"there is no command '{asked}'", asked, COMMANDS)


def _asked() -> str:
    """The name of the command, which may not exist; a shell that completes a line gives no words, but variables."""
    if completion.VARIABLE in os.environ:
        from espalier.completion import command

        return command.asked()
    return sys.argv[1] if len(sys.argv) > 1 else ""


# What plots need, and `pip install espalier` alone does not bring.
EXTRA = ("matplotlib", "PIL")


def main() -> None:
    asked = _asked()
    names = [asked] if asked in COMMANDS else [] if asked == "--version" else list(COMMANDS)
    try:
        with ending.conventional():
            if completion.VARIABLE not in os.environ:
                _check_name(asked)
            build(names)(prog_name="espalier")
    except Problem as problem:
        note(str(problem))
        sys.exit(problem.code)
    except ModuleNotFoundError as error:
        if error.name not in EXTRA:
            raise
        note(f"plots need {error.name}: python3 -m pip install 'espalier[bench]', or pip install matplotlib")
        sys.exit(2)
    finally:
        ending.flush()
