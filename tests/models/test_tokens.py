"""Token files and packages: what is written is what a tokenizer says, files are mapped and checked, another file is refused."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mirrormata.foundation._errors import InputError, LimitError
from mirrormata.models._evaluation_file import evaluate_folder
from mirrormata.models.tasks import _tokens
from mirrormata.models.tasks._kinds import task_from_settings
from mirrormata.models.tasks._language import LanguageTask, read_corpus
from mirrormata.models.tasks._packages import PINNED, read_package
from mirrormata.models.tasks._sampling import IGNORED
from mirrormata.models.tasks._task import TaskSettings
from mirrormata.models.tasks._tokens import TokenTask, read_tokens, write_tokens
from mirrormata.models.training._train import read_result, train
from mirrormata.tests.cli.command_line import Outcome
from mirrormata.tests.models.training_cases import experiment

WORDS = ["the", "state", "of", "an", "automaton", "é", "word", "\n"]


@pytest.fixture
def text(tmp_path: Path) -> Path:
    """Twelve documents, the last one of many lines."""
    place = tmp_path / "text"
    place.mkdir()
    rng = np.random.default_rng(1)
    for i in range(12):
        words = rng.choice(WORDS, size=60 + i)
        (place / f"{i:02}.txt").write_text(" ".join(words))
    return place


@pytest.fixture
def tokenizer(tmp_path: Path) -> Path:
    """A tokenizer of whole words, with settings that would cut texts short."""
    tokenizers = pytest.importorskip("tokenizers")
    made = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({word: 3 * i for i, word in enumerate(WORDS)}, unk_token="the")
    )
    made.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    made.enable_truncation(max_length=4)
    made.enable_padding(length=100)
    made.save(str(tmp_path / "tokenizer.json"))
    return tmp_path / "tokenizer.json"


def token_task(folder: Path, **entries: Any) -> TokenTask:
    task = task_from_settings(TaskSettings(spec=f"tokens:{folder}", **entries))
    assert isinstance(task, TokenTask)
    return task


def test_bytes_as_tokens_are_the_corpus_of_bytes(text: Path, tmp_path: Path) -> None:
    """The same batches as the task of text, which has all of it in memory."""
    header = write_tokens(text, tmp_path / "tokens")
    assert (header.vocabulary, header.dtype, header.tokenizer) == (256, "uint16", "bytes")
    found, expected = read_tokens(tmp_path / "tokens"), read_corpus(str(text))
    assert isinstance(found.train, np.memmap)
    assert found.train.tolist() == expected.train.tolist()
    assert found.test.tolist() == expected.test.tolist()
    files, whole = token_task(tmp_path / "tokens"), task_from_settings(TaskSettings(spec=f"text:{text}"))
    assert isinstance(whole, LanguageTask)
    for one, two in (
        (files.batches([0, 5], 3, 4, 17), whole.batches([0, 5], 3, 4, 17)),
        *zip(files.stream(2, 3, 90), whole.stream(2, 3, 90), strict=True),
    ):
        assert np.array_equal(one.letters, two.letters)
        assert np.array_equal(one.labels, two.labels)
    assert files.unigram_bits == whole.unigram_bits
    assert (files.letters, files.classes) == (whole.letters, whole.classes) == (257, 256)


def test_a_tokenizer_sees_every_document_whole(text: Path, tokenizer: Path, tmp_path: Path) -> None:
    header = write_tokens(text, tmp_path / "tokens", tokenizer=tokenizer)
    assert header.vocabulary == 3 * (len(WORDS) - 1) + 1
    assert header.tokenizer == hashlib.sha256(tokenizer.read_bytes()).hexdigest()
    ids = {word: 3 * i for i, word in enumerate(WORDS)}
    paths = sorted(text.iterdir())
    expected = [[*(ids[w] for w in path.read_text().split()), header.vocabulary] for path in paths]
    raw = np.fromfile(tmp_path / "tokens/test.bin", dtype="<u2").tolist()
    assert raw == expected[0] + expected[10]
    train = [x for i, one in enumerate(expected) if i % 10 for x in one]
    assert np.fromfile(tmp_path / "tokens/train.bin", dtype="<u2").tolist() == train
    assert header.test.bytes == sum(path.stat().st_size for path in (paths[0], paths[10]))
    batch = token_task(tmp_path / "tokens").batches([0], 0, 64, 20)
    ends = batch.labels == IGNORED
    assert ends.any()
    assert np.array_equal(batch.labels[..., :-1][~ends[..., :-1]], batch.letters[..., 1:][~ends[..., :-1]])
    assert (batch.letters[..., 1:][ends[..., :-1]] == header.vocabulary).all()


def test_documents_in_lines_and_one_document_in_pieces(
    text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [json.dumps({"text": path.read_text(), "id": 1}) for path in sorted(text.iterdir())]
    (tmp_path / "all.jsonl").write_text("\n".join(lines))
    one, two = (
        write_tokens(place, tmp_path / name) for place, name in ((text, "a"), (tmp_path / "all.jsonl", "b"))
    )
    assert (one.train, one.test) == (two.train, two.test)
    monkeypatch.setattr(_tokens, "PIECE", 50)
    single = tmp_path / "single.txt"
    single.write_bytes(b"".join(b"%d lines\n" % i for i in range(100)))
    header = write_tokens(single, tmp_path / "c")
    assert (header.train.documents, header.test.documents, header.test.bytes) == (1, 1, None)
    found, expected = read_tokens(tmp_path / "c"), read_corpus(str(single))
    assert found.train.tolist() == expected.train.tolist()
    assert found.test.tolist() == expected.test.tolist()


def test_a_large_vocabulary_takes_four_bytes(
    text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        _tokens, "_load_tokenizer", lambda _: (lambda piece, _: [69_999] * len(piece), 70_000, "bytes")
    )
    header = write_tokens(text, tmp_path / "tokens")
    assert header.dtype == "uint32"
    batch = token_task(tmp_path / "tokens").batches([0], 0, 2, 9)
    assert set(batch.letters.flatten().tolist()) <= {69_999, 70_000}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda place: (place / "tokens.json").unlink(), "holds no tokens.json; make token files with"),
        (lambda place: (place / "train.bin").write_bytes(b"\0\0"), r"train\.bin: has 2 bytes, and tokens\.json says"),
        (lambda place: (place / "test.bin").write_bytes(b"\1\0" * ((place / "test.bin").stat().st_size // 2)), "it was changed"),
        (lambda place: (place / "test.bin").write_bytes(b"\1\1" * ((place / "test.bin").stat().st_size // 2)), "the number 257, beyond"),
        (lambda place: (place / "tokens.json").write_text('{"format": "other"}'), "its format is 'other'"),
        (lambda place: (place / "tokens.json").write_text('{"format": "mirrormata-tokens/1"}'), "dtype is missing"),
    ],
)  # fmt: skip
def test_files_that_are_not_whole_are_refused(
    change: Callable[[Path], object], message: str, text: Path, tmp_path: Path
) -> None:
    write_tokens(text, tmp_path / "tokens")
    change(tmp_path / "tokens")
    with pytest.raises(InputError, match=message):
        read_tokens(tmp_path / "tokens")


def test_bad_texts_are_refused_and_nothing_is_left(tokenizer: Path, tmp_path: Path) -> None:
    (tmp_path / "latin.txt").write_bytes(b"caf\xe9")
    with pytest.raises(InputError, match=r"latin\.txt: is not UTF-8"):
        write_tokens(tmp_path / "latin.txt", tmp_path / "x", tokenizer=tokenizer)
    (tmp_path / "lines.jsonl").write_text('{"text": "a"}\n{"words": 3}\n')
    with pytest.raises(InputError, match="line 2 is no JSON object with an entry 'text'"):
        write_tokens(tmp_path / "lines.jsonl", tmp_path / "x")
    with pytest.raises(InputError, match=r"latin\.txt: no tokenizer\.json"):
        write_tokens(tmp_path / "latin.txt", tmp_path / "x", tokenizer=tmp_path / "latin.txt")
    with pytest.raises(InputError, match="no such file or folder of text"):
        write_tokens(tmp_path / "nowhere", tmp_path / "x")
    assert not (tmp_path / "x").exists()


def test_a_model_of_tokens_is_trained_and_tested(
    text: Path, tmp_path: Path, call: Callable[..., Outcome]
) -> None:
    shown = call("tokenize", str(text), "-o", str(tmp_path / "tokens"))
    assert "10 documents" in shown.out
    numbers = read_tokens(tmp_path / "tokens").header.train.tokens
    assert f"({numbers:,} numbers: tokens and 10 ends of documents)" in " ".join(shown.out.split())
    entries = {"train__steps": 2, "train__lengths": [16, 16], "eval__lengths": [[1, 16]]}
    one = experiment(task__spec=f"tokens:{tmp_path / 'tokens'}", task__protocol=None, **entries)
    train(one, tmp_path / "run")
    result = read_result(tmp_path / "run")
    assert result is not None
    seen = evaluate_folder(tmp_path / "run", lengths=[(1, 16)], words=16, device="cpu")
    assert seen.as_json()["bits"] == result["bits"]
    assert read_tokens(tmp_path / "tokens").digest[:16] in seen.contract.words
    shown = call("eval", str(tmp_path / "run"), "--lengths", "1-16", "--words", "4", "--device", "cpu")
    assert "bits a token" in shown.out
    write_tokens(text / "00.txt", tmp_path / "tokens")
    with pytest.raises(InputError, match="its text is another here"):
        evaluate_folder(tmp_path / "run", lengths=[(1, 16)], words=16, device="cpu")
    other = evaluate_folder(
        tmp_path / "run", lengths=[(1, 16)], words=4, device="cpu", data=str(tmp_path / "tokens")
    )
    assert "next token of 00.txt" in other.contract.task


def test_the_vocabulary_stands_for_files_that_are_not_there_yet(text: Path, tmp_path: Path) -> None:
    assert token_task(tmp_path / "later", vocabulary=32_000).letters == 32_001
    write_tokens(text, tmp_path / "tokens")
    with pytest.raises(InputError, match=r"the token files have 256 tokens: set task\.vocabulary to 256"):
        _ = token_task(tmp_path / "tokens", vocabulary=300).corpus
    with pytest.raises(InputError, match="vocabulary means nothing for text"):
        task_from_settings(TaskSettings(spec="text", vocabulary=256))


def wheel(place: Path, files: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(place, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return place


FILES = {f"made/{i:02}.py": b"x = %d\n" % i * 20 for i in range(11)}
OTHERS = {"made/data.json": b"{}", "made-1.0.dist-info/top_level.txt": b"made\n", "made/zero.txt": b"a\0b"}


def test_a_package_is_its_code_and_prose(tmp_path: Path) -> None:
    path = wheel(tmp_path / "made-1.0-py3-none-any.whl", {**OTHERS, **FILES})
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    found = read_package(path, digest)
    (tmp_path / "unpacked/made").mkdir(parents=True)
    for name, content in FILES.items():
        (tmp_path / "unpacked" / name).write_bytes(content)
    expected = read_corpus(str(tmp_path / "unpacked"))
    assert found.digest == expected.digest
    assert found.test.tolist() == expected.test.tolist()
    source = tmp_path / "made-1.0.tar.gz"
    with tarfile.open(source, "w:gz") as archive:
        for name, content in FILES.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    again = read_package(source, hashlib.sha256(source.read_bytes()).hexdigest().upper())
    assert again.digest == expected.digest
    task = task_from_settings(TaskSettings(spec=f"package:{path}", sha256=digest))
    assert task.contract((8, 8), ("8",)).settings["sha256"] == digest
    with pytest.raises(LimitError, match="bytes of text, more than 100"):
        read_package(path, digest, most=100)


def test_another_file_is_refused_with_the_command_that_gets_the_right_one(tmp_path: Path) -> None:
    path = wheel(tmp_path / "made-1.0-py3-none-any.whl", FILES)
    with pytest.raises(InputError, match=r"say which file it is: task\.sha256 = \"[0-9a-f]{64}\""):
        read_package(path)
    with pytest.raises(InputError, match=r"`pip download --no-deps --only-binary :all: made==1\.0 -d "):
        read_package(path, "0" * 64)
    with pytest.raises(InputError, match=r"`pip download --no-deps --no-binary :all: made==1\.0`"):
        read_package("made-1.0.tar.gz", "0" * 64)
    bad = tmp_path / "made-1.0.zip"
    bad.write_bytes(b"no archive")
    with pytest.raises(InputError, match="no wheel or source archive"):
        read_package(bad, hashlib.sha256(b"no archive").hexdigest())
    with pytest.raises(InputError, match="sha256 means nothing for text"):
        task_from_settings(TaskSettings(spec="text", sha256="0" * 64))


def test_a_pinned_package_has_one_file(tmp_path: Path) -> None:
    for name, pinned in PINNED.items():
        assert name.startswith(f"{pinned.package}-{pinned.version}-")
        with pytest.raises(InputError, match=f"{pinned.package}=={pinned.version}"):
            read_package(name)
        with pytest.raises(InputError, match=f"and {pinned.sha256} is wanted"):
            read_package(wheel(tmp_path / name, FILES))


def test_the_command_says_which_documents_are_for_testing(
    tmp_path: Path, call: Callable[..., Outcome]
) -> None:
    (tmp_path / "0.txt").write_text("abc " * 20)
    whole = call("tokenize", str(tmp_path / "0.txt"), "-o", str(tmp_path / "one")).out
    assert "the last tenth of the only document" in " ".join(whole.split())
    (tmp_path / "docs").mkdir()
    for i in range(3):
        (tmp_path / "docs" / f"{i}.txt").write_text("abc " * (i + 1))
    several = call("tokenize", str(tmp_path / "docs"), "-o", str(tmp_path / "many")).out
    assert "the first of every ten documents" in " ".join(several.split())
    assert read_tokens(tmp_path / "many").test.tobytes().startswith(b"a\0b\0c\0")
    assert read_tokens(tmp_path / "many").header.test.bytes == 4  # the first document
