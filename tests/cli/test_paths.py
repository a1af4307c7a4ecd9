"""Paths that a file system refuses, and folders that hold something else: one line, exit status 2, nothing lost."""

from __future__ import annotations

import io
import os
import shutil
import warnings
import zipfile
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

import mirrormata as m
from mirrormata import InputError, construct
from mirrormata.constructions import as_automaton, write_automaton
from mirrormata.models import spectrum_of_model
from mirrormata.models.training._experiment import experiment_from_dict

LONG = "y" * 300
REASONS = {
    "/dev/full": "No space left on device",
    "loop": "links lead in a circle",
    LONG: "File name too long",
    "file/x": "Not a directory",
    ".": "is a folder",
    "no/such": "No such file or directory",
}


@pytest.fixture
def place(tmp_path: Path, certificates: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder: a certificate `c.json`, a file `file`, and a link to itself, `loop`."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(certificates / "parity.json", "c.json")
    Path("file").write_text("text\n")
    os.symlink("loop", "loop")
    return tmp_path


def listed(place: Path) -> list[str]:
    return sorted(path.name for path in place.iterdir())


WRITING: list[tuple[str, ...]] = [
    ("construct", "parity", "-o"),
    ("plan", "parity", "--bounds"),
    ("prove", "c.json", "parity", "-o"),
    ("export", "safetensors", "c.json", "-o"),
    ("export", "fla", "c.json", "-o"),
    ("export", "model", "c.json", "parity", "-o"),
]


@pytest.mark.parametrize("path", REASONS)
@pytest.mark.parametrize("command", WRITING, ids=" ".join)
def test_what_cannot_be_written(command: tuple[str, ...], path: str, call: Any, place: Path) -> None:
    folder = command[:2] in (("export", "fla"), ("export", "model"))
    if folder and path in ("no/such", LONG):
        pytest.skip("a folder, which is made or refused for another reason")
    if command[1] == "safetensors" and path in (".", "loop", "/dev/full"):
        pytest.skip("refused by its extension")
    before, reason = listed(place), REASONS[path]
    if command[1] == "safetensors":
        path = f"{path}.safetensors"
    error = call(*command, path).error
    assert folder or reason in error
    assert listed(place) == before


READING: list[tuple[str, ...]] = [
    ("run", "PATH", "--random", "2"),
    ("prove", "PATH", "parity"),
    ("compare", "PATH", "parity"),
    ("spectrum", "PATH"),
    ("report", "PATH"),
    ("eval", "PATH"),
    ("check", "PATH"),
    ("inspect", "PATH"),
    ("export", "npz", "PATH", "-o", "x.npz"),
    ("export", "fla", "PATH", "-o", "x"),
    ("import", "fla", "PATH", "-o", "x.npz"),
    ("sweep", "PATH", "-o", "x"),
    ("train", "PATH", "-o", "x"),
    ("verify", "G.T3", "--model", "PATH"),
]


@pytest.mark.parametrize(
    "path", [LONG, LONG + ".json", "y" * 5000, "loop", "a\0b.json", "file", "", "a\nb.json"]
)
@pytest.mark.parametrize("command", READING, ids=" ".join)
def test_what_cannot_be_read(command: tuple[str, ...], path: str, call: Any, place: Path) -> None:
    if path == "file" and command[0] == "check":
        pytest.skip("an invalid certificate, which is no error")
    before = listed(place)
    error = call(*(path if part == "PATH" else part for part in command)).error
    assert path[:20].replace("\0", "\\x00").replace("\n", "\\n") in error
    assert listed(place) == before


def test_a_file_in_place_of_a_folder(call: Any, place: Path) -> None:
    for arguments in (("train", "S3", "-o", "c.json"), ("train", "parity", "-o", "file", "--steps", "1")):
        assert "is a file, and a folder is needed" in call(*arguments).error
    assert "is a file, and a folder is needed" in call("eval", "c.json").error
    experiment = experiment_from_dict({"task": {"spec": "parity"}}, "test")
    with pytest.raises(InputError, match="file: is a file, and a folder is needed"):
        m.train(experiment, "file")


def test_a_name_with_a_line_break_is_one_line(call: Any, place: Path) -> None:
    outcome = call("construct", "parity", "-o", "a\nb.json")
    assert outcome.status == 0
    assert outcome.err == "written: a\\nb.json\n"
    assert "a\\nb.json: is a certificate" in call("inspect", "a\nb.json").error


def test_what_is_read_is_not_written(call: Any, place: Path) -> None:
    before = Path("c.json").read_bytes()
    for command in (*WRITING[2:], ("compare", "c.json", "parity", "-o"), ("spectrum", "c.json", "--picture")):
        assert "would replace what is read" in call(*command, "c.json").error
    assert Path("c.json").read_bytes() == before


def test_folders_of_another_kind_stay(call: Any, place: Path) -> None:
    def done(*arguments: str) -> None:
        outcome = call(*arguments)
        assert outcome.status == 0, outcome.err

    done("export", "fla", "c.json", "-o", "fla")
    done("export", "model", "c.json", "parity", "-o", "model")
    done("import", "fla", "fla", "-o", "heads")
    shutil.copytree("fla", "trained")  # as the transformers library saves it
    from safetensors.numpy import load_file, save_file

    save_file(load_file("fla/model.safetensors"), "trained/model.safetensors", metadata={"format": "pt"})
    shutil.copy("c.json", "model/c.json")
    commands: dict[str, tuple[str, ...]] = {
        "fla": ("export", "fla", "c.json"),
        "model": ("export", "model", "c.json", "parity"),
        "heads": ("import", "fla", "fla"),
    }
    for folder, command in commands.items():
        for other in ("fla", "model", "heads", "trained", "loop", "file"):
            if folder != other:
                kept = sorted(os.listdir(other)) if Path(other).is_dir() else []
                error = call(*command, "-o", other).error
                assert f"is no {'exported checkpoint' if folder == 'fla' else folder} folder" in error or (
                    "would replace what is read" in error
                )
                assert kept == (sorted(os.listdir(other)) if Path(other).is_dir() else [])
    assert (
        "would replace what is read" in call("export", "model", "model/c.json", "parity", "-o", "model").error
    )
    for folder, command in commands.items():  # its own folder is written anew
        done(*command, "-o", folder)
    (place / "heads" / "notes.txt").write_text("mine")
    assert "is no heads folder" in call("import", "fla", "fla", "-o", "heads").error


def test_paths_in_python(place: Path) -> None:
    A = as_automaton("parity")
    document = m.full_certificate(construct("parity"))
    wrong: list[Any] = [None, 5, b"x.json"]
    refused = ["a\0b.json", LONG + ".json", "loop/x.json", "", "\ud800.json"]
    for path in (*wrong, *refused):
        for write in (A.save, lambda p: write_automaton(A, p), lambda p: m.write_certificate(document, p)):
            with pytest.raises(InputError) as caught:
                write(path)
            assert "\n" not in str(caught.value)
            assert path not in wrong or f"`path` {path!r}: it is the path of a file, a text" in str(
                caught.value
            )
    with pytest.raises(InputError, match="No space left on device"):
        m.write_certificate(document, "/dev/full")
    for name in ("y" * 5000, "loop"):
        with pytest.raises(InputError, match="no such file"):
            m.run(name, "01")
        with pytest.raises(InputError, match="no such file"):
            m.prove(name, "parity")


class Named:
    """A `PathLike` that is no `Path`."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __fspath__(self) -> str:
        return self.path


def frozen(value: Any) -> Any:
    """The same with no dictionary and no list in it."""
    if isinstance(value, dict):
        return MappingProxyType({key: frozen(entry) for key, entry in value.items()})
    return tuple(map(frozen, value)) if isinstance(value, list) else value


def test_every_form_of_a_certificate(place: Path) -> None:
    found = construct("S3")
    document = m.full_certificate(found)
    m.write_certificate(document, "plain.json")
    m.write_certificate(found, Path("construction.json"))
    m.write_certificate(frozen(document), Named("frozen.json"))
    texts = {Path(name).read_text() for name in ("plain.json", "construction.json", "frozen.json")}
    assert len(texts) == 1
    forms: list[Any] = [
        "plain.json", Path("plain.json"), Named("plain.json"), document, MappingProxyType(document), frozen(document), found,
    ]  # fmt: skip
    word = [[0, 1, 2, 3]]
    for form in forms:
        assert m.check(form).verdict == "valid"
        assert m.run(form, word).errors == 0
        assert m.prove(form, "S3").verdict == "equivalent"
        assert m.plot(form) is not None
    for wrong in ({}, {"format": document["format"]}, {"kind": "table"}, MappingProxyType({"format": 5})):
        with pytest.raises(InputError, match="`document` is no certificate"):
            m.write_certificate(wrong, "wrong.json")
    assert not Path("wrong.json").exists()


def npz(path: str, **arrays: Any) -> None:
    np.savez(path, **{"A": np.zeros((2, 1, 1)), **arrays})


@pytest.mark.parametrize(
    ("arrays", "text"),
    [
        ({"A": np.zeros((2, 3, 4))}, r"A has the shape \(2, 3, 4\)"),
        ({"A": np.array(["1.0"])}, "A has the type"),
        ({"letter_labels": np.zeros(9)}, "letter_labels is not the text"),
    ],
)
def test_headers_are_looked_at_before_arrays(
    arrays: dict[str, Any], text: str, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    npz("a.npz", **arrays)
    monkeypatch.setattr(np.lib.format, "read_array", lambda *_, **__: pytest.fail("an array was read"))
    with pytest.raises(InputError, match=text):
        spectrum_of_model("a.npz")


def test_two_arrays_of_one_name(place: Path) -> None:
    array = io.BytesIO()
    np.save(array, np.zeros((2, 1, 1)))
    for second in ("A.npy", "A"):
        with warnings.catch_warnings(), zipfile.ZipFile("a.npz", "w") as file:
            warnings.simplefilter("ignore")  # zipfile warns of the name
            file.writestr("A.npy", array.getvalue())
            file.writestr(second, array.getvalue())
        with pytest.raises(InputError, match="two arrays have the name A"):
            spectrum_of_model("a.npz")
