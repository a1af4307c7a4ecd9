"""Files are read with clear errors and written whole or not at all."""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from os import PathLike
from pathlib import Path
from typing import Any

from ._arguments import require_path
from ._errors import InputError
from ._interrupting import hold_interrupts
from ._text import CONTROLS

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[^\s\[\]{},:"]+')
"""A string of a JSON text, or what stands between its signs."""
_CONTROL_OR_LINE = re.compile(rf"{CONTROLS.pattern}|[\n\t]")
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def path_of(path: object, argument: str = "path", wanted: str = "the path of a file, a text") -> Path:
    """The path that somebody gave, in Python or on the command line.

    Args:
        path: a text or a `PathLike` of text.
        argument: its name in the function that was called, for errors.
        wanted: what it is the path of, for errors.

    Raises:
        InputError: it is neither, empty, or has a NUL character, which is in no file's name.
    """
    text = require_path(argument, path, wanted)
    if not text:
        raise InputError("'': the path of a file or folder is needed, and this text is empty")
    if "\0" in text:
        raise InputError(f"{shown_path(text)}: a NUL character is in no file's name; remove it")
    return Path(text)


def shown_path(path: object, most: int = 200) -> str:
    """The path as a message shows it: without control characters, on one line, cut in the middle beyond `most` characters."""
    text = _CONTROL_OR_LINE.sub(lambda found: repr(found[0])[1:-1], str(path))
    return text if len(text) <= most else f"{text[: most // 2]}...{text[-most // 2 :]}"


def is_file(path: str | Path) -> bool:
    """Whether a file is there, or a link to one; False for what no file system can have, where `Path.is_file` raises."""
    return os.path.isfile(path)


def is_folder(path: str | Path) -> bool:
    """Whether a folder is there, or a link to one; False for what no file system can have."""
    return os.path.isdir(path)


def is_there(path: str | Path) -> bool:
    """Whether a file, a folder or a device is there; False for a broken link and for what no file system can have."""
    return os.path.exists(path)


@contextmanager
def system_errors(path: object, what: str = "cannot be read") -> Iterator[None]:
    """What the system refuses to do with a path becomes an `InputError` of one line that has the path and the reason.

    Args:
        path: the one that somebody named.
        what: what was tried, such as `cannot be written`.
    """
    try:
        yield
    except (InputError, BrokenPipeError):  # nobody reads on: the command line ends quietly
        raise
    except FileNotFoundError:
        missing = "no such file" if what == "cannot be read" else f"{what} (No such file or directory)"
        raise InputError(f"{shown_path(path)}: {missing}") from None
    except IsADirectoryError:
        raise InputError(f"{shown_path(path)}: is a folder, a file is needed") from None
    except PermissionError:
        raise InputError(f"{shown_path(path)}: {what} (no permission)") from None
    except OSError as error:
        raise InputError(f"{shown_path(path)}: {what} ({error.strerror or error})") from None
    except UnicodeEncodeError:
        raise InputError(f"{shown_path(path)}: {what} (no file's name has such a character)") from None
    except RuntimeError as error:  # so `Path.resolve` says it in Python up to 3.12
        if "Symlink loop" not in str(error):
            raise
        raise InputError(f"{shown_path(path)}: {what} (its links lead in a circle)") from None


def read_bytes(path: str | Path) -> bytes:
    """All bytes of a file; `InputError` where it cannot be read."""
    file = path_of(path)
    with system_errors(path):
        return file.read_bytes()


def read_text(path: str | Path) -> str:
    """The text of a UTF-8 file; `InputError` for what is missing, not text, or a Git-LFS pointer."""
    data = read_bytes(path)
    try:
        text = data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        wide = data[:2] in (b"\xff\xfe", b"\xfe\xff")  # the marks of UTF-16, which PowerShell writes
        reason = "it is UTF-16, save it as UTF-8" if wide else f"byte {error.start} is not UTF-8"
        raise InputError(f"{shown_path(path)}: not a text file ({reason})") from None
    if text.startswith("version https://git-lfs.github.com/spec/"):
        raise InputError(
            f"{shown_path(path)}: a Git-LFS pointer, not the data; fetch the file with `git lfs pull` first"
        )
    return text


class MemoryFile(str):
    """The name of a file that is not written: `write_bytes` keeps its bytes in `content`."""

    content: bytes = b""


def write_text(path: str | PathLike[str], text: str) -> None:
    """Write a text file whole: through a temporary file in the same folder, then one rename."""
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: str | PathLike[str], data: bytes) -> None:
    """Write a file whole: through a temporary file in the same folder, then one rename.

    Links are followed; what exists and is no regular file (a device, a pipe) is written to, never replaced.
    """
    if isinstance(path, MemoryFile):
        path.content = data
        return
    with whole_file(path) as temporary:
        temporary.write_bytes(data)


