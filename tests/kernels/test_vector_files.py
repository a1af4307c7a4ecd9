"""A file of vectors that was changed is refused in one line, also where somebody has made its digest anew."""

from __future__ import annotations

import copy
import hashlib
import json
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from mirrormata.foundation._errors import InputError
from mirrormata.kernels import read_vectors, write_vectors
from mirrormata.kernels.vectors._file_checks import UNSIGNED, digest_of

DRAWS = 150


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("vectors") / "v.safetensors"
    write_vectors(path)
    return path


@pytest.fixture(scope="module")
def small(whole: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """A file of five words of different kinds: its metadata, and its tensors."""
    about, tensors = parts_of(whole)
    families = ("packed", "prefix", "delta-product", "rwkv7", "no-tokens")
    kept = [next(fact for fact in about["words"] if fact["family"] == family) for family in families]
    about["words"] = kept
    names = tuple(f"{fact['family']}/{fact['name']}/" for fact in kept)
    return about, {name: x for name, x in tensors.items() if name.startswith(names)}


def parts_of(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    data = path.read_bytes()
    header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    return json.loads(header["__metadata__"]["mirrormata"]), dict(load_file(path))


def write(path: Path, about: Any, tensors: dict[str, Any], *, signed: bool = True) -> Path:
    text = json.dumps(about)
    if signed and isinstance(about, dict):
        text = json.dumps({**about, "sha256": UNSIGNED})
        text = text.replace(UNSIGNED, digest_of(text, tensors))
    save_file(tensors, path, metadata={"mirrormata": text})
    return path


def refusal(path: Path) -> str:
    with pytest.raises(InputError) as error:
        read_vectors(path)
    line = str(error.value)
    assert line.startswith(f"{path}: ")
    assert "\n" not in line
    return line


def test_the_digest_is_formed_as_the_page_says(whole: Path) -> None:
    """From the bytes of the file alone, by the specification in docs/vectors.md."""
    data = whole.read_bytes()
    length = int.from_bytes(data[:8], "little")
    header, body = json.loads(data[8 : 8 + length]), data[8 + length :]
    text = header.pop("__metadata__")["mirrormata"]
    stated = json.loads(text)["sha256"]
    found = hashlib.sha256(text.replace(stated, "0" * 64).encode())
    for name in sorted(header):
        start, end = header[name]["data_offsets"]
        found.update(f"{name} {header[name]['dtype']} {','.join(map(str, header[name]['shape']))}\n".encode())
        found.update(body[start:end])
    assert found.hexdigest() == stated


def test_a_small_file_with_its_digest_is_read(small: tuple[Any, Any], tmp_path: Path) -> None:
    facts, arrays = read_vectors(write(tmp_path / "s.safetensors", *small))
    assert len(facts) == len(arrays) == 5


def test_any_changed_byte_is_refused(small: tuple[Any, Any], tmp_path: Path) -> None:
    path = write(tmp_path / "s.safetensors", *small)
    data, random = path.read_bytes(), Random(20)
    for _ in range(DRAWS):
        place = random.randrange(len(data))
        other = bytearray(data)
        other[place] ^= 1 << random.randrange(8)
        if random.random() < 0.2:
            del other[place:]
        path.write_bytes(other)
        refusal(path)


VALUES: tuple[Any, ...] = (
    None, True, "", "x/y", "other", -1, 0, 7, 2.5, 1e300, 10**30, [], [[]], [1, 2], {}, {"a": 1}, [[0, 5, 9]], [None],
    "\ud800",
)  # fmt: skip


def places_of(value: Any) -> list[tuple[Any, Any]]:
    """All (container, key) within a JSON value."""
    keys = value.keys() if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    return [place for key in keys for place in ((value, key), *places_of(value[key]))]


def test_changed_metadata_with_a_new_digest_are_read_or_refused(
    small: tuple[Any, Any], tmp_path: Path
) -> None:
    """What a valid value stands for can change without notice; nothing but `InputError` is ever raised."""
    random, refused = Random(21), 0
    for _ in range(DRAWS):
        about = copy.deepcopy(small[0])
        container, key = random.choice(
            places_of(about["words"]) if random.random() < 0.8 else places_of(about)
        )
        if random.random() < 0.3 and isinstance(container, dict):
            del container[key]
        else:
            container[key] = random.choice(VALUES)
        path = write(tmp_path / "s.safetensors", about, small[1])
        try:
            read_vectors(path)
        except InputError:
            refused += 1
    assert refused > DRAWS / 2


def test_changed_tensors_with_a_new_digest_are_refused(small: tuple[Any, Any], tmp_path: Path) -> None:
    random = Random(22)
    changes = (
        lambda x: x[..., None], lambda x: np.concatenate([x, x]), lambda x: x.astype(np.float64 if x.dtype != np.float64 else np.float32),
        lambda x: x.astype(np.int64 if x.dtype != np.int64 else np.float32), lambda x: x.ravel()[:0], lambda x: x.reshape(()) if x.size == 1 else x.ravel()[0],
    )  # fmt: skip
    for _ in range(DRAWS // 2):
        tensors = dict(small[1])
        name = random.choice([name for name in tensors if tensors[name].size])
        draw = random.random()
        if draw < 0.2:
            tensors[f"{name}x"] = tensors.pop(name)
        elif draw < 0.4:
            tensors[name.rpartition("/")[2]] = tensors[name]
        else:
            tensors[name] = np.asarray(random.choice(changes)(tensors[name]))
        path = write(tmp_path / "s.safetensors", small[0], tensors)
        assert "write it again" in refusal(path)


@pytest.mark.parametrize(
    ("about", "said"),
    [
        (3, "no file of vectors"),
        ([], "no file of vectors"),
        ({}, "its format is not mirrormata-vectors/3"),
        ({"format": "mirrormata-vectors/2"}, "write it again"),
        ({"format": "mirrormata-vectors/3"}, "`sha256` is no digest"),
        ({"format": "mirrormata-vectors/3", "sha256": "0" * 64}, "it was changed after it was written"),
    ],
)
def test_metadata_of_something_else_are_refused(about: Any, said: str, tmp_path: Path) -> None:
    tensors = {"a/b/q": np.zeros(3, np.float32)}
    assert said in refusal(write(tmp_path / "s.safetensors", about, tensors, signed=False))


def test_metadata_that_are_nested_too_deeply_are_refused(tmp_path: Path) -> None:
    text = "[" * 100_000 + "]" * 100_000
    save_file({"q": np.zeros(3, np.float32)}, tmp_path / "s.safetensors", metadata={"mirrormata": text})
    assert "no file of vectors" in refusal(tmp_path / "s.safetensors")
