"""The commands `verify` and `claims`: check the claims of the papers again, and explain them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from ..foundation._errors import InputError, MissingExtraError
from ..foundation._files import shown_path
from .help import PROOFS, complete_claim, complete_spec
from .options import Json
from .output import print_json, print_table, say, say_written

Ids = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[ID]...",
        autocompletion=complete_claim,
        help="The claims, such as G.T4 (`mirrormata claims` lists them) or CK.S5, which tables of `construct` and `plan` name.",
    ),
]
Paths = Annotated[
    list[str] | None,
    typer.Option(
        "--path",
        metavar="DIR",
        help="Also load your own claims from the .py files in this folder. Can be repeated.",
    ),
]


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    app.command(rich_help_panel=PROOFS)(verify)
    app.command("claims", rich_help_panel=PROOFS)(list_claims)


def verify(
    ids: Ids = None,
    all_claims: Annotated[
        bool, typer.Option("--all", help="Check all claims with full effort, which takes minutes.")
    ] = False,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick",
            help="Check with less effort, about one second per claim. Without IDs and without --source, check all claims.",
        ),
    ] = False,
    source: Annotated[
        str | None,
        typer.Option(
            help="Check the claims from one source, which is the part of the ID before the first dot: G, DP, H, own, ..."
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL",
            autocompletion=complete_spec,
            help="Apply the claims to this model instead: a certificate, an .npz file of matrices, or the SPEC of an automaton.",
        ),
    ] = None,
    path: Paths = None,
    budget: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            help="Total time for all checks, in seconds. Short checks run first; claims that do not finish are reported as unknown. "
            "The default is no limit.",
        ),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(min=1, help="Number of processes to use. The default is one per processor core."),
    ] = None,
    seed: Annotated[
        int, typer.Option(min=0, help="Seed of the random instances on which claims are tested.")
    ] = 0,
    base: Annotated[
        bool,
        typer.Option(
            "--base",
            help="Check only the base that all claims rely on: arithmetic, checkers, proofs, impossibility, bounds and kernels.",
        ),
    ] = False,
    fail_fast: Annotated[
        bool,
        typer.Option("--fail-fast", help="Stop at the first verdict that differs from the recorded one."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Check the claims of the papers again, or apply them to a model.

    A claim is a published or a new statement with a program that checks it. The verdicts are compared with the recorded
    ones. If all claims are checked (--all or --quick), the base that they rely on is checked first, as with --base. No file
    is written. The exit status is 1 if a verdict differs from the recorded one or, with --model, if a claim fails on the
    model. A check that needs an extra which is not installed is not run, and counted as that; if no check is run, the exit
    status is 2.

    \b
    Examples:
      mirrormata verify G.T3 DP.T8 --quick
      mirrormata verify --model s5.json
    """
    import time

    from ..theory.base._base import check_base, print_base
    from ..theory.verifying._claim import Effort
    from ..theory.verifying._registry import load_claims
    from ..theory.verifying._table import print_outcomes
    from ..theory.verifying._verify import verify_claims, verify_model

    if budget is not None and not budget > 0:
        raise InputError(f"--budget {budget:g}: give a number of seconds above 0")
    if not (ids or all_claims or quick or base) and source is None and model is None:
        raise InputError(
            "verify: give IDs, --all, --quick, --source, --base or --model (`mirrormata claims` lists the IDs)"
        )
    if base and (ids or all_claims or quick or path or source is not None or model is not None):
        raise InputError(
            "verify: --base checks only the base, and --all and --quick check it first: leave one of them out"
        )
    registry = load_claims(path or ())
    if source is not None:
        ids = [*(ids or ()), *(entry.claim.id for entry in registry.of_source(source))]
    entries = registry.find(ids) if ids else list(registry)
    if model is not None:
        if all_claims or quick:
            raise InputError(
                "verify: --model can be combined with IDs or --source, but not with --all or --quick, since it has one level of effort"
            )
        from ..theory.verifying._claim import subject_of_file

        outcomes = verify_model(subject_of_file(model), entries)
        found = []
        if not outcomes:
            asked = ", ".join(entry.claim.id for entry in entries[:8]) + ", ..." * (len(entries) > 8)
            speak = ", ".join(entry.claim.id for entry in registry if entry.applies is not None)
            raise InputError(
                f"--model {shown_path(model)}: {asked} cannot be applied to it; claims about given models are {speak}"
            )
    else:
        if all_claims and (quick or ids):
            raise InputError(
                "verify: --all checks all claims with full effort; leave --quick and the IDs out"
            )
        began = time.monotonic()
        found = check_base(jobs=jobs, fail_fast=fail_fast) if base or not ids else []
        if budget is not None:
            budget = max(budget - (time.monotonic() - began), 1e-3)
        if base or (fail_fast and not all(part.sound for part in found)):
            entries = []
        with _show_progress(len(entries)) as done:
            effort = Effort("quick" if quick else "full", seed)
            outcomes = verify_claims(
                entries, effort, budget=budget, jobs=jobs, fail_fast=fail_fast, done=done
            )
    if as_json:
        about_base = {"base": [part.to_json() for part in found]} if found else {}
        print_json({**about_base, "claims": [outcome.to_json() for outcome in outcomes]})
    else:
        if found:
            print_base(found)
        if entries:
            print_outcomes(outcomes)
    reached = [part.sound for part in found if part.missing is None]
    reached += [outcome.as_expected for outcome in outcomes if outcome.missing is None]
    lacking = {missing for missing in [x.missing for x in found] + [x.missing for x in outcomes] if missing}
    if lacking and not reached:
        needed = f"mirrormata[{','.join(sorted(lacking))}]"
        raise MissingExtraError(
            f"verify: no check was run, since packages are not installed: pip install '{needed}'"
        )
    if not all(reached):
        raise typer.Exit(1)


