"""`espalier completion`: the script that lets a shell complete the command."""

from __future__ import annotations

import os

import typer

from espalier.completion import VARIABLE, words
from espalier.interface import suggest
from espalier.interface.help import examples

SHELLS = ("bash", "zsh", "fish")
# Where zsh finds the file by itself, it runs it for the first completion, which the function has to answer, too.
_ZSH_FIRST = '\n[ "${funcstack[1]}" != _espalier ] || _espalier_completion "$@"\n'


def completion(
    shell: str = typer.Argument(..., metavar="bash|zsh|fish", autocompletion=words.one_of(*SHELLS), help="Your shell."),
) -> None:
    """Print the completion script of a shell: of commands, options, collectives, machines and settings."""
    print(script(suggest.one_of("completion", shell, SHELLS)), end="")


completion.typer_settings = {  # type: ignore[attr-defined]
    "epilog": examples(
        'eval "$(espalier completion bash)"',
        "espalier completion bash > ~/.local/share/bash-completion/completions/espalier",
        "espalier completion zsh > ~/.zfunc/_espalier",
        "espalier completion fish > ~/.config/fish/completions/espalier.fish",
    )
}


def script(shell: str) -> str:
    from typer.completion import get_completion_script

    text = get_completion_script(prog_name="espalier", complete_var=VARIABLE, shell=shell)
    return text.strip() + (_ZSH_FIRST if shell == "zsh" else "\n")


def asked() -> str:
    """The command whose words a shell wants to know; empty: the commands themselves. Sets up what answers it."""
    from typer.completion import completion_init

    completion_init()
    line = (os.environ.get("COMP_WORDS") or os.environ.get("_TYPER_COMPLETE_ARGS") or "").split()
    return line[1] if len(line) > 2 or line[1:] and os.environ.get("_TYPER_COMPLETE_ARGS", "").endswith(" ") else ""
