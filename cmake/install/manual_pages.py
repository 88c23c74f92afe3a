"""Writes the manual pages of the command and of each of its sub-commands, from their own help.

manual_pages.py PACKAGE_PARENT FOLDER VERSION: espalier.1, espalier-run.1 ... in FOLDER, and the empty file `made`. Where this
Python has not what the command needs there is only a note; the installation then has no manual pages."""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path
from typing import Any


def escaped(text: str) -> str:
    """Text as roff reads it: backslashes, hyphens that are to be typed, no request at the beginning of a line."""
    plain = re.sub(r"\s+", " ", text).strip().replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + plain if plain[:1] in (".", "'") else plain


def option(parameter: Any) -> str:
    names = ", ".join(f"\\fB{escaped(name)}\\fR" for name in [*parameter.opts, *parameter.secondary_opts])
    placeholder = parameter.metavar or max(parameter.opts, key=len).lstrip("-").upper()
    value = "" if getattr(parameter, "is_flag", False) else f" \\fI{escaped(placeholder)}\\fR"
    default = parameter.default
    shown = isinstance(default, (str, int, float)) and not isinstance(default, bool) and default != ""
    more = f" Default: {escaped(str(default))}." if shown else ""
    return f".TP\n{names}{value}\n{escaped(parameter.help or '')}{more}\n"


def page(name: str, what: str, synopsis: str, parts: list[tuple[str, str]], version: str) -> str:
    body = "".join(f".SH {title}\n{text}" for title, text in parts if text)
    return (
        f'.TH {name.upper()} 1 "" "Espalier {version}" "User Commands"\n.SH NAME\n{name} \\- {what}\n'
        f".SH SYNOPSIS\n{synopsis}\n{body}"
    )


def first_sentence(text: str) -> str:
    """The one line that the page is found by."""
    words = re.split(r"[.:;](?:\s|$)", re.sub(r"\s+", " ", text).strip())[0]
    return escaped(words[:1].lower() + words[1:])


def sub_command(name: str, command: Any, version: str) -> str:
    arguments = [one for one in command.params if one.param_type_name == "argument"]
    options = [one for one in command.params if one.param_type_name == "option" and not one.hidden]
    words = " ".join(f"\\fI{escaped(one.metavar or one.name.upper())}\\fR" for one in arguments)
    synopsis = f"\\fBespalier {name}\\fR [\\fIOPTIONS\\fR] {words}".rstrip()
    help_text = inspect.cleandoc(command.help or "")
    told = [f".TP\n\\fI{escaped(one.metavar or one.name.upper())}\\fR\n{escaped(one.help)}\n" for one in arguments if getattr(one, "help", "")]
    description = "".join(f".PP\n{escaped(part)}\n" for part in help_text.split("\n\n"))
    parts = [
        ("DESCRIPTION", description),
        ("ARGUMENTS", "".join(told)),
        ("OPTIONS", "".join(map(option, options))),
        ("SEE ALSO", "\\fBespalier\\fR(1)\n"),
    ]
    return page(f"espalier\\-{name}", first_sentence(help_text), synopsis, parts, version)


ENVIRONMENT = {
    "ESPALIER": "off: nothing is preloaded, and a preloaded library hands every call on.",
    "ESPALIER_LIB": "The folder of the libraries, instead of that of this installation.",
    "ESPALIER_...": "Every setting of the library; espalier explain --config lists them with their values and origins.",
}


def overview(group: Any, version: str) -> str:
    listed = "".join(
        f".TP\n\\fBespalier\\-{name}\\fR(1)\n{first_sentence(one.help or '')}\n" for name, one in group.commands.items()
    )
    settings = "".join(f".TP\n\\fB{name}\\fR\n{escaped(text)}\n" for name, text in ENVIRONMENT.items())
    example = ".nf\nespalier run \\-\\- mpirun \\-n 4 ./app\nespalier run \\-\\-stats \\-\\- mpirun \\-n 4 ./app\nespalier doctor\n.fi\n"
    parts = [
        ("DESCRIPTION", f".PP\n{escaped(group.help or '')}\n"),
        ("COMMANDS", listed),
        ("OPTIONS", "".join(option(one) for one in group.params if one.param_type_name == "option")),
        ("ENVIRONMENT", settings),
        ("EXAMPLES", example),
    ]
    return page("espalier", first_sentence(group.help or ""), "\\fBespalier\\fR \\fICOMMAND\\fR [\\fIARGS\\fR...]", parts, version)


def main() -> None:
    parent, folder, version = sys.argv[1], Path(sys.argv[2]), sys.argv[3]
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.1"):
        old.unlink()
    sys.path.insert(0, parent)
    try:
        import typer.main
        from espalier import app
    except ModuleNotFoundError as error:
        print(f"manual pages are not made: {sys.executable} has no package {error.name}")
    else:
        group: Any = typer.main.get_command(app.build(app.COMMANDS))
        (folder / "espalier.1").write_text(overview(group, version), encoding="utf-8")
        for name, command in group.commands.items():
            (folder / f"espalier-{name}.1").write_text(sub_command(name, command, version), encoding="utf-8")
    (folder / "made").touch()


main()
