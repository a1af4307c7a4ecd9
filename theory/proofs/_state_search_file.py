"""Saving a state search and going on with it: an `.npz` without pickle, written whole.

The file bears the digest of the proof that it belongs to (`identity`), so the search of another model, automaton or
arithmetic is refused, and one of its own content, so that damage is noticed. Each pair is computed again from the one that it
was found from, its answer is looked at again, and lengths are those of the words. What the file says of letters that were
followed without a new pair is believed for `unknown` and for how short a wrong word is, and the proof says so
(`Proof.resumed`); to check it would be the whole search again. `equivalent` is checked like any other.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...foundation._errors import InputError
from ...foundation._files import write_bytes
from .._npz_file import ArrayHeader, is_text, read_npz
from ._proof import digest_of
from ._state_search import PIECE, OutOfTimeError, Place, StateSearch, Words

FORMAT = "mirrormata-search/2"
OLDER = "mirrormata-search/1"
"""Searches that did not look at the answer in the first state."""
KEYS = ("format", "search", "place", "start_is_read", "words", "parents", "letters")

_ARRAYS = {
    "place": np.int64, "start_is_read": np.bool_, "words": np.uint64, "parents": np.int32, "letters": np.int32,
}  # fmt: skip
"""The types of the arrays that are no texts."""


def save_search(search: StateSearch, path: str | Path, digest: str) -> None:
    """Write what was found up to the last place that counts. `digest`: of the proof that is searched for."""
    place = search.place
    content = {
        "format": np.array(FORMAT),
        "search": np.array(digest),
        "place": np.array(
            [place.count, place.done, place.level_end, place.depth, place.steps], dtype=np.int64
        ),
        "start_is_read": np.array(search.start_is_read),
        "words": search.store.words[: place.count],
        "parents": search.store.parents[: place.count],
        "letters": search.store.letters[: place.count],
    }
    stream = BytesIO()
    np.savez(stream, allow_pickle=False, content=np.array(_content_digest(content)), **content)
    write_bytes(path, stream.getvalue())


def _content_digest(content: Mapping[str, NDArray[Any]]) -> str:
    return digest_of(content[key] for key in KEYS)


def resume_search(search: StateSearch, path: str | Path, digest: str, deadline: float | None = None) -> None:
    """Bring a fresh search to the place in a file; `InputError` for a file of another search or of no search.

    `deadline`: in seconds of `time.monotonic`; `OutOfTimeError` beyond it, and then the search has not been touched.
    """
    none = InputError(f"{path}: not a saved search; leave `resume` out or name another file")

    def check(headers: Mapping[str, ArrayHeader]) -> None:
        if not all(is_text(headers[key]) for key in ("format", "search", "content") if key in headers):
            raise none
        if not set(_ARRAYS) <= set(headers):  # of another version, which is told from its format
            return
        # sizes that fit each other and types that are expected, before anything is read
        count, width = headers["parents"].shape[:1], headers["words"].shape[1:2]
        sizes = {"words": (*count, *width), "parents": count, "letters": count, "place": (5,)}
        wanted = {key: ArrayHeader(sizes.get(key, ()), np.dtype(kind)) for key, kind in _ARRAYS.items()}
        if not count or not width or any(headers[key] != header for key, header in wanted.items()):
            raise none

    content = read_npz(path, (*KEYS, "content"), none, check_headers=check)
    form = str(content.get("format"))
    if form == OLDER:
        raise InputError(
            f"{path}: saved by version 0.1, whose searches did not look at the answer in the first state: name a new file"
        )
    if form != FORMAT or set(content) != {*KEYS, "content"}:
        raise none
    damaged = InputError(f"{path}: a damaged search; name another file")
    if str(content["content"]) != _content_digest(content):
        raise damaged
    if str(content["search"]) != digest:
        raise InputError(f"{path}: the search of another model, automaton or arithmetic; name another file")
    words, parents, letters = content["words"], content["parents"], content["letters"]
    count, done, level_end, depth, steps = content["place"].tolist()
    if words.shape != (count, search.form.width) or count < 1:
        raise none
    inside = 0 <= done <= level_end <= count and depth >= 0 and steps >= 0
    # every pair but the first was found from an earlier one
    earlier = (parents[1:] >= 0) & (parents[1:] < np.arange(1, count)) & (letters[1:] >= 0)
    if not inside or not earlier.all() or (letters >= len(search.automaton.letters)).any():
        raise damaged
    words = _step_again(search, words, parents, letters, damaged, deadline)
    # the length of the word that led to each pair
    lengths = np.zeros(count, dtype=np.int64)
    for i, parent in enumerate(parents.tolist()[1:], 1):
        lengths[i] = lengths[parent] + 1
    # pairs whose words have at most `depth` letters, and fewer than `depth`
    counted = int(np.searchsorted(lengths, depth, side="right"))
    begun = int(np.searchsorted(lengths, depth, side="left"))
    # lengths rise, the level ends with them, and what is followed ends in that level
    if (np.diff(lengths) < 0).any() or level_end != counted or not begun <= done <= level_end:
        raise damaged
    rest = slice(1, None)  # the first pair is there
    search.store.add(words[rest], parents[rest], letters[rest])
    # no pair stands in the file twice, and the first is the initial one
    if search.store.count != count or not np.array_equal(words[0], search.store.words[0]):
        raise damaged
    search.place = Place(count, done, level_end, depth, steps)
    search.start_is_read = bool(content["start_is_read"])


def _step_again(
    search: StateSearch,
    words: Words,
    parents: NDArray[np.int32],
    letters: NDArray[np.int32],
    damaged: InputError,
    deadline: float | None,
) -> Words:
    """The pairs, each computed again from the one that it was found from, with its answer; `damaged` where they are others.

    States of exact numbers are numbered as they occur in a run, so there the file's numbers give way to the new ones.
    """
    form, delta = search.form, search.automaton.transitions
    numbered = bool(getattr(search.machine, "numbers_states", False))
    size = min(PIECE, max(search.at_once // 16, 1))  # between two looks at the clock
    words = words.copy()
    words[0] = search.store.words[0]
    first = 1
    while first < len(words):
        stop = len(words)
        if numbered:  # the new numbers of all parents must be known
            # up to the first pair whose parent has no new number yet
            stop = first + int(np.argmax(np.append(parents[first:] >= first, True)))
        for start in range(first, stop, size):
            if deadline is not None and time.monotonic() > deadline:
                raise OutOfTimeError(start, len(words))
            part = slice(start, min(start + size, stop))
            before = words[parents[part]]
            again = np.empty_like(before)
            # letter by letter: the step of the machine, the automaton's step, and the answer on the way
            for x in np.unique(letters[part]).tolist():
                here = np.flatnonzero(letters[part] == x)
                after = delta[x, form.states(before[here])]
                rows = search.machine.step(form.rows(before[here]), x)
                again[here] = form.pack(rows, after)
                read = np.full(len(here), x), form.states(before[here]), after
                if search.machine.first_wrong(rows, *read) >= 0:
                    raise damaged
            if not numbered and not np.array_equal(again, words[part]):
                raise damaged
            words[part] = again
        first = stop
    return words
