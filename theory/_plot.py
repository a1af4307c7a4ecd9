"""`plot`: the picture of whatever has one: an automaton, a realisation or its certificate, a run, eigenvalues, claims.

What is drawn of a type is one function here, registered with `register_picture`. A package above registers the pictures of
its own types in a file `_pictures.py`, which is loaded when an object of that package is to be drawn.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import singledispatch
from importlib import import_module
from importlib.util import find_spec
from os import PathLike
from pathlib import Path
from typing import Any, overload

from ..constructions._conversions import ACCEPTED, as_automaton, is_automaton_like
from ..constructions._document import find_document, is_certificate
from ..constructions._realisation import Realisation, all_kinds
from ..foundation._arguments import require_count, require_path, show_typed
from ..foundation._errors import InputError
from ..foundation._files import MemoryFile
from ._horizon import full_certificate
from ._kinds import kind_of, require_run
from ._realisations import realisation_of
from .proofs._npz_model import NpzModel, load_npz_matrices
from .running._report import RunReport
from .running._run import run
from .running._words import words_of
from .spectra._model import ModelSpectrum, model_spectrum
from .verifying._registry import Registry

DRAWN = (
    f"what is drawn is {ACCEPTED}; a construction, a certificate or the path of one; an NpzModel or the path of an .npz; a "
    "ModelSpectrum, a Comparison, a Chart, or the claims of load_claims()"
)


@dataclass(frozen=True)
class Drawing:
    """A picture in memory, which notebooks display.

    Attributes:
        svg: the picture as SVG text.
    """

    svg: str = field(repr=False)

    def _repr_svg_(self) -> str:
        """The picture, for notebooks."""
        return self.svg


@overload
def plot(x: object, path: None = None, **options: Any) -> Drawing: ...
@overload
def plot(x: object, path: str | PathLike[str], **options: Any) -> None: ...
def plot(x: object, path: str | PathLike[str] | None = None, **options: Any) -> Drawing | None:
    """Draw an object to a file or for a notebook. The same object gives the same bytes.

    Args:
        x: the object to draw. An automaton, in any form that `as_automaton` accepts, is drawn as a graph (`draw_automaton`). A
            construction, its certificate or the path of one is drawn by its reflections or, if it has several layers, as an
            overview (`draw_construction`); with the option `words`, the margin of decoding over time in a run is drawn
            (`draw_run`). For a `ModelSpectrum`, an `NpzModel` or the path of an `.npz`, the eigenvalues are drawn with the unit
            disc (`draw_spectrum`); for a `Comparison`, those of learned and constructed letters. A `Chart` of a report is drawn
            as it is. For the claims of `load_claims`, a graph shows which claim builds on which (`draw_claims`).
        path: an `.svg` or `.png` file, which is written whole or not at all; None to return a `Drawing`.
        **options: for an automaton, `max_drawn`, the largest number of states, and `sink`. For a construction, `max_letters` and `max_dim`, the
            largest number of letters and the largest dimension of a head; or `words`, `dtype` (by default bf16) and `start`, as
            for `run`. For eigenvalues, `max_heads` and `max_colours`. For a comparison, `max_letters`. All limits are 1 or more.

    Returns:
        None if a file was written, otherwise the picture, which a notebook displays.

    Raises:
        InputError: `x` cannot be drawn, an option does not apply to it, or `path` has another extension.
        LimitError: the picture would have too many parts.

    Examples:
        >>> plot("mod:3")
        Drawing()
    """
    if isinstance(x, str | PathLike):
        x = require_path("x", x, f"something with a picture; {DRAWN}")
    draw = _picture_of(x)
    taken = list(inspect.signature(draw).parameters)[2:]
    if unknown := [name for name in options if name not in taken]:
        raise InputError(f"`{unknown[0]}` is no option of this picture; it has {', '.join(taken) or 'none'}")
    for name, value in options.items():
        if name.startswith("max_"):
            require_count(name, value, 1)
    if path is not None:
        draw(x, require_path("path", path, "the path of an .svg or .png file, or None"), **options)
        return None
    memory = MemoryFile("picture.svg")
    draw(x, memory, **options)
    return Drawing(memory.content.decode("utf-8"))


Draw = Callable[..., None]
"""`(x, path, **options)`: draws x to an .svg or .png file, which may be a `MemoryFile`."""


@singledispatch
def _draw(x: Any, path: str, *, max_drawn: int = 200, sink: bool | None = None) -> None:
    """An automaton, in any form."""
    from .pictures._automaton import draw_automaton

    draw_automaton(as_automaton(x, argument="x"), path, max_drawn=max_drawn, sink=sink)


register_picture = _draw.register
"""Decorator of a function `(x: Type, path: str, **options)` that draws objects of the type."""


def _picture_of(x: object) -> Draw:
    """The function that draws an object; of a path or a certificate that which draws what it holds."""
    if isinstance(x, RunReport):
        raise InputError(
            "`x` is the report of a run, which keeps no margins: give plot(model, words=..., dtype=...)"
        )
    _load_pictures_beside(type(x))
    found = _draw.dispatch(type(x))
    if found is _draw.dispatch(object) and not is_automaton_like(x):
        raise InputError(f"`x` {show_typed(x)} and has no picture; {DRAWN}")
    if isinstance(x, str) and _is_certificate(x):
        return _draw_certificate
    if isinstance(x, str) and Path(x).suffix == ".npz":
        return _draw_npz
    if is_certificate(x):
        return _draw_certificate
    return found


def _load_pictures_beside(kind: type) -> None:
    """Let the package of a type register its pictures: the file `_pictures.py` of `mirrormata.models`, for one."""
    ours = __name__.partition(".")[0]
    for base in kind.__mro__:
        parts = base.__module__.split(".")
        name = ".".join([*parts[:2], "_pictures"])
        if parts[0] == ours and len(parts) > 2 and find_spec(name) is not None:
            import_module(name)


def _is_certificate(path: str) -> bool:
    return find_document(path) is not None


def _draw_certificate(
    x: Any,
    path: str,
    *,
    max_letters: int = 12,
    max_dim: int = 40,
    words: Any = None,
    dtype: str = "bf16",
    start: int | None = None,
) -> None:
    """What a certificate constructs."""
    found = realisation_of(x, "x")
    draw_realisation(
        found, path, max_letters=max_letters, max_dim=max_dim, words=words, dtype=dtype, start=start
    )


def _draw_npz(x: Any, path: str, *, max_heads: int = 12, max_colours: int = 8) -> None:
    """The eigenvalues of the matrices in a file."""
    spectrum = model_spectrum(load_npz_matrices(x), name=str(x))
    draw_model_spectrum(spectrum, path, max_heads=max_heads, max_colours=max_colours)


@register_picture
def draw_realisation(
    x: Realisation,
    path: str,
    *,
    max_letters: int = 12,
    max_dim: int = 40,
    words: Any = None,
    dtype: str = "bf16",
    start: int | None = None,
) -> None:
    """Its mirrors or layers; with words the margin of decoding over their run."""
    if words is None:
        from .pictures._construction import draw_construction

        draw_construction(x, path, max_letters=max_letters, max_dim=max_dim)
        return
    from .pictures._run import draw_run

    margins = kind_of(x).margins
    if margins is None:
        noun = all_kinds()[x.kind].noun
        raise InputError(f"{x.automaton.name}: no margin is followed of {noun}: leave `words` out")
    require_run(x, dtype, start)
    read = words_of(words, x.automaton)
    report = run(x, read, dtype=dtype, start=start)
    # the proof of a horizon counts the rounding of the state at the automaton's start
    lengths = full_certificate(x).get("horizon", {}).get("lengths", {}) if start is None else {}
    series = margins(x, read, report.dtype, start)
    name = report.dtype
    draw_run(
        {name: series},
        {name: lengths.get(name)},
        {name: report.first_error},
        path,
        title=f"{x.automaton.name}: the margin of decoding over time",
    )


@register_picture
def draw_model_spectrum(x: ModelSpectrum, path: str, *, max_heads: int = 12, max_colours: int = 8) -> None:
    """Eigenvalues on the unit disc."""
    from .spectra._picture import draw_spectrum

    draw_spectrum(x, path, max_heads=max_heads, max_colours=max_colours)


@register_picture
def draw_npz_model(x: NpzModel, path: str, *, max_heads: int = 12, max_colours: int = 8) -> None:
    """Eigenvalues of its matrices on the unit disc."""
    draw_model_spectrum(model_spectrum(x, name=x.name), path, max_heads=max_heads, max_colours=max_colours)


@register_picture
def draw_registry(x: Registry, path: str) -> None:
    """Which claim builds on which, with the statuses that their files state."""
    from .verifying._picture import draw_claims

    claims = [entry.claim for entry in x]
    draw_claims(claims, {claim.id: claim.expected for claim in claims}, path)
