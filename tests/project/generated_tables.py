"""The tables of the pages that are computed, and the functions of all generated tables."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import typer.main
import yaml

from mirrormata.cli import app
from mirrormata.cli.help import OF_SPEC, panels_of
from mirrormata.cli.options import theorem_help
from mirrormata.constructions._construct import Request, choose_by_rule, construct
from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.constructions.library._names import library_rows
from mirrormata.constructions.theorems._construction import Problem
from mirrormata.tests.models.recurrences import RECURRENCES, survey
from mirrormata.tests.project.generated_benchmarks import (
    chain_choices_table,
    exchange_table,
    fla_checkpoints_table,
    hopper_table,
    kernel_behind_table,
    kernel_counters_table,
    kernel_errors_table,
    kernel_further_table,
    kernel_fuzz_table,
    kernel_peers_table,
    kernel_refusals_table,
    kernel_summary_table,
    kernel_targets_table,
    kernel_times_table,
    layer_kernels_table,
    model_fuzz_table,
    mutations_table,
    named_automata_table,
    peers_patterns_table,
    peers_semigroups_table,
    peers_versions,
    random_automata_table,
    scan_counters_table,
    scan_shapes_table,
    state_size_table,
    throughput_table,
)
from mirrormata.tests.project.generated_first_page import audited_families_table, paper_table, results_table
from mirrormata.tests.project.generated_formal import formal_tables
from mirrormata.tests.project.generated_training import (
    compared_seeds_text,
    experiments_table,
    fla_models_table,
    planted_heads_tables,
    reproduced_table,
    sweeps_tables,
)
from mirrormata.tests.project.generated_vectors import vector_tables
from mirrormata.tests.project.table_texts import ROOT, table
from mirrormata.theory._check import all_checkers
from mirrormata.theory._horizon import horizons
from mirrormata.theory.planning._plan import report
from mirrormata.theory.running._refutation import refute_printed

CONSTRUCTIONS = (
    ("parity", "any"), ("Z2^4", "any"), ("S3", "any"), ("A4", "any"), ("S4", "any"), ("S4[involutions]", "any"),
    ("A5", "any"), ("A5", "integer"), ("A5[involutions]", "any"), ("S5", "any"), ("S5[transpositions]", "any"),
    ("Q8", "any"), ("dihedral:7", "any"), ("dihedral:7", "integer"), ("A4_x_Z5", "any"), ("A4_x_Z5", "integer"),
    ("mod:60", "any"), ("mod:60", "integer"), ("mod:1000", "any"), ("mod:1000", "integer"), ("boxes:5,4", "any"),
)  # fmt: skip
"""SPEC and `--exactness` of each row."""
HORIZONS = ("A5", "dihedral:7", "cycle:5", "A4_x_Z5", "mod:60", "mod:1000")
DTYPES = ("fp64", "fp32", "fp16", "bf16", "fp8_e4m3", "fp8_e5m2")


def constructions_table() -> str:
    """One row a construction, from the figures of `construct --json`."""
    rows = []
    for spec, exactness in CONSTRUCTIONS:
        facts = report(choose_by_rule(spec, Request(exactness=exactness)))
        bound = facts["integer_bound"]
        exact = "algebraic" if bound is None else f"integer, {bound}"
        rows.append(
            [
                f"`{spec}`" + (" `--exactness integer`" if exactness == "integer" else ""),
                *(facts[key] for key in ("states", "letters", "construction", "theorem")),
                *(facts[key] for key in ("householders", "heads", "dim")),
                exact,
            ]
        )
    head = ("SPEC", "states", "letters", "construction", "source", "factors", "heads", "dim", "exactness")
    return table(head, rows, (1, 2, 5, 6, 7))


def horizons_table() -> str:
    """One row a construction: the certified horizon in each dtype."""
    rows = []
    for spec in HORIZONS:
        lengths = horizons(construct(spec))
        rows.append([f"`{spec}`", *(f"{lengths[dtype]:,}" for dtype in DTYPES)])
    return table(("SPEC", *DTYPES), rows, range(1, 7))


def library_table() -> str:
    """The named automata, as `inspect --library` lists them."""
    rows = []
    for row in library_rows():
        monoid = "over limit" if row["monoid"] is None else f"{row['monoid']:,}"
        sizes = (f"{row['states']:,}", f"{row['letters']:,}", monoid)
        description = row["description"].replace("*", "\\*")
        rows.append((f"`{row['name']}`", description, f"`{row['example']}`", *sizes))
    return table(("name", "letters; state", "example", "states", "letters", "monoid"), rows, (3, 4, 5))


def files_of_checker(kind: str) -> list[Path]:
    """The program of a kind of certificate, and all files of its folder that it imports, directly or not."""
    folder = ROOT / "theory" / "checker"
    found = [folder / f"{kind}.py"]
    for path in found:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.level:
                read = folder / f"{node.module}.py"
                if read not in found:
                    found.append(read)
    return found


def checkers_table() -> str:
    """One row a kind of certificate: its program, what it proves, and how much has to be believed for it."""
    lines = {
        path: len(path.read_text(encoding="utf-8").splitlines())
        for kind in all_checkers()
        for path in files_of_checker(kind)
    }
    rows = []
    for kind in all_checkers():
        program, *others = files_of_checker(kind)
        text = ast.get_docstring(ast.parse(program.read_text(encoding="utf-8"))) or ""
        proves = " ".join(text.split("\n\n")[0].split()).partition(": ")[2].rstrip(".")
        read = ", ".join(f"`{path.name}`" for path in sorted(others))
        size = sum(lines[path] for path in (program, *others))
        rows.append([f"`{kind}`", f"`{program.name}`", proves, read, f"{size:,}"])
    head = ("kind", "program", "proves", "with", "lines in all")
    return (
        table(head, rows, (4,))
        + f"All checkers together are {len(lines)} files and {sum(lines.values()):,} lines.\n\n"
    )


def printed_table() -> str:
    """How many random cascades with the printed wiring are refuted."""
    counts: dict[int, list[int]] = {}
    for seed in range(300):
        spec = f"random:states={2 + seed % 5},letters={1 + seed % 3},seed={seed}"
        automaton = automaton_from_spec(spec).trim()
        cascade = Problem(automaton).cascade()
        if len(cascade.levels) < 2:
            continue
        row = counts.setdefault(len(cascade.levels), [0, 0])
        row[0] += 1
        row[1] += refute_printed(automaton).word is not None
    rows: list[list[object]] = [[levels, *counts[levels]] for levels in sorted(counts)]
    rows.append(["all", *(sum(row[i] for row in counts.values()) for i in range(2))])
    text = table(("levels", "cascades", "refuted"), rows, range(3))
    return f"\nOf 300 random automata (2 to 6 states, 1 to 3 letters), those whose cascade has several levels:\n{text}"


def recurrences_table() -> str:
    """One row a recurrence of the field: its transition, and its eigenvalues as decided on exact instances."""
    rows = []
    for r in RECURRENCES:
        found = survey(r)
        here = f"`{r.family}`" if r.family else "not trained here"
        rows.append(
            [
                r.name,
                f"`{r.transition}`",
                r.parameters,
                found.eigenvalue_class,
                r.reason,
                here,
                f"arXiv {r.source}",
            ]
        )
    head = ("recurrence", "transition A", "parameters", "eigenvalues", "why", "family and switches", "source")
    return table(head, rows)


def commands_table() -> str:
    """Every command with the first sentence of its help, in the order of `mirrormata --help`."""
    rows = []
    for name, command in program_commands():
        anchor = name.replace(" ", "-")
        sentence = " ".join(command.help.split()).split(". ")[0].split("; ")[0].rstrip(".")
        rows.append((f"[`{name}`](#{anchor})", sentence))
    return table(("command", "what it does"), rows)


SPEC_SECTION = "#options-of-a-spec"
"""Where the options are explained that say how a SPEC is read."""
SEE = {
    "inspect --alphabet": "automata.md#regular-expressions",
    "inspect --write": "automata.md#writing-and-drawing",
    "construct --theorem": "planning.md",
    "plan --fit": "planning.md#does-an-architecture-hold-an-automaton",
    "plan --bounds": "certificates.md#kind-bound",
    "check --for": "certificates.md#which-automaton",
    "run --word": "conventions.md#words-and-automata",
    "verify --base": "trusted.md#the-base-is-checked-before-the-claims",
    "prove --arithmetic": "arithmetic.md",
    "train --family": "models.md",
    "train --protocol": "training.md",
}
"""The page that says more of an option of a command."""


def options_table(command: Any, panels: Sequence[str] | None = None) -> str:
    """Every option of a command with its help, panel by panel, from the command itself; those of SPEC in one row.

    With `panels`, the options of these alone, each in a row of its own.
    """
    for parameter in command.params:
        if parameter.name == "theorem":
            parameter.help = theorem_help()
    context = command.make_context(command.name, [], resilient_parsing=True)
    rows: list[tuple[str, str]] = []
    for panel, options in panels_of(command, context):
        listed = [(names, text) for names, text in options if "--help" not in names]
        if panel == "Arguments" or not listed or (panels is not None and panel not in panels):
            continue
        if panel == OF_SPEC and panels is None:
            names = ", ".join(f"`{name.split()[0]}`" for name, _ in listed)
            rows.append((names, f"[options of a SPEC]({SPEC_SECTION})"))
            continue
        for names, text in listed:
            option = names.split(", ")[-1].split()[0]
            more = SEE.get(f"{command.name} {option}")
            said = _in_markdown(text) + (f" ([more]({more}))" if more else "")
            rows.append((", ".join(f"`{name}`" for name in names.split(", ")).replace("|", "` or `"), said))
    return table(("option", "meaning"), rows)


def _in_markdown(help_text: str) -> str:
    """A help text for a cell of a table, with its default as a sentence."""
    text = re.sub(r"\s*\[required\]", " Required.", " ".join(help_text.split()))
    text = re.sub(r"\s*\[default: ([^;\]]*)[^\]]*\]", lambda found: f" Default: {_grouped(found[1])}.", text)
    text = re.sub(r"\s*\[x>=([0-9]+)\]", r" At least \1.", text)
    text = text.replace("][", "]\\[")  # two brackets beside each other would be a link
    return re.sub(r"([|*<>])", r"\\\1", text)


def _grouped(number: str) -> str:
    return f"{int(number):,}" if number.isdigit() else number


def spec_options_table() -> str:
    """The options that say how a SPEC is read, with the limits of it, as `inspect` has them."""
    return options_table(dict(program_commands())["inspect"], (OF_SPEC,))


def program_commands() -> list[tuple[str, Any]]:
    """Every command of the program by its name, those of groups with the group's name in front."""

    def below(prefix: str, command: Any) -> list[tuple[str, Any]]:
        if not hasattr(command, "commands"):
            return [(prefix, command)]
        return [
            row
            for name, child in command.commands.items()
            for row in below(f"{prefix} {name}".strip(), child)
        ]

    return below("", typer.main.get_command(app))


