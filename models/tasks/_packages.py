"""The text of a Python package, pinned by the SHA-256 of its file: the same bytes on every machine, for comparable results.

The file is a wheel or a source archive that the user has; nothing is downloaded, unpacked to the disk or run.
"""

from __future__ import annotations

import hashlib
import io
import re
import tarfile
import zipfile
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from ...foundation._errors import InputError, LimitError
from ...foundation._files import is_file, shown_path, system_errors
from ._language import Corpus, LanguageTask, corpus_of_texts

SUFFIXES = {".py", ".txt", ".rst", ".md"}
"""Files of a package that are read: code and prose."""
_NAME = re.compile(
    r"(?P<name>[A-Za-z0-9._]+?)-(?P<version>[0-9][A-Za-z0-9.!+_]*?)(?:-[^/]*\.whl|\.tar\.gz|\.zip)"
)


class PinnedPackage(NamedTuple):
    """A package whose text is meant for comparisons.

    Attributes:
        package: its name on the Python Package Index.
        version: its version.
        sha256: of its file.
        licence: under which its text may be used.
    """

    package: str
    version: str
    sha256: str
    licence: str


PINNED = {
    "sympy-1.14.0-py3-none-any.whl": PinnedPackage(
        "sympy",
        "1.14.0",
        "e091cc3e99d2141a0ba2847328f5479b05d94a6635cb96148ccb3f34671bd8f5",
        "BSD-3-Clause",
    )
}
"""By the name of the file: mathematics in Python with long docstrings, tens of megabytes of which no part is generated data."""


def read_package(path: str | Path, sha256: str | None = None, most: int = 1 << 28) -> Corpus:
    """The `.py`, `.txt`, `.rst` and `.md` files of a package, in the order of their paths.

    Args:
        path: a wheel (`.whl`), or a source archive (`.tar.gz`, `.zip`).
        sha256: that of the file, 64 hexadecimal digits; None for that of `PINNED`, if the file has such a name.
        most: the largest number of bytes of all its files together.

    Returns:
        The text, every tenth file for testing; its name is that of the file.

    Raises:
        InputError: there is no such file, it has another SHA-256 or none is known, it is no archive, or it holds no text.
        LimitError: there are more than `most` bytes.
    """
    place = Path(path)
    pinned = PINNED.get(place.name)
    wanted = (sha256 or (pinned.sha256 if pinned else "")).lower()
    if not is_file(place):
        raise InputError(f"{shown_path(path)}: no such file; {_how_to_get(place)}")
    with system_errors(path, "cannot be read"):
        content = place.read_bytes()
    found = hashlib.sha256(content).hexdigest()
    if not wanted:
        raise InputError(
            f'{shown_path(path)}: say which file it is: task.sha256 = "{found}" if this is the one'
        )
    if found != wanted:
        raise InputError(
            f"{shown_path(path)}: its SHA-256 is {found}, and {wanted} is wanted; {_how_to_get(place)}"
        )
    try:
        files = _files_of(place, content, most)
    except (zipfile.BadZipFile, tarfile.TarError, EOFError, OSError) as error:
        raise InputError(f"{shown_path(path)}: no wheel or source archive ({error})") from None
    return corpus_of_texts(place.name, files)


def _how_to_get(place: Path) -> str:
    """The command that fetches a file of this name."""
    named = _NAME.fullmatch(place.name)
    if named is None:
        return "give a wheel or a source archive of a package, as `pip download --no-deps PACKAGE==VERSION` gets it"
    kind = "--only-binary" if place.suffix == ".whl" else "--no-binary"
    to = "" if str(place.parent) == "." else f" -d {shown_path(place.parent)}"
    return f"get it with `pip download --no-deps {kind} :all: {named['name']}=={named['version']}{to}`"


def _files_of(place: Path, content: bytes, most: int) -> list[tuple[str, bytes]]:
    """The text files of an archive by name; their sizes are added up before anything is unpacked."""
    if place.suffix in {".whl", ".zip"}:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entries = [
                entry for entry in archive.infolist() if _is_text(entry.filename) and not entry.is_dir()
            ]
            _check_total(place, sum(entry.file_size for entry in entries), most)
            return [(entry.filename, archive.read(entry)) for entry in entries]
    with tarfile.open(fileobj=io.BytesIO(content), mode="r:*") as tar:
        members = [member for member in tar if member.isfile() and _is_text(member.name)]
        _check_total(place, sum(member.size for member in members), most)
        streams = [(member.name, tar.extractfile(member)) for member in members]
        return [(name, stream.read()) for name, stream in streams if stream is not None]


def _is_text(name: str) -> bool:
    path = PurePosixPath(name)
    return path.suffix in SUFFIXES and not any(
        part.endswith((".dist-info", ".egg-info")) for part in path.parts
    )


def _check_total(place: Path, total: int, most: int) -> None:
    if total > most:
        raise LimitError(
            f"{shown_path(place)}: {total:,} bytes of text, more than {most:,}; give a smaller package"
        )


@dataclass(frozen=True)
class PackageTask(LanguageTask):
    """The next byte of a package's text, whose file has a given SHA-256.

    Attributes:
        settings: its `spec` is `package:` and a file; `sha256` is needed unless the file is one of `PINNED`.
        whole: whether to test on the whole text.

    Raises:
        InputError: an entry of `settings` has no meaning for a package.
    """

    own_entries = ("sha256",)

    @cached_property
    def corpus(self) -> Corpus:
        """The bytes, read and checked when they are first asked for."""
        return read_package(self.settings.spec.partition(":")[2], self.settings.sha256)
