"""`automaton_from_spec`: `regex:PATTERN`, a file by its extension, or a name of the library."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches
from os import PathLike
from pathlib import Path

from ..foundation._arguments import require_choice, require_count, require_path, require_text
from ..foundation._errors import InputError
from ..foundation._files import is_file, is_folder, shown_path, system_errors
from ._document import begins_as_certificate
from .algebra.groups._finite_group import PRODUCTS, Product
from .automata._acceptor import MAX_STATES, with_start_text
from .automata._automaton import TRACKS, Automaton, Track, minimise
from .automata._format import Format, all_formats, format_of_file, list_extensions, refuse_certificate

_WANTED = "give a name of the library, such as parity, or the file of an automaton"
MAX_TRANSITIONS = 10_000_000
_PATTERN = re.compile(r"[()|*+?\[ ]")
"""Signs that patterns have, and names of the library hardly."""
_EXTENSION = re.compile(r"\.[A-Za-z][A-Za-z0-9]*")


def automaton_from_spec(
    spec: str | PathLike[str],
    *,
    alphabet: str | None = None,
    track: Track | None = None,
    start: str | None = None,
    group: str | None = None,
    split: str | None = None,
    product: Product = "left",
    max_states: int = MAX_STATES,
    max_transitions: int = MAX_TRANSITIONS,
) -> Automaton:
    """Build the automaton that a SPEC describes: a name from the library, a file, or a regular expression.

    Args:
        spec: `regex:PATTERN`; a file with the extension of a format (.att, .csv, .dot, .jff, .json, .mata, .txt and others), as a
            text or as a `Path`; otherwise a name from the library, such as `S5` or `mod:7`.
        alphabet: the letters of a `regex:PATTERN`: single characters in their order, `ascii`, `printable` or `bytes`, or a file with
            one letter a line. Without it they are those of the pattern, see `from_regex`.
        track: `state` keeps every reachable state, `output` merges states that no word tells apart; by default `output` for regular
            expressions and nondeterministic files, else `state`.
        start: the text of the start state's label, if it differs from the one in the file or of the name.
        group: name of the group of a word-problem `.csv`, if the file's name does not contain it.
        split: the sign between several letters of one label in a drawn automaton (`.dot`, `.gv`, `.jff`), or `none` where each label is
            one letter as it stands.
        product: order of the product in the word problem of a group: `left` (the state y becomes x·y on letter x) or
            `right` (y·x). Other automata do not depend on it.
        max_states: the largest number of states that determinisation or a named automaton may have.
        max_transitions: the largest number of transitions (letters times states) of a named automaton.

    Returns:
        The automaton; its `notes` say what was changed when it was read, such as states that were dropped.

    Raises:
        InputError: the SPEC names nothing, or the file or pattern is wrong; the message names the place and a fix.
        LimitError: the automaton is larger than `max_states` or `max_transitions`.

    Examples:
        >>> automaton_from_spec("mod:7").letters
        ('0', '1')
        >>> automaton_from_spec("regex:(ab)*").states
        (0, 1, 2)
    """
    spec = require_path("spec", spec, "a SPEC such as 'S5', or the path of a file")
    for option, text in (("alphabet", alphabet), ("start", start), ("group", group), ("split", split)):
        if text is not None:
            require_text(option, text)
    if track is not None:
        require_choice("track", track, TRACKS)
    require_choice("product", product, PRODUCTS)
    require_count("max_states", max_states, 1)
    require_count("max_transitions", max_transitions, 1)
    if "\0" in spec:
        raise InputError(f"{shown_path(spec)}: a NUL character is in no file's name; remove it")
    found = _format_of(spec)
    given: dict[str, object] = {"alphabet": alphabet, "group": group, "split": split}
    for option in ("alphabet", "group", "split"):
        if given[option] is not None and (found is None or option not in found.options):
            takers = " and ".join(dict.fromkeys(f.sources for f in all_formats() if option in f.options))
            raise InputError(f"{spec}: `{option}` is for {takers} only; remove it")
    if found is None:
        from .library._names import automaton_by_name

        try:
            automaton = automaton_by_name(
                spec, product=product, max_states=max_states, max_transitions=max_transitions
            )
        except InputError as error:
            if is_folder(spec):
                raise InputError(f"{spec}: is a folder, and an automaton is wanted: {_WANTED}") from None
            if is_file(spec):
                raise InputError(
                    f"{spec}: a file without an extension: name it after its format, {list_extensions()}"
                ) from None
            unknown = str(error).startswith(f"{spec!r} is not a name of the library")
            meant = nearest_prefix(spec, [f.prefix for f in all_formats() if f.prefix]) if unknown else None
            if meant is not None:
                raise InputError(f"{spec!r} is not a name of the library; did you mean {meant}?") from None
            if unknown and spec.isprintable() and _PATTERN.search(spec):
                joined = " A" if str(error).endswith("?") else "; a"
                raise InputError(
                    f"{error}{joined} pattern is written regex:{_split_prefix(spec)[1]}"
                ) from None
            raise
        return _restart_and_minimise(automaton, start, track or "state", automaton.name)
    given |= {"track": track, "start": start, "max_states": max_states}
    options = {
        option: value for option, value in given.items() if option in found.options and value is not None
    }
    with system_errors(spec):
        read: Automaton = found.read(spec, **options)
    # what the format's own reader did not take is done here
    rest_start = None if "start" in found.options else start
    rest_track: Track = "state" if "track" in found.options or track is None else track
    return _restart_and_minimise(read, rest_start, rest_track, spec)


def nearest_prefix(spec: str, prefixes: Sequence[str]) -> str | None:
    """The same SPEC with the nearest prefix, for one whose prefix is unknown.

    Args:
        spec: what was given.
        prefixes: the prefixes that are known, with their colons.

    Returns:
        The SPEC that may be meant; None where it has no prefix, or none is near.

    Examples:
        >>> nearest_prefix("re:(ab)*", ["regex:"])
        'regex:(ab)*'
    """
    head, rest = _split_prefix(spec)
    near = get_close_matches(head.lower(), [prefix.removesuffix(":") for prefix in prefixes], 1, 11 / 20)
    return f"{near[0]}:{rest}" if head and near and spec.isprintable() else None


def _split_prefix(spec: str) -> tuple[str, str]:
    """The letters before the first colon, and what follows it; no letters where there is no such prefix."""
    found = re.fullmatch("([A-Za-z][A-Za-z_-]*):(.+)", spec)
    return (found[1], found[2]) if found else ("", spec)


def _format_of(spec: str) -> Format | None:
    """The format of a prefix or a file; None for a name of the library; `InputError` for an unknown kind of file."""
    if re.match(r"[a-z]+:", spec):  # else no format's file is loaded for a name such as S5
        prefixed = next((f for f in all_formats() if f.prefix and spec.startswith(f.prefix)), None)
        if prefixed is not None:
            return prefixed
    path = Path(spec)
    suffix = path.suffix.lower()
    if suffix and is_file(path) and begins_as_certificate(path):
        raise refuse_certificate(spec)
    found = format_of_file(path) if suffix else None
    if found is not None:
        return found
    if ("/" in spec or spec in (".", "..")) and is_folder(path):
        raise InputError(f"{spec}: is a folder, a file is needed")
    if _EXTENSION.fullmatch(suffix) or ("/" in spec and is_file(path)):
        raise InputError(f"{spec}: the kind of file {suffix!r} is not known; known are {list_extensions()}")
    return None


def _restart_and_minimise(automaton: Automaton, start: str | None, track: Track, name: str) -> Automaton:
    """From the start state with this text, and minimised by outputs where that is wanted."""
    if start is not None:
        automaton = with_start_text(automaton, start, name)
    return minimise(automaton) if track == "output" and not automaton.keeps_points else automaton