def list_claims(
    ids: Ids = None,
    show: Annotated[
        str | None,
        typer.Option(metavar="ID", hidden=True, help="Explain this claim, the same as giving its ID."),
    ] = None,
    source: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="List only the claims from one source: G, DP, H, own, ..."),
    ] = None,
    coq: Annotated[
        bool, typer.Option("--coq", help="List only the claims that are proved in Coq, in full or in part.")
    ] = False,
    graph: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Draw a graph of which claim uses which to this .svg or .png file."
        ),
    ] = None,
    path: Paths = None,
    as_json: Json = False,
) -> None:
    """List the claims, explain one, or draw which claim uses which.

    The list gives the recorded status of each claim, which is what the Python program verifies of it, and whether a theorem
    in Coq states it: yes, or a part of it. With IDs, the command instead prints the statement, hypotheses, source
    and method of these claims. Only --graph writes a file.

    \b
    Examples:
      mirrormata claims --source DP
      mirrormata claims CK.S5 H.rank
    """
    from ..theory.verifying._registry import load_claims
    from ..theory.verifying._table import claim_json, explanation, print_claims

    registry = load_claims(path or ())
    asked = list(dict.fromkeys([*(ids or ()), *([] if show is None else [show])]))
    if asked and source is not None:
        raise InputError("claims: claims are named and --source is given: leave one of them out")
    entries = list(registry) if source is None else registry.of_source(source)
    entries = registry.find(asked) if asked else entries
    if asked and coq:
        raise InputError("claims: claims are named and --coq is given: leave one of them out")
    if coq:
        entries = [entry for entry in entries if entry.claim.formal]
        if not entries:
            raise InputError("claims: none of these claims is proved in Coq: leave --coq out")
    if graph is not None:
        from ..theory.verifying._picture import draw_claims

        around = {e.claim.id: e for claim in asked for e in registry.around(claim)}
        drawn = list(around.values()) if asked else entries
        draw_claims([e.claim for e in drawn], {e.claim.id: e.claim.expected for e in drawn}, graph)
    if as_json:
        print_json({"claims": [claim_json(entry, registry) for entry in entries]})
    elif asked:
        for number, entry in enumerate(entries):
            if number:
                say("")
            print_table(f"{entry.claim.id}: {entry.claim.title}", explanation(entry, registry))
    else:
        print_claims(entries)
    say_written(graph)


@contextmanager
def _show_progress(claims: int) -> Iterator[Callable[[Any], None]]:
    """On a terminal: a progress bar with the number of finished claims."""
    import sys

    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    console = Console(file=sys.stderr)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("claims", total=claims)
        yield lambda outcome: progress.update(task, advance=1, description=outcome.claim.id)