@contextmanager
def whole_file(path: str | PathLike[str]) -> Iterator[Path]:
    """A temporary file to write, which takes the place of `path` once all is written; an interrupt waits for that.

    Args:
        path: the file. A link stays, and what it leads to is replaced. What is no regular file (a device, a pipe) is written
            to as it is.

    Raises:
        InputError: the place is a folder, or cannot be written, for example because the disk is full; nothing is left there.
    """
    with hold_interrupts(), system_errors(path, "cannot be written"):
        file = path_of(path).resolve()
        if file.is_dir():
            raise InputError(f"{shown_path(path)}: is a folder, the name of a file is needed")
        if file.exists() and not file.is_file():
            yield file
            return
        handle, name = tempfile.mkstemp(dir=file.parent, prefix=_beside(file))
        os.close(handle)
        temporary = Path(name)
        try:
            yield temporary
            umask = os.umask(0)
            os.umask(umask)
            os.chmod(temporary, 0o666 & ~umask)
            os.replace(temporary, file)
        finally:
            temporary.unlink(missing_ok=True)
        _note_written(path)


_WRITTEN: ContextVar[list[str] | None] = ContextVar("written", default=None)


@contextmanager
def list_written() -> Iterator[list[str]]:
    """The list to which the files and folders are added that are written meanwhile, each once it is whole."""
    written: list[str] = []
    before = _WRITTEN.set(written)
    try:
        yield written
    finally:
        _WRITTEN.reset(before)


def _note_written(path: object) -> None:
    written = _WRITTEN.get()
    if written is not None and str(path) not in written:
        written.append(str(path))


def _beside(path: Path) -> str:
    """How the name of a temporary file or folder begins; short, so that no name is too long that was not so before."""
    return f".{path.name[:40]}."


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
    place = path_of(folder, "folder")
    if os.path.lexists(place) and not is_folder(place):
        raise InputError(f"{shown_path(folder)}: is no folder, and a folder is needed; choose another place")
    try:
        with system_errors(folder, "the folder cannot be made"):
            place.mkdir(parents=True, exist_ok=True)
    except InputError as error:
        raise InputError(f"{error}; choose another place") from None


