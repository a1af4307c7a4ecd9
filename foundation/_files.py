"""Files are read with clear errors and written whole or not at all."""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ._errors import InputError

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[^\s\[\]{},:"]+')
"""A string of a JSON text, or what stands between its signs."""
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def read_text(path: str | Path) -> str:
    """The text of a UTF-8 file; `InputError` for what is missing, not text, or a Git-LFS pointer."""
    file = Path(path)
    try:
        text = file.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except IsADirectoryError:
        raise InputError(f"{path}: is a folder, a file is needed") from None
    except PermissionError:
        raise InputError(f"{path}: no permission to read it") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not a text file (byte {error.start} is not UTF-8)") from None
    if text.startswith("version https://git-lfs.github.com/spec/"):
        raise InputError(f"{path}: a Git-LFS pointer, not the data; fetch the file with `git lfs pull` first")
    return text


class MemoryFile(str):
    """The name of a file that is not written: `write_bytes` keeps its bytes in `content`."""

    content: bytes = b""


def write_text(path: str | Path, text: str) -> None:
    """Write a text file whole: through a temporary file in the same folder, then one rename."""
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: str | Path, data: bytes) -> None:
    """Write a file whole: through a temporary file in the same folder, then one rename.

    Links are followed; what exists and is no regular file (a device, a pipe) is written to, never replaced.
    """
    if isinstance(path, MemoryFile):
        path.content = data
        return
    if not str(path):
        raise InputError("the name of the file to write is empty")
    file = Path(path).resolve()
    if file.is_dir():
        raise InputError(f"{path}: is a folder, the name of a file is needed")
    if file.exists() and not file.is_file():
        file.write_bytes(data)
        return
    try:
        handle, temporary = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror})") from None
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)
        os.replace(temporary, file)
    except OSError as error:
        os.unlink(temporary)
        raise InputError(f"{path}: cannot be written ({error.strerror})") from None
    except BaseException:
        os.unlink(temporary)
        raise


def read_json(path: str | Path) -> Any:
    """What a JSON file holds; `InputError` for one that cannot be read, and as in `parse_json`."""
    return parse_json(read_text(path), str(path))


def parse_json(text: str, name: str) -> Any:
    """What a JSON text holds, `name` that of its file.

    `InputError`, one line: what is not JSON, by its line; NaN, Infinity and numbers that no float64 holds, which Python
    would read; a key that stands twice in one object, of which Python would take the last.
    """

    def finite(number: str) -> float:
        value = float(number)
        if not math.isfinite(value):
            place = f"line {_line_of(text, number)}: {number[:20]}"
            raise InputError(f"{name}: {place} is not a finite number; write one, or null")
        return value

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            keys = [key for key, _ in pairs]
            double = next(key for i, key in enumerate(keys) if key in keys[:i])
            raise InputError(f"{name}: the key {double!r} stands twice in one object; remove one of the two")
        return found

    try:
        found = json.loads(text, parse_float=finite, parse_constant=finite, object_pairs_hook=unique)
        if _SURROGATE.search(text):  # whole pairs are characters, halves are not
            json.dumps(found, ensure_ascii=False).encode("utf-8")
        return found
    except UnicodeEncodeError as error:
        half = f"\\u{ord(error.object[error.start]):04x}"
        raise InputError(
            f"{name}: {half} is half of a surrogate pair and no character; write the character itself"
        ) from None
    except json.JSONDecodeError as error:
        if not text.strip():
            raise InputError(f"{name}: the file is empty") from None
        raise InputError(f"{name}: line {error.lineno} is not JSON ({error.msg})") from None
    except InputError:
        raise
    except RecursionError:
        raise InputError(f"{name}: its lists or objects are nested too deeply to be read") from None
    except ValueError:  # an integer of thousands of digits
        raise InputError(f"{name}: it has a number with too many digits to be read") from None


def _line_of(text: str, literal: str) -> int:
    """The line of a literal outside of strings."""
    for found in re.finditer(_TOKEN, text):
        if found[0] == literal:
            return text.count("\n", 0, found.start()) + 1
    return 1


def make_folder(folder: str | Path) -> None:
    """Make a folder and those above it where they are missing; `InputError` where the place does not allow it."""
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise InputError(f"{folder}: the folder cannot be made ({reason}); choose another place") from None


@contextmanager
def whole_folder(folder: str | Path, kind: str) -> Iterator[Path]:
    """A temporary folder to write into, which takes the place of `folder` once all is written.

    One that is there is replaced if it has a `config.json`; `InputError`, naming the kind of folder, where the place is
    taken by something else.
    """
    target = Path(folder)
    if target.exists() and not (target / "config.json").is_file():
        raise InputError(f"{folder}: is there already and is no {kind} folder: choose another name")
    make_folder(target.parent)
    try:
        temporary = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    except OSError as error:
        raise InputError(f"{folder}: cannot be written ({error.strerror})") from None
    try:
        yield temporary
        os.chmod(temporary, 0o755)
        if target.exists():
            shutil.rmtree(target)
        os.replace(temporary, target)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
