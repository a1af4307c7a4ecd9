"""What `--help` prints: commands in groups, options in panels; and what the shell completes.

A command's group is given where it is registered. An option's panel follows from its name, which means the same in all commands
(`BY_NAME`; limits begin with `max_`), unless the option names another one where it is declared (`rich_help_panel`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from typer.core import TyperCommand, TyperGroup

AUTOMATA, PROOFS, MODELS, REPORT = "Automata", "Proofs", "Models", "Report"
GROUPS = (AUTOMATA, PROOFS, MODELS, REPORT)
"""The groups of commands, in the order of `mirrormata --help`."""

GENERAL, BUILDING, TASK, MODEL, TRAINING = "Options", "What to build", "The task", "The model", "The training"
FORMATS = "Formats that the function states"
WORDS, OF_SPEC, OUTPUT, LIMITS = "Words", "How SPEC is read", "Output", "Limits"
PANELS = (GENERAL, BUILDING, TASK, MODEL, TRAINING, FORMATS, WORDS, OF_SPEC, OUTPUT, LIMITS)
"""The panels of options, in the order of a command's help."""
_NAMES = {
    WORDS: "word random words length lengths seed data chunk run_words run_length",
    OF_SPEC: "alphabet split track start group product",
    OUTPUT: "output force picture draw sink write show latex graph table png pdf width bounds details logs as_json",
}
BY_NAME = {name: panel for panel, names in _NAMES.items() for name in names.split()}
"""The panel of an option by its name in Python."""

METAVARS = {"int": "N", "float": "X", "str": "TEXT"}
"""What stands for a value of a type whose option names none."""
_TYPE = re.compile(r"<(?:list\[)?(int|float|str)\b[^>]*>")


class HelpfulCommand(TyperCommand):
    """A command whose help has its options in panels."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """`[OPTIONS] SPEC`: arguments by their own names, in brackets where they may be left out."""
        arguments = [argument_name(p) for p in self.params if p.param_type_name == "argument"]
        return [self.options_metavar or "", *arguments]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, then the options in their panels."""
        for panel, rows in panels_of(self, ctx):
            with formatter.section(panel):
                formatter.write_dl(rows)


class HelpfulGroup(TyperGroup):
    """A program or a command with commands of its own, whose help has them in groups."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the commands, group by group, and then the options."""
        self.format_commands(ctx, formatter)
        for panel, rows in panels_of(self, ctx):
            with formatter.section(panel):
                formatter.write_dl(rows)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands with the first sentence of their help, none of which is cut."""
        shown = {name: command for name, command in self.commands.items() if not command.hidden}
        width = max(map(len, shown), default=0)
        for group, names in commands_by_group(shown):
            with formatter.section(group or "Commands"):
                formatter.write_dl(
                    [(name.ljust(width), shown[name].get_short_help_str(formatter.width)) for name in names]
                )


def commands_by_group(commands: dict[str, Any]) -> list[tuple[str | None, list[str]]]:
    """The names of commands by their group, in the order of `GROUPS`; None for commands without one."""
    found: dict[str | None, list[str]] = {}
    for name, command in commands.items():
        group = command.rich_help_panel if command.rich_help_panel in GROUPS else None
        found.setdefault(group, []).append(name)
    return [(group, found[group]) for group in (*GROUPS, None) if group in found]


def panels_of(command: Any, context: Any) -> Iterable[tuple[str, list[tuple[str, str]]]]:
    """The arguments and options of a command by their panels, as `(panel, [(names, help)])`; hidden ones are left out."""
    rows: dict[str, list[tuple[str, str]]] = {}
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is None:
            continue
        if parameter.param_type_name == "argument":
            text = record[1].replace("[required]", "").strip()
            rows.setdefault("Arguments", []).append((argument_name(parameter), text))
            continue
        names = _TYPE.sub(lambda kind: METAVARS[kind[1]], record[0])
        panel = panel_of(parameter)
        if parameter.name == "help" and panel not in rows and OUTPUT in rows:
            panel = OUTPUT  # rather than alone in a panel of its own
        rows.setdefault(panel, []).append((names, record[1]))
    return [(panel, rows[panel]) for panel in ("Arguments", *PANELS) if panel in rows]


def panel_of(parameter: Any) -> str:
    """The panel of an option: the one that it names itself, else that of its name."""
    name = str(parameter.name)
    otherwise = LIMITS if name.startswith("max_") else GENERAL
    return getattr(parameter, "rich_help_panel", None) or BY_NAME.get(name, otherwise)


def argument_name(parameter: Any) -> str:
    """The name of an argument as the usage line has it: `SPEC`, or `[SPEC]` where it may be left out."""
    name = str(parameter.metavar or parameter.name)
    return name if parameter.required or name.startswith("[") else f"[{name}]"


def complete_spec(incomplete: str) -> list[str]:
    """The names of the library that begin so; none where files are to be completed instead."""
    from ..constructions.library._names import library

    return [entry.example for entry in library() if entry.example.startswith(incomplete)]


def complete_claim(incomplete: str) -> list[str]:
    """The IDs of the claims that begin so."""
    from ..theory.verifying._registry import load_claims

    return [entry.claim.id for entry in load_claims(()) if entry.claim.id.startswith(incomplete)]
