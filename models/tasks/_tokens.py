"""Token files: a text as numbers on the disk, of which a training reads the windows that it draws and never the whole.

A folder has `tokens.json`, `train.bin`, `test.bin` and, unless the tokens are bytes, the `tokenizer.json` that made them.
The `.bin` files are the tokens one after another, unsigned, little-endian, of 16 or 32 bits, as `tokens.json` says, and after each document the number
`vocabulary`, which is no token. Nothing is unpickled.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Literal

import msgspec
import numpy as np
from msgspec import Meta

from ...foundation._errors import InputError
from ...foundation._extras import needed_by
from ...foundation._files import (
    is_file,
    read_json,
    shown_path,
    system_errors,
    whole_folder,
    write_text,
)
from ...foundation._text import count_noun
from .._records import record_of
from ._contract import TaskContract
from ._language import BYTES, EVERY, Corpus, LanguageTask, text_files
from ._sampling import Array
from ._task import Span

FORMAT = "mirrormata-tokens/1"
BYTE_TOKENS = "bytes"
"""Stands for a tokenizer where the tokens are the bytes themselves."""
PIECE = 1 << 20
"""Bytes of a document that are read at once, and those to the end of the line: a tokenizer sees a document piece by piece."""
BLOCK = 1 << 22
"""Tokens that are checked at once."""
PARTS: tuple[Literal["train", "test"], ...] = ("train", "test")

Number = Annotated[int, Meta(ge=0)]


class TokenPart(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One of the two `.bin` files.

    Attributes:
        tokens: how many numbers it has, with one after each document.
        documents: how many documents it has.
        bytes: the size of the text in bytes; None where a single document was cut in two.
        sha256: of the file.
    """

    tokens: Number
    documents: Number
    bytes: Number | None
    sha256: str