def pages_table() -> str:
    """The pages of the site's navigation but the first, in its order and by its sections, with what each answers.

    That is said in the page, `<!-- answers: ... -->` below its heading; a page without one is shown with its first sentence.
    """
    parts = []
    for section, pages in navigation_sections():
        rows = []
        for title, name in pages:
            text = (ROOT / "docs" / name).read_text(encoding="utf-8")
            rows.append((f"[{title}]({name})", page_answers(text)))
        parts.append(f"\n### {section}\n{table(('page', 'what it answers'), rows)}")
    return "".join(parts)


def navigation_sections() -> list[tuple[str, list[tuple[str, str]]]]:
    """The sections of the navigation in `mkdocs.yml`, each with titles and files of its pages; of folders only the index."""
    sections = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]
    found = []
    for section in sections:
        ((name, entries),) = section.items()
        if isinstance(entries, str):
            continue
        pages = []
        for entry in entries:
            ((title, target),) = entry.items()
            pages.append((title, target if isinstance(target, str) else target[0]))
        found.append((name, pages))
    return found


def page_answers(text: str) -> str:
    """What a page says that it answers, else its first sentence."""
    said = re.search(r"^<!-- answers: (.*?) -->$", text, flags=re.MULTILINE | re.DOTALL)
    if said:
        return " ".join(said[1].split())
    paragraphs = [p for p in text.split("\n\n")[1:] if not p.startswith(("<", "#", "|", "`" * 3))]
    return " ".join(paragraphs[0].split()).split(". ")[0].rstrip(".")


