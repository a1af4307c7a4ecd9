"""Saving a state search and going on with it: an `.npz` without pickle, written whole.

The file names its search by a digest of the automaton, the first state and the states after each letter, so that
a file of another search is refused; it is no proof of anything.
"""

from __future__ import annotations

import hashlib
import zipfile
from io import BytesIO
from pathlib import Path

import numpy as np

from ...constructions.errors import InputError
from ...constructions.files import write_bytes
from .state_search import Place, StateSearch

FORMAT = "mirrormata-search/1"


def save_search(search: StateSearch, path: str | Path, arithmetic: str) -> None:
    """Write what was found up to the last place that counts."""
    place = search.place
    stream = BytesIO()
    np.savez(
        stream,
        allow_pickle=False,
        format=np.array(FORMAT),
        search=np.array(search_digest(search, arithmetic)),
        place=np.array([place.count, place.done, place.level_end, place.depth, place.steps], dtype=np.int64),
        words=search.store.words[: place.count],
        parents=search.store.parents[: place.count],
        letters=search.store.letters[: place.count],
    )
    write_bytes(path, stream.getvalue())


def resume_search(search: StateSearch, path: str | Path, arithmetic: str) -> None:
    """Bring a fresh search to the place in a file; `InputError` for a file of another search or of no search."""
    try:
        with np.load(path, allow_pickle=False) as file:
            content = {key: file[key] for key in file.files}
        if str(content["format"]) != FORMAT:
            raise ValueError
        if str(content["search"]) != search_digest(search, arithmetic):
            raise InputError(
                f"{path}: the search of another model, automaton or arithmetic; name another file"
            )
        words, parents, letters = content["words"], content["parents"], content["letters"]
        count, done, level_end, depth, steps = (int(x) for x in content["place"])
        shapes = words.shape == (count, search.form.width) and len(parents) == len(letters) == count
        if not shapes or words.dtype != np.uint64 or not 0 <= done <= level_end <= count:
            raise ValueError
    except InputError:
        raise
    except (OSError, ValueError, KeyError, TypeError, zipfile.BadZipFile, EOFError):
        raise InputError(f"{path}: not a saved search; leave --resume out or name another file") from None
    rest = slice(1, None)  # the first node is there
    search.store.add(words[rest], parents[rest], letters[rest])
    if search.store.count != count:
        raise InputError(f"{path}: a damaged search, nodes occur twice; leave --resume out")
    search.place = Place(count, done, level_end, depth, steps)


def search_digest(search: StateSearch, arithmetic: str) -> str:
    """Tells searches apart, by what they do in their first step."""
    machine, automaton = search.machine, search.automaton
    first = machine.initial()
    digest = hashlib.sha256(arithmetic.encode())
    digest.update(np.ascontiguousarray(automaton.transitions).tobytes())
    digest.update(repr((automaton.start, list(automaton.outputs.ravel()))).encode())
    digest.update(first.tobytes())
    for x in range(len(automaton.letters)):
        digest.update(np.ascontiguousarray(machine.step(first, x)).tobytes())
    return digest.hexdigest()
