"""The words as a `.safetensors` file, whose metadata say what each is; docs/vectors.md specifies it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...foundation._errors import InputError
from ...foundation._files import parse_json, path_of, read_bytes, shown_path, write_bytes
from ._exact import FORMATS, in_float64
from ._families import FAMILIES, all_words, families_of
from ._file_checks import UNSIGNED, digest_of, require_digest, require_sound
from ._recurrence import answer_of, needs_of
from ._word import OPERATORS, Word, can_run, float_arrays

FORMAT = "mirrormata-vectors/3"
Arrays = dict[str, NDArray[Any]]


def write_vectors(path: str | Path) -> int:
    """Write all words with their answers as a `.safetensors` file; the same bytes at each call.

    Every tensor `FAMILY/WORD/NAME` is float32 and exact, but for the gates' logarithms `g` (float64, rounded once) and
    `cu_seqlens` (int64). The entry `mirrormata` of the metadata is JSON with `format`, `sha256`, `operators`, `must pass`,
    `families` and `words`.

    Args:
        path: the file, which ends in `.safetensors`.

    Returns:
        The number of words.

    Raises:
        InputError: the file has another ending, or cannot be written.

    Examples:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     write_vectors(f"{folder}/vectors.safetensors") > 80
        True
    """
    from safetensors.numpy import save

    file = path_of(path)
    if file.suffix != ".safetensors":
        raise InputError(
            f"{shown_path(path)}: vectors are written as a .safetensors file; give it this ending"
        )
    words = all_words()
    tensors: Arrays = {}
    for word in words:
        tensors |= {f"{word.family}/{word.name}/{name}": x for name, x in arrays_of(word).items()}
    about = {
        "format": FORMAT,
        "sha256": UNSIGNED,
        "operators": dict(OPERATORS),
        "must pass": {name: families_of(name) for name in OPERATORS},
        "families": {f.name: {"holds": f.holds, "sees alone": f.alone} for f in FAMILIES},
        "words": [facts_of(word) for word in words],
    }
    # one entry only: the order of several would change from run to run
    text = json.dumps(about)
    signed = text.replace(UNSIGNED, digest_of(text, tensors))
    write_bytes(file, save(tensors, metadata={"mirrormata": signed}))
    return len(words)


def read_vectors(path: str | Path) -> tuple[list[dict[str, Any]], dict[str, Arrays]]:
    """The words of a file of vectors.

    Args:
        path: the file, as `write_vectors` writes it.

    Returns:
        What the metadata say of each word, and the arrays of each word by `FAMILY/WORD`, then by their own names.

    Raises:
        InputError: it is no such file, its digest is that of something else, or its metadata do not fit its tensors.

    Examples:
        >>> import tempfile
        >>> from mirrormata.kernels import read_vectors, write_vectors
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     words = write_vectors(f"{folder}/vectors.safetensors")
        ...     facts, arrays = read_vectors(f"{folder}/vectors.safetensors")
        >>> facts[0]["family"], arrays["scale/scale=1"]["q"].shape
        ('integers', (1, 5, 1, 4))
    """
    from safetensors.numpy import load

    data, shown = read_bytes(path), shown_path(path)
    no_vectors = f"{shown}: no file of vectors; `mirrormata vectors` writes one"
    try:
        length = int.from_bytes(data[:8], "little")
        text = parse_json(data[8 : 8 + length].decode("utf-8"), shown)["__metadata__"]["mirrormata"]
        about = parse_json(text, shown)
        tensors = load(data)
    except Exception:  # whatever safetensors raises where a header is wrong
        raise InputError(no_vectors) from None
    if not isinstance(about, dict):
        raise InputError(no_vectors)
    if about.get("format") != FORMAT:
        raise InputError(f"{shown}: its format is not {FORMAT}; write it again with `mirrormata vectors`")
    arrays: dict[str, Arrays] = {}
    for name, x in tensors.items():
        word, _, own = name.rpartition("/")
        arrays.setdefault(word, {})[own] = x
    try:
        require_digest(text, about, tensors)
        require_sound(about, arrays)
    except InputError as error:
        raise InputError(f"{shown}: {error}; write it again with `mirrormata vectors`") from None
    words: list[dict[str, Any]] = about["words"]
    return words, arrays


def arrays_of(word: Word) -> Arrays:
    """The tensors of a word by their names in the file."""
    answer = answer_of(word)
    exact: Arrays = {name: np.asarray(x) for name, x in float_arrays(word).items()}
    exact |= {"o": in_float64(answer.o), "final_state": in_float64(answer.finals)}
    found: Arrays = {name: np.ascontiguousarray(x, dtype=np.float32) for name, x in exact.items()}
    gate = word.log_gate(FORMATS["fp64"])
    if gate is not None:
        found["g"] = np.ascontiguousarray(in_float64(gate))
    if word.cu_seqlens is not None:
        found["cu_seqlens"] = np.array(word.cu_seqlens, dtype=np.int64)
    return found


def facts_of(word: Word) -> dict[str, Any]:
    """What the metadata say of a word."""
    needs = needs_of(word)
    spans = {**word.spans, "state": needs.state, "outputs": needs.outputs}
    return {
        "family": word.family,
        "name": word.name,
        "operator": word.operator,
        "must pass": [name for name in OPERATORS if can_run(name, word)],
        "scale": float(word.scale),
        "householders": word.householders,
        "calls": [[call.start, call.end, call.after] for call in word.calls],
        "bound with g": float(word.bound),
        "bound with a": float(word.bound_linear),
        "products": list(word.products),
        "bits": {name: [span.precision, span.low, span.high] for name, span in spans.items()},
    }