def certificate_kinds() -> str:
    """The kinds of certificates that `check` knows, in a sentence."""
    kinds = [f"`{kind}`" for kind in all_checkers()]
    return f"\nThe kinds are {', '.join(kinds[:-1])} and {kinds[-1]}.\n\n"


def own_layer(name: str) -> str:
    """A layer of `examples/layers`, as a block of code.

    Args:
        name: of the file, without its extension.
    """
    return f"```python\n{(ROOT / f'examples/layers/{name}.py').read_text(encoding='utf-8')}```\n"


TABLES: dict[str, Callable[[], str]] = {
    "audited-families": audited_families_table,
    "papers-g": lambda: paper_table("G"),
    "papers-dp": lambda: paper_table("DP"),
    "results": results_table,
    "state-size": state_size_table,
    "named-automata": named_automata_table,
    "exchange": exchange_table,
    "random-automata": random_automata_table,
    "chain-choices": chain_choices_table,
    "peers-patterns": peers_patterns_table,
    "peers-semigroups": peers_semigroups_table,
    "peers-versions": peers_versions,
    "commands": commands_table,
    "spec-options": spec_options_table,
    **{
        f"options-{name.replace(' ', '-')}": partial(options_table, command)
        for name, command in program_commands()
    },
    "pages": pages_table,
    "kinds": certificate_kinds,
    "constructions": constructions_table,
    "horizons": horizons_table,
    "printed": printed_table,
    "checkers": checkers_table,
    "library": library_table,
    "recurrences": recurrences_table,
    "scan-shapes": scan_shapes_table,
    "sweeps": sweeps_tables,
    "experiments": experiments_table,
    "planted-heads": planted_heads_tables,
    "fla-models": fla_models_table,
    "reproduced": reproduced_table,
    "compared-seeds": compared_seeds_text,
    "throughput": throughput_table,
    "fla-checkpoints": fla_checkpoints_table,
    "kernel-times": kernel_times_table,
    "kernel-further-times": kernel_further_table,
    "kernel-errors": kernel_errors_table,
    "kernel-counters": kernel_counters_table,
    "scan-counters": scan_counters_table,
    "kernel-hopper": hopper_table,
    "kernel-peers": kernel_peers_table,
    "kernel-peers-refused": kernel_refusals_table,
    "kernel-summary": kernel_summary_table,
    "kernel-behind": kernel_behind_table,
    "kernel-peers-targets": kernel_targets_table,
    "layer-kernels": layer_kernels_table,
    "mutations": mutations_table,
    "kernel-fuzz": kernel_fuzz_table,
    "model-fuzz": model_fuzz_table,
    **vector_tables(),
    **{
        f"layer-{name.replace('_', '-')}": partial(own_layer, name)
        for name in ("rotation", "pd_ssm", "unitary")
    },
    **formal_tables(),
}
"""The function that computes what stands between `<!-- generated: NAME -->` and `<!-- end -->`."""