@contextmanager
def whole_folder(folder: str | Path, kind: str, is_one: Callable[[Path], bool]) -> Iterator[Path]:
    """A temporary folder to write into, which takes the place of `folder` once all is written.

    Args:
        folder: the folder to write.
        kind: the kind of folder that is written, for errors.
        is_one: whether a folder is of this very kind; only then it is replaced.

    Raises:
        InputError: the place is taken by something else, or cannot be written.
    """
    target = path_of(folder, "folder")
    if os.path.lexists(target) and not (is_folder(target) and is_one(target)):
        raise InputError(
            f"{shown_path(folder)}: is there already and is no {kind} folder: choose another name"
        )
    make_folder(target.parent)
    temporary: Path | None = None
    try:
        with system_errors(folder, "cannot be written"):
            with hold_interrupts():
                target = target.resolve()  # a link stays, and what it leads to is replaced
                temporary = Path(tempfile.mkdtemp(prefix=_beside(target), dir=target.parent))
            with unlisted():
                yield temporary
            with hold_interrupts():
                os.chmod(temporary, 0o755)
                if target.exists():  # the old one is whole until the new one is in its place
                    old = Path(tempfile.mkdtemp(prefix=_beside(target), dir=target.parent))
                    os.replace(target, old)
                    os.replace(temporary, target)
                    shutil.rmtree(old, ignore_errors=True)
                else:
                    os.replace(temporary, target)
                _note_written(folder)
    except InputError as error:  # of a file in the temporary folder: say where it would have been
        if temporary is None or str(temporary) not in str(error):
            raise
        raise InputError(str(error).replace(str(temporary), shown_path(folder))) from None
    finally:
        with hold_interrupts():
            if temporary is not None:
                shutil.rmtree(temporary, ignore_errors=True)


@contextmanager
def unlisted() -> Iterator[None]:
    """Files that are written meanwhile are not listed: those in a temporary folder, which is moved or removed later."""
    before = _WRITTEN.set(None)
    try:
        yield
    finally:
        _WRITTEN.reset(before)


_MARK = "mirrormata-"
"""In the format that every document, array file and model of the package states near its beginning."""
_PICTURES = {".svg": b"<svg", ".png": b"\x89PNG\r\n", ".pdf": b"%PDF"}
_HEAD = 65_536


COQ_MARK = "Written by mirrormata; the theorem `follows` is at the end."
"""In the first comment of a Coq file."""


def is_own_file(path: str | Path) -> bool:
    """Whether the package may replace a file without a question: it wrote the file, or nothing is lost.

    A document states its format (`mirrormata-certificate/1`, ...) near its beginning, a page its generator, a Coq file who wrote it; automata are taken
    for somebody's own in all formats, since people write them too. An empty file holds nothing. A picture, which states
    nothing, may take the place of any picture of its kind, since pictures are drawn again.

    Args:
        path: an existing file.
    """
    with system_errors(path), Path(path).open("rb") as stream:
        head = stream.read(_HEAD)
    if not head:
        return True
    if (picture := _PICTURES.get(Path(path).suffix.lower())) is not None:
        return picture in head[:1024]
    if b'"mirrormata-automaton/' in head:
        return False
    # arrays of text in .npz files have four bytes a character
    marks = (
        _MARK.encode(),
        _MARK.encode("utf-32-le"),
        b'<meta name="generator" content="mirrormata">',
        COQ_MARK.encode(),
    )
    return any(mark in head for mark in marks)


def require_there(path: str | Path) -> None:
    """`InputError` where there is no such file or folder.

    Args:
        path: what is to be read.
    """
    if not is_there(path):
        raise InputError(f"{shown_path(path)}: no such file")


def require_folder(folder: str | Path, needed: str) -> None:
    """`InputError` where there is no such folder.

    Args:
        folder: the folder to read.
        needed: what it is to be, such as `the folder of a checkpoint`.
    """
    if not is_folder(folder):
        what = f"is a file, {needed} is needed" if is_there(folder) else f"no such folder; give {needed}"
        raise InputError(f"{shown_path(folder)}: {what}")


def refuse_input_as_output(output: str | Path | None, *inputs: str | Path, around: bool = False) -> None:
    """`InputError` where writing `output` would replace one of the files or folders that are read.

    Args:
        output: the file or folder to write; None for none.
        inputs: what is read; a text that names no file is passed over.
        around: whether `output` is a folder, with which all that lies in it would be replaced.
    """
    if output is None or not is_there(output):
        return
    for given in filter(is_there, inputs):
        with system_errors(output, "cannot be written"):
            read, written = Path(given).resolve(), Path(output).resolve()
        if written == read or (around and written in read.parents):
            raise InputError(
                f"{shown_path(output)}: writing it would replace what is read, {shown_path(given)}: choose another name"
            )
