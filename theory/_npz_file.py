"""`.npz` files of other people: read without pickle, and not before their headers say that they are small enough."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from ..foundation._errors import InputError
from ..foundation._files import system_errors

NPZ_FORMAT = "mirrormata-npz/1"
"""The text `format` of an `.npz` that this package writes; other people's, and those from before 0.2.0, have none."""
MAX_BYTES = 1 << 34
"""Most bytes of all arrays of a file together."""


@dataclass(frozen=True)
class ArrayHeader:
    """What an array's header says of it, before its numbers are read.

    Attributes:
        shape: its sizes.
        dtype: its type.
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]


def read_npz(
    path: str | Path,
    keys: Collection[str],
    refused: InputError,
    max_bytes: int = MAX_BYTES,
    check_headers: Callable[[Mapping[str, ArrayHeader]], None] | None = None,
) -> dict[str, NDArray[Any]]:
    """The arrays of a file that have one of these names. Others are passed over.

    Args:
        path: the file.
        keys: names of the arrays.
        refused: the error for what is not a zip file of plain arrays.
        max_bytes: most bytes of all these arrays together.
        check_headers: called with the headers of all these arrays before any of them is read; it raises `InputError` for
            types and shapes that are not wanted.

    Raises:
        InputError: `refused`; the file cannot be read; two arrays have one name; an array's header promises another size
            than the file holds; there are more than `max_bytes` in all; or what `check_headers` raises.
    """
    arrays: dict[str, NDArray[Any]] = {}
    try:
        with zipfile.ZipFile(path) as file:
            wanted: dict[str, zipfile.ZipInfo] = {}
            for info in file.infolist():
                key = info.filename.removesuffix(".npy")
                if key in wanted:
                    raise InputError(
                        f"{path}: two arrays have the name {key}: write it again with numpy.savez"
                    )
                if key in keys:
                    wanted[key] = info
            total = sum(info.file_size for info in wanted.values())
            if total > max_bytes:
                raise InputError(f"{path}: its arrays have {total:,} bytes; at most {max_bytes:,} are read")
            headers: dict[str, ArrayHeader] = {}
            for key, info in wanted.items():
                with file.open(info) as stream:
                    shape, kind, header = _header(stream)
                    size = prod(shape) * kind.itemsize
                    if kind.hasobject:
                        raise refused
                    if header + size != info.file_size:
                        raise InputError(
                            f"{path}: {key} promises an array of shape {shape} and type {kind}, which is not what the "
                            "file holds: write it again with numpy.savez"
                        )
                headers[key] = ArrayHeader(shape, kind)
            if check_headers is not None:
                check_headers(headers)
            for key, info in wanted.items():
                with file.open(info) as stream:
                    arrays[key] = np.lib.format.read_array(stream, allow_pickle=False)
    except InputError:
        raise
    except OSError as error:
        if error.errno is None:  # an array that ends too early
            raise refused from None
        with system_errors(path):
            raise
    except (ValueError, TypeError, AttributeError, EOFError, NotImplementedError, RuntimeError):
        raise refused from None
    except (zipfile.BadZipFile, zlib.error, MemoryError, SyntaxError, RecursionError, OverflowError):
        raise refused from None
    return arrays


def is_text(header: ArrayHeader) -> bool:
    """Whether an array is one text."""
    return header.shape == () and header.dtype.kind == "U"


def check_npz_format(arrays: dict[str, NDArray[Any]], path: str | Path) -> None:
    """`InputError` for a file of this package in another format; one without a `format` is read by its arrays' names."""
    format_ = str(arrays["format"]) if "format" in arrays else ""
    if format_.startswith("mirrormata-") and format_ != NPZ_FORMAT:
        raise InputError(
            f"{path}: its format is {format_!r}, and {NPZ_FORMAT!r} is read here; read it with the version that wrote it"
        )


def _header(stream: Any) -> tuple[tuple[int, ...], np.dtype[Any], int]:
    """Shape, type and the header's own bytes."""
    version = npy.read_magic(stream)
    read = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}.get(version)
    if read is None:
        raise ValueError(f"version {version} of the array format")
    shape, _, kind = read(stream)
    return shape, kind, stream.tell()
