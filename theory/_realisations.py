"""What stands for a realisation wherever one is wanted: itself, its certificate as data, or the path of one.

A certificate is checked by the stand-alone checker of its kind before anything is read from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

from ..constructions._document import FORMAT, as_plain, is_certificate, read_document
from ..constructions._lrnn import LRNN, as_table, table_of
from ..constructions._realisation import Realisation, all_kinds, realisation_from_certificate
from ..constructions.automata._automaton import Automaton
from ..foundation._errors import InputError
from ..foundation._files import is_there, path_of, shown_path
from ._check import check

RealisationLike: TypeAlias = "Realisation | Mapping[str, Any] | str | PathLike[str]"
"""Whatever `realisation_of` takes."""
TAKEN = "a construction, its certificate, or the path of a certificate"

HOLDS = {
    "bound": "lower bounds",
    "impossible": "the proof that a layer cannot follow an automaton",
    "equivalent": "a model's stored numbers",
}
"""What a certificate of a kind holds in place of a construction; `equivalent` only where it is not bit-exact."""


def lrnn_of(path: str) -> LRNN:
    """The LRNN of a certificate file: kind table or horizon, or a bit-exact one of kind equivalent, which holds a whole table.

    `InputError` for a certificate without one, and for an invalid one.
    """
    return require_table(realisation_of(path), path)


def require_table(found: Realisation, name: str, theorem: str | None = None) -> LRNN:
    """What a certificate of this name constructs, as a table; `InputError` where it has none.

    `theorem`: the construction that the error advises; None for one whose table has GH factors.
    """
    table = as_table(found)
    if table is None:
        raise InputError(
            f"{name}: a certificate of kind {found.kind} holds no table of a linear RNN; one of kind table or horizon does: "
            f"construct {found.automaton.name} with `theorem` {theorem or found.table_theorem}"
        )
    return table


def table_from(model: RealisationLike, argument: str, instead: str | None = None) -> LRNN:
    """The table that something stands for, see `realisation_of`; `InputError` for another kind of realisation, with a fix.

    Args:
        model: a realisation; a certificate as data; or the path of one.
        argument: name of the caller's argument, for the error.
        instead: advice with which the refusal ends; by default the construction that gives a table.
    """
    found = realisation_of(model, argument)
    return table_of(
        found, f"a table is needed; {instead or f'construct it with `theorem` {found.table_theorem}'}"
    )


def realisation_of(model: RealisationLike, argument: str = "model") -> Realisation:
    """The realisation that something stands for.

    Args:
        model: a realisation, which is returned as it is; a certificate as data; or the path of one.
        argument: name of the caller's argument, for the error.

    Raises:
        InputError: it is none of these, there is no such file, or the certificate is invalid or constructs nothing.
    """
    if isinstance(model, Realisation):
        return model
    if isinstance(model, str | PathLike):
        path = str(path_of(model, argument, TAKEN))
        return realisation_in(_read(path), path)
    if isinstance(model, Mapping):
        if not is_certificate(model):
            raise InputError(
                f'`{argument}` is no certificate (its "format" must be "{FORMAT}"): give {TAKEN}'
            )
        return realisation_in(model, f"`{argument}`")
    what = f"`{argument}` is of the type {type(model).__name__}: give {TAKEN}"
    if isinstance(model, Automaton):
        what += "; `construct` makes a construction of an automaton"
    raise InputError(what)


def realisation_in(certificate: Mapping[str, Any], name: str) -> Realisation:
    """What a certificate constructs, which is checked first; `name` is what errors call it."""
    return realisation_from_certificate(_require_valid(certificate, name), name)


def list_kinds() -> str:
    """The kinds of certificates that hold a construction in every case, in words: `blocks, chain, delay or table`."""
    # a certificate of kind equivalent holds one only where it is bit-exact
    kinds = [k for record in all_kinds().values() for k in (record.kind, *record.reads) if k not in HOLDS]
    return f"{', '.join(kinds[:-1])} or {kinds[-1]}"


def valid_document(path: str) -> Mapping[str, Any]:
    """The document of a valid certificate that holds a construction; the file is read once."""
    return _require_valid(_read(path), path)


def _require_valid(certificate: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """The certificate, in plain objects. `InputError` unless it is valid and holds a construction; the kind is looked at first."""
    kind = certificate.get("kind")
    if kind in HOLDS and "layers" not in certificate:
        instead = "the model itself" if kind == "equivalent" else f"one of kind {list_kinds()}"
        raise InputError(
            f"{name}: this certificate of kind {kind} holds {HOLDS[kind]} and no linear RNN; give {instead}"
        )
    if (result := check(certificate)).verdict != "valid":
        raise InputError(
            f"{name}: the certificate is invalid ({result.reason}): `construct` makes valid ones"
        )
    return as_plain(certificate)


def _read(path: str) -> dict[str, Any]:
    path_of(path)
    require_there(path)
    if Path(path).suffix == ".npz":
        raise InputError(
            f"{path}: an .npz of matrices, and a certificate is needed; `prove` and `compare` take an .npz"
        )
    return read_document(path)


def require_there(path: str, tried: str = "") -> None:
    """`InputError` where there is no such file and the text looks like an automaton's name.

    Args:
        path: what was given.
        tried: what else it might have been, such as ` and no model folder`.
    """
    if not is_there(path) and not Path(path).suffix:
        raise InputError(
            f"{shown_path(path)}: no such file{tried}; for an automaton of this name give the result of "
            f"`construct({shown_path(path)!r})`"
        )
