"""What theory does with each kind of realisation: one record a kind, found by the files of `kinds/`.

`run`, `full_certificate`, `prove`, `plan` and the pictures ask the record of the realisation's kind; nothing else here asks
which kind one is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from ..constructions._realisation import Realisation
from ..foundation._registry import find_records


@dataclass(frozen=True)
class TheoryKind:
    """How realisations of a kind are stepped, run, certified in floats, drawn and proved.

    Args:
        kind: name of the kind, as `Realisation.kind`.
        stepper: `(found, dtype, start)`: a `Stepper` in a float format or `exact`, from a state's index (None: the
            start).
        run: `(found, words, **options)`: the report of `run`, which has the same options.
        complete: `(found, document)`: the certificate with what holds in rounded arithmetic beside it.
        horizons: `(found, max_codes)`: certified lengths by dtype, accepted by the checker, of what is not integer;
            None where there are none, or where a head has more codes.
        margins: `(found, words, dtype, start)`: positions and the least read-out margin after each token; None where
            no margin is followed.
        draw: `(found, path, max_letters, max_dim, options)`: writes the picture; None where there is none. `options`: what
            the user calls the two limits.
        machine: `(found, answers, arithmetic)`: what the search of `prove` runs.
        proof: `(found, automaton, arithmetic, max_states, max_seconds)`: a proof without a search of states, or None.
        digest: what the digest of a search calls the kind.
    """

    kind: str
    stepper: Callable[[Any, str, int | None], Any]
    run: Callable[..., Any]
    complete: Callable[[Any, dict[str, Any]], dict[str, Any]]
    horizons: Callable[[Any, int], dict[str, int | None] | None]
    machine: Callable[[Any, Any, Any], Any]
    proof: Callable[[Any, Any, Any, int, float | None], Any]
    digest: str
    margins: Callable[[Any, Any, str, int | None], Any] | None = None
    draw: Callable[[Any, Any, int, int, tuple[str, str]], None] | None = None


@cache
def _all_kinds() -> dict[str, TheoryKind]:
    return {record.kind: record for record in find_records(f"{__package__}.kinds", "KIND", TheoryKind)}


def kind_of(found: Realisation) -> TheoryKind:
    """The record of a realisation's kind; `TypeError` where its file is missing."""
    record = _all_kinds().get(found.kind)
    if record is None:
        raise TypeError(f"{__package__}.kinds has no file for realisations of kind {found.kind}")
    return record
