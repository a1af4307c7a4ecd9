"""The command `vectors`, which writes exact conformance vectors, or holds a function to them."""

from __future__ import annotations

import math
from typing import Annotated, Any

import typer

from ..foundation._errors import InputError
from .help import FORMATS, GENERAL, MODELS
from .options import Json
from .output import print_columns, print_json, print_sentence, print_table, say_written, show_work

SECONDS = 600
"""The most time that a test may take, where nothing else is said."""


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    app.command(rich_help_panel=MODELS)(vectors)


def _format(help_text: str) -> Any:
    return typer.Option(metavar="FORMAT", rich_help_panel=FORMATS, help=help_text)


def vectors(
    output: Annotated[
        str | None,
        typer.Argument(
            metavar="OUT", help="Write all words, with their exact answers, to this .safetensors file."
        ),
    ] = None,
    test: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            rich_help_panel=GENERAL,
            help="Test a function of yours, written module:function, whose module is looked for in the current folder first, "
            "or a public implementation, such as numpy/plain or fla/naive_chunk_gated_delta_rule.",
        ),
    ] = None,
    operator: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            rich_help_panel=GENERAL,
            help="The recurrence that the function computes: delta_rule, gated_delta_rule, delta_product, kda, rwkv7 or scalar_gate. "
            "The default is gated_delta_rule.",
        ),
    ] = None,
    family: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            rich_help_panel=GENERAL,
            help="Families of words to run, separated by commas. The default is all that the operator has.",
        ),
    ] = None,
    framework: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            rich_help_panel=GENERAL,
            help="Framework of the function's arrays: torch or numpy. The default is torch.",
        ),
    ] = None,
    device: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            rich_help_panel=GENERAL,
            help="Device of torch's tensors, such as cuda. The default is cpu.",
        ),
    ] = None,
    max_seconds: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            rich_help_panel=GENERAL,
            help=f"The most time that the test may take, imports and compilation included. The default is {SECONDS}.",
        ),
    ] = None,
    inputs: Annotated[str | None, _format("Format of queries, keys and values. The default is fp32.")] = None,
    beta: Annotated[str | None, _format("Format of beta. The default is fp32.")] = None,
    gates: Annotated[
        str | None, _format("Format of the gates or their logarithms. The default is fp32.")
    ] = None,
    state: Annotated[str | None, _format("Format of the state. The default is fp32.")] = None,
    products: Annotated[
        str | None,
        _format("Format to which the function may round what enters a product. The default is fp32."),
    ] = None,
    sums: Annotated[
        str | None, _format("Format of sums of products, fp32 or fp64. The default is fp32.")
    ] = None,
    outputs: Annotated[
        str | None, _format("Format of the outputs. The default is that of the inputs.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Write exact vectors of the delta-rule family, or test a function.

    The words are inputs whose outputs and final states are known to the last bit, in every order of summation. With --test,
    each family of words gets a verdict, which names the formats that it is about and the likely cause of a failure. Words
    with numbers that the stated formats cannot represent are not run. The exit status is 1 if a word fails, or if none was run;
    it is 0 if no word that was run fails, and the headline then says how many were not run, and why. It is 2 if the function
    ends or crashes the process, or does not end. Without OUT and --test, the families and the public implementations are listed.

    \b
    Examples:
      mirrormata vectors vectors.safetensors
      mirrormata vectors --test numpy/plain --family beta-fine,state-fine
    """
    stated = {
        "inputs": inputs, "beta": beta, "gates": gates, "state": state, "products": products, "sums": sums,
        "outputs": outputs,
    }  # fmt: skip
    others = {
        "operator": operator, "family": family, "framework": framework, "device": device, "max-seconds": max_seconds,
    }  # fmt: skip
    if test is None:
        _refuse_options_of_tests({**others, **stated})
    if output is not None:
        _write(output, as_json and test is None)
    if test is not None:
        stated["outputs"] = outputs or inputs
        given = {name: value for name, value in stated.items() if value is not None}
        _test(
            test,
            operator,
            family,
            framework,
            device or "cpu",
            given,
            SECONDS if max_seconds is None else max_seconds,
            as_json,
        )
    elif output is None:
        _list(as_json)


def _refuse_options_of_tests(given: dict[str, str | float | None]) -> None:
    """Options that are about a test are an error without one; unknown families are told the families all the same."""
    from ..kernels.vectors._check import require_families

    if isinstance(given["family"], str):
        require_families([part.strip() for part in given["family"].split(",")])
    for name, value in given.items():
        if value is not None:
            raise InputError(
                f"--{name} {value}: it is about the test of a function; name one with --test, or leave it out"
            )


def _write(output: str, as_json: bool) -> None:
    from ..kernels.vectors._file import write_vectors

    words = write_vectors(output)
    if as_json:
        print_json({"written": output, "words": words})
    else:
        say_written(output)


def _test(
    name: str,
    operator: str | None,
    family: str | None,
    framework: str | None,
    device: str,
    formats: dict[str, str],
    max_seconds: float,
    as_json: bool,
) -> None:
    from ..kernels.vectors._check import require_known
    from ..kernels.vectors._child import Request, check_in_child, contract_of
    from ..kernels.vectors._runners import find_runner, require_gpu

    if not 0 < max_seconds < math.inf:
        raise InputError(f"--max-seconds {max_seconds:g}: give a number of seconds above 0")
    runner = find_runner(name)
    if runner is not None and operator not in (None, runner.operator):
        raise InputError(
            f"--operator {operator}: {name} is an implementation of {runner.operator}; leave it out"
        )
    families = None if family is None else [part.strip() for part in family.split(",")]
    request = Request(name, operator, framework, device, formats, families)
    require_known(
        operator or ("gated_delta_rule" if runner is None else runner.operator),
        contract_of(request),
        families,
    )
    if runner is not None and runner.on_gpu:
        require_gpu(name, device)
    with show_work("running words"):
        report = check_in_child(request, max_seconds)
    if as_json:
        print_json({"function": name, **report.as_dict()})
    else:
        print_sentence(f"{name}: {report.headline()}")
        if report.overall:
            print_sentence(report.overall[0].upper() + report.overall[1:])
        print_table(
            "What it is held to", [("operator", report.operator), ("formats", report.contract.describe())]
        )
        rows = [["family", "verdict", "words", "likely cause, or why it was not run"]]
        rows += [[v.family, v.verdict, v.counts, v.remark] for v in report.verdicts]
        print_columns("Verdicts", rows)
    if not report.passed:
        raise typer.Exit(1)


def _list(as_json: bool) -> None:
    from ..kernels.vectors._families import FAMILIES, all_words
    from ..kernels.vectors._runners import RUNNERS

    words = all_words()
    counts = {f.name: sum(word.family == f.name for word in words) for f in FAMILIES}
    if as_json:
        print_json({
            "families": [
                {"name": f.name, "words": counts[f.name], "holds": f.holds, "sees alone": f.alone} for f in FAMILIES
            ],
            "implementations": [
                {"name": r.name, "operator": r.operator, "needs a GPU": r.on_gpu} for r in RUNNERS
            ],
        })  # fmt: skip
        return
    print_sentence(f"{len(words)} words in {len(FAMILIES)} families; {len(RUNNERS)} public implementations")
    rows = [["family", "words", "what it holds", "what it alone sees"]]
    print_columns("Families", [*rows, *([f.name, str(counts[f.name]), f.holds, f.alone] for f in FAMILIES)])
    rows = [["implementation", "operator", "needs"]]
    print_columns(
        "Implementations", [*rows, *([r.name, r.operator, "a GPU" if r.on_gpu else ""] for r in RUNNERS)]
    )
