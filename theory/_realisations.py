"""What stands for a realisation wherever one is wanted: itself, its certificate as data, or the path of one.

A certificate is checked by the stand-alone checker of its kind before anything is read from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike, fspath
from pathlib import Path
from typing import Any, TypeAlias

from ..constructions._document import FORMAT, read_document
from ..constructions._lrnn import LRNN, as_table
from ..constructions._realisation import Realisation, realisation_from_certificate
from ..constructions.automata._automaton import Automaton
from ..foundation._errors import InputError
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
    found = realisation_of(path)
    table = as_table(found)
    if table is None:
        raise InputError(
            f"{path}: a certificate of kind {found.kind} holds no table of a linear RNN; one of kind table or horizon does"
        )
    return table


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
        path = fspath(model)
        return realisation_from_certificate(valid_document(path), path)
    if isinstance(model, Mapping):
        return _constructed_by(dict(model), argument)
    what = f"`{argument}` is of the type {type(model).__name__}: give {TAKEN}"
    if isinstance(model, Automaton):
        what += "; `construct` makes a construction of an automaton"
    raise InputError(what)


def _constructed_by(certificate: dict[str, Any], argument: str) -> Realisation:
    """What a certificate given as data constructs."""
    if certificate.get("format") != FORMAT:
        raise InputError(f'`{argument}` is no certificate (its "format" must be "{FORMAT}"): give {TAKEN}')
    if "layers" not in certificate and certificate.get("kind") != "delay":
        raise InputError(
            f"`{argument}` is a certificate of kind {certificate.get('kind')}, which holds no table of a linear RNN: give one "
            "of kind table, horizon or delay"
        )
    if (result := check(certificate)).verdict != "valid":
        raise InputError(f"`{argument}` is an invalid certificate ({result.reason}): construct it again")
    return realisation_from_certificate(certificate, argument)


def valid_document(path: str) -> dict[str, Any]:
    """The document of a valid certificate that holds a construction; the kind is looked at first."""
    document = _read(path)
    kind = document.get("kind")
    if kind in HOLDS and "layers" not in document:
        instead = "one of kind table or horizon, as `mirrormata construct -o` writes it"
        raise InputError(
            f"{path}: this certificate of kind {kind} holds {HOLDS[kind]} and no table of a linear RNN; give "
            f"{'the model itself' if kind == 'equivalent' else instead}"
        )
    if (result := check(path)).verdict != "valid":
        raise InputError(
            f"{path}: the certificate is invalid ({result.reason}): `mirrormata construct -o` writes valid ones"
        )
    return document


def _read(path: str) -> dict[str, Any]:
    require_there(path)
    if Path(path).suffix == ".npz":
        raise InputError(
            f"{path}: an .npz of matrices, and a certificate is needed; `mirrormata prove` and `mirrormata compare` take "
            "an .npz"
        )
    return read_document(path)


def require_there(path: str) -> None:
    """`InputError` where there is no such file and the text looks like an automaton's name."""
    if not Path(path).exists() and not Path(path).suffix:
        raise InputError(
            f"{path}: no such file; for an automaton of this name write its certificate first with "
            f"`mirrormata construct {path} -o FILE`"
        )
