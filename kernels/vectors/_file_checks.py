"""What a file of vectors must hold to be one: a digest of all that it says, and metadata that fit its tensors."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...foundation._arguments import show_value
from ...foundation._errors import InputError
from ._exact import FORMATS

Arrays = Mapping[str, NDArray[Any]]
UNSIGNED = "0" * 64
"""What stands in place of the digest in the text of which it is taken."""
CODES = {"float32": "F32", "float64": "F64", "int64": "I64"}
"""The dtypes of the tensors, as `.safetensors` names them."""
OWN_DTYPES = {"g": "float64", "cu_seqlens": "int64"}
"""The tensors that are not float32."""
ENTRIES = (
    "family", "name", "operator", "must pass", "scale", "householders", "calls", "bound with g", "bound with a", "products",
    "bits",
)  # fmt: skip
SPANS = ("inputs", "beta", "gates", "state", "outputs")


def digest_of(text: str, tensors: Arrays) -> str:
    """The SHA-256 digest of a file of vectors, 64 hexadecimal digits.

    It is taken of the text of the metadata in UTF-8, with 64 zeros in place of the digest; then, for each tensor in the order
    of the names' characters, of a line `NAME DTYPE SIZE,SIZE,...` that ends in a line feed, and of the tensor's bytes, little-endian.

    Args:
        text: of the metadata's entry `mirrormata`, with `UNSIGNED` as `sha256`.
        tensors: by name.
    """
    found = hashlib.sha256(text.encode("utf-8"))
    for name, x in sorted(tensors.items()):
        found.update(f"{name} {CODES[x.dtype.name]} {','.join(map(str, x.shape))}\n".encode())
        found.update(np.ascontiguousarray(x, dtype=x.dtype.newbyteorder("<")).tobytes())
    return found.hexdigest()


def require_digest(text: str, about: Mapping[str, Any], tensors: Arrays) -> None:
    """Refuse a file in which anything has changed since it was written.

    Args:
        text: of the metadata's entry `mirrormata`.
        about: what it says.
        tensors: by name.

    Raises:
        InputError: there is no digest, or it is that of something else.
    """
    for name, x in tensors.items():
        _require(x.dtype.name in CODES, f"the tensor {show_value(name)} has the dtype {x.dtype.name}")
    stated = about.get("sha256")
    _require(isinstance(stated, str) and len(stated) == 64, "`sha256` is no digest of 64 hexadecimal digits")
    assert isinstance(stated, str)
    _require(
        text.count(stated) == 1 and digest_of(text.replace(stated, UNSIGNED), tensors) == stated,
        "it was changed after it was written: its `sha256` is that of something else",
    )


def require_sound(about: Mapping[str, Any], tensors: Mapping[str, Arrays]) -> None:
    """Refuse metadata that do not say of each word what docs/vectors.md specifies, or that do not fit the tensors.

    Args:
        about: the metadata.
        tensors: by word, `FAMILY/NAME`, and then by their own names.

    Raises:
        InputError: an entry is missing, is of another kind, or contradicts the tensors.
    """
    for name in ("operators", "must pass", "families"):
        _require(isinstance(about.get(name), dict), f"`{name}` is no object")
    words = about.get("words")
    _require(isinstance(words, list) and bool(words), "`words` is no list of words")
    assert isinstance(words, list)
    seen = set()
    for i, fact in enumerate(words):
        where = f"word {i}"
        _require(isinstance(fact, dict), f"{where} is no object")
        for entry in ENTRIES:
            _require(entry in fact, f"{where} has no `{entry}`")
        _require_names(fact, where, about)
        where = f"{fact['family']}/{fact['name']}"
        _require(where not in seen, f"{where} stands twice among the words")
        _require(where in tensors, f"{where} has no tensors")
        seen.add(where)
        _require_numbers(fact, where)
        _require_tensors(fact, where, tensors[where])
    for where in tensors:
        _require(where in seen, f"the tensors of {show_value(where)} are those of no word")


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise InputError(what)


def _require_names(fact: Mapping[str, Any], where: str, about: Mapping[str, Any]) -> None:
    for name in ("family", "name", "operator"):
        text = fact[name]
        _require(isinstance(text, str) and "/" not in text, f"{where}: `{name}` is no text without /")
    _require(fact["family"] in about["families"], f"{where}: `family` is none of the families")
    _require(fact["operator"] in about["operators"], f"{where}: `operator` is none of the operators")
    for name, known in (("must pass", about["operators"]), ("products", FORMATS)):
        listed = fact[name]
        _require(
            isinstance(listed, list) and all(isinstance(x, str) and x in known for x in listed),
            f"{where}: `{name}` is no list of names that there are",
        )


def _require_numbers(fact: Mapping[str, Any], where: str) -> None:
    for name in ("scale", "bound with g", "bound with a"):
        _require(_is_number(fact[name]) and fact[name] >= 0, f"{where}: `{name}` is no number of at least 0")
    _require(
        _is_count(fact["householders"]) and fact["householders"] >= 1, f"{where}: `householders` is no count"
    )
    bits = fact["bits"]
    _require(
        isinstance(bits, dict) and sorted(bits) == sorted(SPANS), f"{where}: `bits` are not those of {SPANS}"
    )
    for span in bits.values():
        _require(_are_counts(span, 3), f"{where}: `bits` are not three whole numbers each")
    calls = fact["calls"]
    _require(isinstance(calls, list) and bool(calls), f"{where}: `calls` is no list of calls")
    for i, call in enumerate(calls):
        _require(
            _are_counts(call, 3) and 0 <= call[0] <= call[1] and -1 <= call[2] < i,
            f"{where}: call {i} is not [start, end, after] with start <= end and an earlier call",
        )


def _require_tensors(fact: Mapping[str, Any], where: str, arrays: Arrays) -> None:
    for name in ("q", "k", "v", "o", "final_state"):
        _require(name in arrays, f"{where} has no tensor {name}")
    for name, x in arrays.items():
        right = OWN_DTYPES.get(name, "float32")
        _require(x.dtype.name == right, f"{where}/{name} is {x.dtype.name} instead of {right}")
        _require(bool(np.isfinite(x).all()), f"{where}/{name} has a number that is not finite")
    _require(arrays["q"].ndim == 4 and arrays["v"].ndim == 4, f"{where}: q and v do not have four axes")
    B, T, H, K = arrays["q"].shape
    V, rows, N = arrays["v"].shape[3], T * fact["householders"], B
    if "cu_seqlens" in arrays:
        bounds = arrays["cu_seqlens"]
        _require(
            bounds.ndim == 1 and len(bounds) > 1 and B == 1 and bounds[0] == 0 and bounds[-1] == T
            and bool((bounds[1:] >= bounds[:-1]).all()),
            f"{where}: cu_seqlens are not bounds from 0 to {T}",
        )  # fmt: skip
        N = len(bounds) - 1
    gates = ((B, T, H), (B, T, H, K))
    calls = len(fact["calls"])
    shapes: dict[str, tuple[tuple[int, ...], ...]] = {
        "q": ((B, T, H, K),), "k": ((B, rows, H, K),), "v": ((B, rows, H, V),), "beta": ((B, rows, H),), "a": gates,
        "g": gates, "u": ((B, T, H, K),), "z": ((B, T, H, K),), "initial_state": ((N, H, K, V),),
        "cu_seqlens": ((N + 1,),), "o": ((B, T, H, V),), "final_state": ((calls, N, H, K, V),),
    }  # fmt: skip
    for name, x in arrays.items():
        _require(name in shapes, f"{where} has a tensor {show_value(name)} that no word has")
        wanted = " or ".join(str(list(shape)) for shape in shapes[name])
        _require(x.shape in shapes[name], f"{where}/{name} has shape {list(x.shape)} instead of {wanted}")
    for i, (_, end, _) in enumerate(fact["calls"]):
        _require(end <= T, f"{where}: call {i} ends at token {end} of {T}")


def _is_number(x: object) -> bool:
    return type(x) in (int, float) and math.isfinite(x)  # type: ignore[arg-type]


def _is_count(x: object) -> bool:
    return type(x) is int and abs(x) < 2**31


def _are_counts(x: object, number: int) -> bool:
    return isinstance(x, list) and len(x) == number and all(map(_is_count, x))