class TokenHeader(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What `tokens.json` holds.

    Attributes:
        format: `mirrormata-tokens/1`.
        dtype: `uint16`, or `uint32` where the vocabulary needs it; little-endian.
        vocabulary: how many tokens there are; this number itself stands after each document.
        tokenizer: SHA-256 of the `tokenizer.json` beside it, or `bytes`.
        source: the name of the text.
        train: the training part.
        test: the test part.
    """

    format: str
    dtype: Literal["uint16", "uint32"]
    vocabulary: Annotated[int, Meta(ge=1, lt=2**31)]
    tokenizer: str
    source: str
    train: TokenPart
    test: TokenPart


@dataclass(frozen=True, eq=False)
class TokenCorpus(Corpus):
    """A corpus whose letters are tokens in files, mapped into memory and read where they are asked for.

    Attributes:
        name: the name of the text.
        train: numbers of the training part, `[n]`.
        test: numbers of the test part, `[n]`.
        train_files: the number of documents of the training part.
        test_files: the number of documents of the test part.
        digest: SHA-256 of the digests of both parts and the tokenizer's.
        header: what `tokens.json` says.
    """

    header: TokenHeader

    def __str__(self) -> str:
        def part(name: Literal["train", "test"]) -> str:
            found: TokenPart = getattr(self.header, name)
            tokens = found.tokens - found.documents
            size = "" if found.bytes is None else f", {found.bytes / max(tokens, 1):.4g} bytes a token"
            return f"{name} {count_noun(found.documents, 'document')} ({tokens:,} tokens{size})"

        tokenizer = self.header.tokenizer[:16]
        return f"{part('train')}, {part('test')}, tokenizer {tokenizer}, sha256 {self.digest[:16]}"


def read_tokens(folder: str | Path, progress: Callable[[float], None] | None = None) -> TokenCorpus:
    """Open a folder of token files; every number and both SHA-256 are checked, some megabytes at a time.

    Args:
        folder: what `write_tokens` or `mirrormata tokenize` wrote.
        progress: called with the fraction of the files that is checked, from 0 to 1.

    Returns:
        The corpus, whose `train` and `test` are mapped into memory.

    Raises:
        InputError: there is no such folder, or a file is missing, cut short, changed, or has a number beyond the vocabulary.
    """
    place = Path(folder)
    if not is_file(place / "tokens.json"):
        raise InputError(
            f"{shown_path(folder)}: holds no tokens.json; make token files with `mirrormata tokenize TEXT -o FOLDER`"
        )
    header = _read_header(place / "tokens.json")
    if header.tokenizer != BYTE_TOKENS:
        path = place / "tokenizer.json"
        with system_errors(path, "cannot be read"):
            found = hashlib.sha256(path.read_bytes()).hexdigest()
        if found != header.tokenizer:
            raise InputError(f"{path}: is not the tokenizer that tokens.json names by its SHA-256")
    numbers = [getattr(header, name).tokens for name in PARTS]
    arrays = []
    for i, name in enumerate(PARTS):

        def tell(share: float, i: int = i) -> None:
            if progress is not None:
                progress((sum(numbers[:i]) + share * numbers[i]) / max(sum(numbers), 1))

        arrays.append(_open_part(place / f"{name}.bin", header, getattr(header, name), tell))
    digest = hashlib.sha256(f"{header.train.sha256}{header.test.sha256}{header.tokenizer}".encode())
    return TokenCorpus(
        header.source, arrays[0], arrays[1], header.train.documents, header.test.documents, digest.hexdigest(), header
    )  # fmt: skip


def _read_header(path: Path) -> TokenHeader:
    data = read_json(path)
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        form = data.get("format") if isinstance(data, dict) else None
        raise InputError(f"{path}: its format is {form!r}, and {FORMAT!r} is read here")
    return record_of(data, TokenHeader, str(path))


def _open_part(path: Path, header: TokenHeader, part: TokenPart, tell: Callable[[float], None]) -> Array:
    """The numbers of a file, checked block by block."""
    dtype = np.dtype(header.dtype).newbyteorder("<")
    with system_errors(path, "cannot be read"):
        size = path.stat().st_size
    if size != part.tokens * dtype.itemsize:
        raise InputError(
            f"{path}: has {size:,} bytes, and tokens.json says {part.tokens:,} numbers of {dtype.itemsize} bytes; make it again"
        )
    if not part.tokens:
        raise InputError(f"{path}: holds no tokens; give a text of at least two documents, or a longer one")
    tokens: Array = np.memmap(path, dtype=dtype, mode="r")
    digest = hashlib.sha256()
    for at in range(0, part.tokens, BLOCK):
        block = np.asarray(tokens[at : at + BLOCK])
        if (largest := int(block.max())) > header.vocabulary:
            raise InputError(
                f"{path}: has the number {largest:,}, beyond the vocabulary {header.vocabulary:,}"
            )
        digest.update(block.tobytes())
        tell(min(at + BLOCK, part.tokens) / part.tokens)
    if digest.hexdigest() != part.sha256:
        raise InputError(f"{path}: its SHA-256 is not that of tokens.json: it was changed; make it again")
    return tokens


def write_tokens(
    text: str | Path,
    folder: str | Path,
    *,
    tokenizer: str | Path | None = None,
    progress: Callable[[float], None] | None = None,
) -> TokenHeader:
    """Write a text as token files: every tenth document for testing, of a single one the last tenth of its tokens.

    A document is a file, or a line of a `.jsonl` file, whose entry `text` it is. Files are taken in the order of their paths; hidden
    ones, and those with a zero byte in their first megabyte, are left out. A tokenizer gets a document in pieces of at least a
    megabyte that end at a line's end.

    Args:
        text: a file, or a folder of files; read piece by piece, so it may be larger than memory.
        folder: the folder to write; one of token files is replaced.
        tokenizer: a `tokenizer.json` of the library tokenizers; None for bytes as tokens.
        progress: called with the fraction of the text that is done, from 0 to 1.

    Returns:
        What `tokens.json` says.

    Raises:
        InputError: there is no such text, a file is not UTF-8, a line is no object with a text, the tokenizer cannot be read, or the folder is
            something else.
    """
    encode, vocabulary, used = _load_tokenizer(tokenizer)
    dtype = np.dtype("<u2" if vocabulary < 1 << 16 else "<u4")
    paths, root = text_files(str(text))
    sizes = [path.stat().st_size for path in paths]
    with whole_folder(folder, "token", is_token_folder) as place:
        counts = {name: [0, 0, 0] for name in PARTS}  # numbers, documents, bytes
        with ExitStack() as stack:
            streams = {name: stack.enter_context((place / f"{name}.bin").open("wb")) for name in PARTS}
            number = 0
            for i, path in enumerate(paths):
                for document in _documents(path):
                    name = PARTS[number % EVERY == 0]
                    for piece in document:
                        tokens = encode(piece, path)
                        streams[name].write(np.asarray(tokens, dtype=dtype).tobytes())
                        counts[name][0] += len(tokens)
                        counts[name][2] += len(piece)
                    streams[name].write(np.asarray([vocabulary], dtype=dtype).tobytes())
                    counts[name][0] += 1
                    counts[name][1] += 1
                    number += 1
                if progress is not None:
                    progress(sum(sizes[: i + 1]) / max(sum(sizes), 1))
        single = number == 1
        if single:
            _cut_in_two(place, dtype, vocabulary, counts)
        if not number or min(counts[name][0] for name in PARTS) < 2:
            raise InputError(f"{text}: holds no text, or too little to divide into training and test")
        parts = {
            name: TokenPart(n, documents, None if single else size, _hash_file(place / f"{name}.bin"))
            for name, (n, documents, size) in counts.items()
        }
        header = TokenHeader(
            FORMAT, "uint16" if dtype.itemsize == 2 else "uint32", vocabulary, used, root, parts["train"], parts["test"]
        )  # fmt: skip
        write_text(place / "tokens.json", json.dumps(msgspec.to_builtins(header), indent=1) + "\n")
        if tokenizer is not None:
            shutil.copyfile(tokenizer, place / "tokenizer.json")
    return header


def is_token_folder(folder: Path) -> bool:
    """Whether the `tokens.json` of a folder says that it holds token files, of whatever version."""
    path = folder / "tokens.json"
    header = read_json(path) if is_file(path) else None
    return isinstance(header, dict) and str(header.get("format")).startswith("mirrormata-tokens/")


def _load_tokenizer(path: str | Path | None) -> tuple[Callable[[bytes, Path], Any], int, str]:
    """A function from a piece of text to its tokens, how many tokens there are, and the tokenizer's SHA-256."""
    if path is None:
        return lambda piece, _: np.frombuffer(piece, dtype=np.uint8), BYTES, BYTE_TOKENS
    with needed_by("a tokenizer"):
        from tokenizers import Tokenizer
    with system_errors(path, "cannot be read"):
        content = Path(path).read_bytes()
    try:
        tokenizer = Tokenizer.from_buffer(content)
    except Exception as error:  # the library raises no other kind
        reason = str(error).splitlines()[0]
        raise InputError(
            f"{shown_path(path)}: no tokenizer.json of the library tokenizers ({reason})"
        ) from None
    tokenizer.no_truncation()
    tokenizer.no_padding()

    def encode(piece: bytes, where: Path) -> list[int]:
        try:
            text = piece.decode()
        except UnicodeDecodeError as error:
            raise InputError(f"{where}: is not UTF-8 ({error.reason}); a tokenizer reads texts") from None
        ids: list[int] = tokenizer.encode(text, add_special_tokens=False).ids
        return ids

    vocabulary = max(tokenizer.get_vocab(with_added_tokens=True).values(), default=0) + 1
    return encode, vocabulary, hashlib.sha256(content).hexdigest()


def _documents(path: Path) -> Iterator[Iterator[bytes]]:
    """The documents of a file, each in pieces."""
    with system_errors(path, "cannot be read"), path.open("rb") as stream:
        if path.suffix == ".jsonl":
            for number, line in enumerate(stream, 1):
                try:
                    text = json.loads(line)["text"].encode()
                except (ValueError, KeyError, TypeError, AttributeError):
                    raise InputError(
                        f"{path}: line {number} is no JSON object with an entry 'text' that is a text"
                    ) from None
                yield iter([text])
            return
        first = stream.read(PIECE)
        if first and b"\0" not in first:
            yield _pieces(first, stream)


def _pieces(first: bytes, stream: BinaryIO) -> Iterator[bytes]:
    block = first
    while block:
        yield block + stream.readline()
        block = stream.read(PIECE)


def _cut_in_two(place: Path, dtype: np.dtype[Any], vocabulary: int, counts: dict[Any, list[int]]) -> None:
    """A single document, which is the test part by its number: nine tenths of its tokens become the training part."""
    whole, test = place / "test.bin", place / "rest.bin"
    tokens = counts["test"][0] - 1
    cut = tokens - tokens // EVERY
    with whole.open("rb") as stream, (place / "train.bin").open("wb") as train:
        left = cut * dtype.itemsize
        while left:
            block = stream.read(min(PIECE, left))
            train.write(block)
            left -= len(block)
        train.write(np.asarray([vocabulary], dtype=dtype).tobytes())
        with test.open("wb") as rest:
            shutil.copyfileobj(stream, rest)
    test.replace(whole)
    counts["train"][:2], counts["test"][:2] = [cut + 1, 1], [tokens - cut + 1, 1]


def _hash_file(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@dataclass(frozen=True)
class TokenTask(LanguageTask):
    """Letters are the tokens of a tokenizer and the end of a document; the label is the next token, none at a document's end.

    Attributes:
        settings: its `spec` is `tokens:` and a folder of token files; `vocabulary` may say how many tokens there are, which the
            sizes of a model depend on, so that a training can be planned before the files are there.
        whole: without a meaning here; tests are on the test part.

    Raises:
        InputError: an entry of `settings` has no meaning for tokens.
    """

    own_entries = ("vocabulary",)

    @cached_property
    def corpus(self) -> TokenCorpus:
        """The token files, opened and checked when they are first asked for."""
        found = read_tokens(self.settings.spec.partition(":")[2])
        if self.settings.vocabulary not in (None, found.header.vocabulary):
            raise InputError(
                f"task.vocabulary is {self.settings.vocabulary:,}, and the token files have {found.header.vocabulary:,} tokens: set task.vocabulary to "
                f"{found.header.vocabulary}, or make them by the tokenizer that has so many tokens"
            )
        return found

    @property
    def classes(self) -> int:
        """The number of tokens."""
        return self.settings.vocabulary or self._own_vocabulary

    @cached_property
    def _own_vocabulary(self) -> int:
        """By the header alone, so that the files are not checked for it."""
        path = Path(self.settings.spec.partition(":")[2]) / "tokens.json"
        return _read_header(path).vocabulary if is_file(path) else self.corpus.header.vocabulary

    @cached_property
    def test_text(self) -> Array:
        """The tokens of the test part, `[n]`."""
        return self.corpus.test

    def contract(self, train_lengths: Span, test_lengths: tuple[str, ...]) -> TaskContract:
        """Describe the task; the text is described by its size, its tokenizer and a digest.

        Args:
            train_lengths: shortest and longest training word, in tokens.
            test_lengths: the lengths of the test words, as texts.

        Returns:
            The contract, which states what a reader must know to compare two results.
        """
        s = self.settings
        return TaskContract(
            task=f"next token of {self.corpus.name}", alphabet=(*(str(i) for i in range(self.classes)), "end"),
            classes=self.classes, order="tokens are read left to right", labels="next token",
            supervision="per_prefix, none at a document's end", bos=False, words=f"windows from any token; {self.corpus}",
            held_out=(), train_lengths=train_lengths, test_lengths=test_lengths, fidelity=s.fidelity or "extension",
            source=s.source or "", chance=1 / self.classes, settings=msgspec.to_builtins(s),
        )  # fmt: skip
