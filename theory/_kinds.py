"""What theory does with each kind of realisation: one record a kind, found by the files of `kinds/`.

`run`, `full_certificate`, `prove`, `plan` and the pictures ask the record of the realisation's kind; nothing else here asks
which kind one is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from ..constructions._realisation import Realisation, all_kinds
from ..foundation._errors import InputError
from ..foundation._registry import find_records


def _keep_document(found: Realisation, document: dict[str, Any]) -> dict[str, Any]:
    return document


def _no_horizons(found: Realisation, max_codes: int) -> None:
    return


@dataclass(frozen=True)
class TheoryKind:
    """How realisations of a kind are stepped, run, certified in floats, drawn and proved.

    Args:
        kind: name of the kind, as `Realisation.kind`.
        stepper: `(found, dtype, start)`: a `Stepper` in a float format or `exact`, from a state's index (None: the
            start).
        run: `(found, words, **options)`: the report of `run`, which has the same options.
        complete: `(found, document)`: the certificate with what holds in rounded arithmetic beside it; by default nothing
            is added.
        horizons: `(found, max_codes)`: certified lengths by dtype, accepted by the checker, of what is not integer;
            None where there are none, as by default, or where a head has more codes.
        margins: `(found, words, dtype, start)`: positions and the least read-out margin after each token; None where
            no margin is followed.
        draw: `(found, path, max_letters, max_dim, options)`: writes the picture; None where there is none. `options`: what
            the user calls the two limits.
        machine: `(found, answers, arithmetic)`: what the search of `prove` runs.
        proof: `(found, automaton, arithmetic, max_states, max_seconds)`: a proof without a search of states, or None.
        digest: what the digest of a search calls the kind.
        runs_exact: false where it runs in float formats alone.
        runs_from_any_state: false where it runs from the automaton's start alone.
    """

    kind: str
    stepper: Callable[[Any, str, int | None], Any]
    run: Callable[..., Any]
    machine: Callable[[Any, Any, Any], Any]
    proof: Callable[[Any, Any, Any, int, float | None], Any]
    digest: str
    complete: Callable[[Any, dict[str, Any]], dict[str, Any]] = _keep_document
    horizons: Callable[[Any, int], dict[str, int | None] | None] = _no_horizons
    margins: Callable[[Any, Any, str, int | None], Any] | None = None
    draw: Callable[[Any, Any, int, int, tuple[str, str]], None] | None = None
    runs_exact: bool = True
    runs_from_any_state: bool = True


@cache
def _all_kinds() -> dict[str, TheoryKind]:
    return {record.kind: record for record in find_records(f"{__package__}.kinds", "KIND", TheoryKind)}


def kind_of(found: Realisation) -> TheoryKind:
    """The record of a realisation's kind; `TypeError` where its file is missing."""
    record = _all_kinds().get(found.kind)
    if record is None:
        raise TypeError(f"{__package__}.kinds has no file for realisations of kind {found.kind}")
    return record


def require_run(found: Realisation, dtype: str, start: object, *, margins: bool = False) -> None:
    """`InputError` where realisations of this kind do not run so.

    Args:
        found: the realisation.
        dtype: a float format, or `exact`.
        start: the state to begin with, by index or label; None for the automaton's start.
        margins: whether margins are to be followed, for a picture.
    """
    record = kind_of(found)
    wrong = ["`dtype` exact"] * (dtype == "exact" and not record.runs_exact)
    wrong += ["`start`"] * (start is not None and not record.runs_from_any_state)
    wrong += ["`picture`"] * (margins and record.margins is None)
    if wrong:
        noun = all_kinds()[found.kind].noun
        raise InputError(
            f"{found.automaton.name}: {noun} (kind {found.kind}) has no {' nor '.join(wrong)}: leave it out"
        )
