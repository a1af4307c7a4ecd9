"""`spectrum` on model folders and on checkpoints of every type: one matrix a letter, or a refusal that says what measures it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from mirrormata.constructions._construct import construct
from mirrormata.constructions.automata._labels import label_text
from mirrormata.foundation._errors import InputError
from mirrormata.models._config import ModelConfig
from mirrormata.models._kinds import from_construction
from mirrormata.models._model import Model
from mirrormata.models._model_file import save_model
from mirrormata.models._sources import spectrum_of_model
from mirrormata.models.fla._conversion import import_model, trained_checkpoint
from mirrormata.models.fla._folder import save_fla
from mirrormata.models.learned._spectrum import multiply_exactly
from mirrormata.models.tasks._automaton import AutomatonTask
from mirrormata.models.tasks._task import TaskSettings
from mirrormata.tests.cli.command_line import Outcome

TASK = AutomatonTask(TaskSettings(spec="S3[transpositions]", bos=True, labels="state"))
SIZES: dict[str, Any] = {
    "width": 12, "heads": 2, "head_dim": 3, "value_dim": 5, "letters": TASK.letters, "classes": TASK.classes, "head_bias": False,
}  # fmt: skip


def folder_of(place: Path, **entries: Any) -> tuple[Path, Model]:
    model = Model(ModelConfig(**{**SIZES, **entries}), [3])
    generator = torch.Generator().manual_seed(4)
    with torch.no_grad():
        for value in model.parameters():
            value.copy_(torch.randn(value.shape, generator=generator) * 0.5)
    save_model(place, model, TASK.contract((3, 9), ("16",)).as_json())
    return place, model


def eigenvalues(head: Any) -> list[list[tuple[Any, ...]]]:
    """Of every group of equal letters the real and imaginary parts and multiplicities, in order."""
    return [
        sorted((v["re"], v["im"], v["multiplicity"]) for v in letter["eigenvalues"])
        for letter in head["letters"]
    ]


def test_the_first_factor_stands_on_the_right() -> None:
    """The spectrum of a letter is that of its transpose too, so the order is looked at in the matrix."""
    generator = np.random.default_rng(8)
    beta, keys, gate = generator.uniform(0, 2, 3), generator.normal(size=(3, 4)), 0.75
    wanted = gate * np.eye(4)
    for strength, key in zip(beta, keys, strict=True):
        wanted = (np.eye(4) - strength * np.outer(key, key)) @ wanted
    found = np.array(multiply_exactly(beta, keys, gate), dtype=float)
    assert np.abs(found - wanted).max() < 1e-13
    assert np.abs(found - wanted.T).max() > 0.1


def test_eigenvalues_of_a_random_layer_are_those_of_its_formula(tmp_path: Path) -> None:
    """α (I - β k kᵀ) has α twice, exactly, and α (1 - β ‖k‖²)."""
    place, model = folder_of(tmp_path / "own", family="gated_deltanet")
    found = spectrum_of_model(str(place)).to_json()
    assert [head["head"] for head in found["heads"]] == ["head 1.1", "head 1.2"]
    wide = model.double()
    mixer: Any = wide.blocks[0].mixer
    block: Any = wide.blocks[0]
    letters = torch.arange(3)[None, :, None]  # BOS, the fourth, is no letter
    with torch.no_grad():
        beta, keys, gate = mixer.factors(block.mixer_norm(wide.embedding(letters)))
    assert found["real"]
    for h, head in enumerate(found["heads"]):
        assert [letter["letters"] for letter in head["letters"]] == [
            [label_text(x)] for x in TASK.automaton.letters
        ]
        for x, values in enumerate(eigenvalues(head)):
            alpha, length = float(gate[0, x, 0, h]), float(keys[0, x, 0, 0, h].square().sum())
            other = alpha * (1 - float(beta[0, x, 0, 0, h]) * length)
            assert values == [
                (pytest.approx(other, abs=1e-12), 0, 1),
                (pytest.approx(alpha, abs=1e-12), 0, 2),
            ]


def test_a_construction_and_its_model_have_the_same_eigenvalues() -> None:
    for name in ("parity", "S3", "flipflop"):
        lrnn = construct(name, exactness="integer")
        wanted = {
            str(sorted(x)) for head in spectrum_of_model(lrnn).to_json()["heads"] for x in eigenvalues(head)
        }
        found = {
            str(sorted(x))
            for head in spectrum_of_model(from_construction(lrnn)).to_json()["heads"]
            for x in eigenvalues(head)
        }
        assert found == wanted, name


@pytest.mark.parametrize(
    "entries",
    [
        {"family": "fla_gla", "range": (0, 1)},
        {"family": "kda", "width": 12},
        {"family": "gated_deltanet", "options": {"key_eps": 1e-6, "norm_eps": 1e-6}},
        {"family": "fla_delta_net"},
    ],
)
def test_a_checkpoint_and_its_import_have_the_same_eigenvalues(
    entries: dict[str, Any], tmp_path: Path
) -> None:
    if entries["family"] == "kda":
        entries = {**entries, "options": {"key_eps": 1e-6, "norm_eps": 1e-6}}
    place, _ = folder_of(tmp_path / "own", tokens=(4, 2, 0, 5), meaning=(0, 1, 2, 3, 4, 5), **entries)
    made, _ = trained_checkpoint(str(place))
    save_fla(tmp_path / "fla", made)
    import_model(tmp_path / "fla", tmp_path / "again")
    found = [spectrum_of_model(str(tmp_path / name)).to_json()["heads"] for name in ("own", "again", "fla")]
    assert found[0] == found[1]
    if entries["family"] != "fla_delta_net":  # whose checkpoint is run in numpy, with other bits
        assert found[0] == found[2]
    for one, two in zip(found[0], found[2], strict=True):
        assert [letter["letters"] for letter in one["letters"]] == [
            letter["letters"] for letter in two["letters"]
        ]
        for x, y in zip(eigenvalues(one), eigenvalues(two), strict=True):
            assert x == [(pytest.approx(re, abs=1e-9), im, count) for re, im, count in y]


@pytest.mark.parametrize(
    ("entries", "why"),
    [
        ({"layers": 2}, "it has 2 layers, so"),
        ({"conv": 3}, "it has a short convolution, so"),
        ({"family": "rwkv7", "layers": 2, "head_dim": 6}, "it has 2 layers and a token shift, so"),
        ({"family": "lstm"}, "lstm has no linear heads"),
    ],
)
def test_what_has_no_spectrum_by_letter(
    entries: dict[str, Any], why: str, tmp_path: Path, call: Callable[..., Outcome]
) -> None:
    place, model = folder_of(tmp_path / "own", **entries)
    done = call("spectrum", str(place))
    said = " ".join(done.error.split())
    assert done.status == 2
    assert why in said
    assert ("`mirrormata audit`" in said or "`audit`" in said) == ("lstm" not in why)
    with pytest.raises(InputError):
        spectrum_of_model(model)


def test_the_command_takes_a_folder(tmp_path: Path, call: Callable[..., Outcome]) -> None:
    place, _ = folder_of(tmp_path / "own", head_dim=2)
    done = call("spectrum", str(place), "--products", "1", "--json")
    assert done.status == 0, done.error
    assert len(done.json["heads"]) == 2
    assert call("spectrum", str(place), "--max-dim", "1").status == 2
    (place / "task.json").write_text("[]")
    assert call("spectrum", str(place)).status == 2
