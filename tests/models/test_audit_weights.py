"""`audit_weights`: constructed models whose figures are known, models of bytes by their ranges, tokenizers, FLA checkpoints, and errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mirrormata import construct
from mirrormata.foundation._errors import InputError, LimitError
from mirrormata.models import Model, ModelConfig, WeightsAudit, audit_weights, from_construction, save_fla
from mirrormata.models._model_file import save_model
from mirrormata.models.audit._reading import BYTE_CLASSES, classify_bytes, read_byte_windows
from mirrormata.models.fla._export import fla_checkpoint
from mirrormata.models.tasks._kinds import task_from_settings
from mirrormata.models.tasks._task import TaskSettings
from mirrormata.models.tasks._tokens import write_tokens
from mirrormata.tests.conftest import ROOT
from mirrormata.tests.models.learned_folders import untrained

SMALL: dict[str, Any] = {"words": 2, "length": 128, "starts": 32, "horizon": 32}


def audit_built(spec: str, **options: Any) -> WeightsAudit:
    return audit_weights(from_construction(construct(spec)), **{**SMALL, **options})


def text_model(folder: Path, *, low: int, seed: int = 0, **entries: Any) -> Path:
    """An untrained model of bytes, with the contract of a text task."""
    (folder / "text.txt").write_text("Some text, of 2 lines.\n" * 40)
    task = task_from_settings(TaskSettings(spec=f"text:{folder / 'text.txt'}"))
    shape = {"width": 32, "heads": 2, "head_dim": 8, "value_dim": 8, "layers": 2, **entries}
    model = Model(ModelConfig(letters=257, classes=256, range=(low, 1), **shape), [seed])
    place = folder / f"model{low}"
    save_model(place, model, task.contract((8, 8), ("8",)).as_json())
    return place


def test_parity_has_an_eigenvalue_of_minus_one_at_every_one() -> None:
    words = np.random.default_rng(0).integers(0, 2, (3, 200))
    found = audit_weights(from_construction(construct("parity")), words, starts=60)
    (layer,) = found.layers
    ones = float(words.mean())
    first = layer.all.products[0]
    assert first.tokens == 1
    assert first.count == words.size
    assert (
        first.negative == first.negative_lasting == layer.all.above_one == layer.all.near_reflection == ones
    )
    assert first.negative_modulus is not None
    assert (first.negative_modulus.least, first.negative_modulus.largest) == (1, 1)
    assert first.non_real == 0
    assert layer.classes["1"].products[0].negative == 1
    assert layer.classes["0"].products[0].negative == 0
    assert layer.all.control is not None
    assert layer.all.control[0].negative == layer.all.control[0].non_real == 0
    memory = layer.all.memory[0]
    assert memory is not None
    assert memory.least == np.inf
    assert abs(ones - 0.5) < 0.05


def test_the_share_of_parity_on_its_own_random_words_is_a_half() -> None:
    found = audit_built("parity", words=32, length=512)
    assert abs(found.layers[0].all.products[0].negative - 0.5) < 4 * 0.5 / np.sqrt(found.tokens)


def test_a_rotation_has_its_angle_and_does_not_shrink() -> None:
    """Z_5 by rotations: the letter turns by a fifth of a turn, products by multiples of it, all with modulus 1."""
    found = audit_built("mod:5")
    for p in found.layers[0].all.products:
        assert p.non_real == p.rotating > 0
        assert p.angle is not None
        assert p.modulus is not None
        assert p.half_life is not None
        assert min(abs(p.angle.median - a) for a in (72, 144)) < 1e-3
        assert abs(p.modulus.median - 1) < 1e-6
        assert p.half_life.median == np.inf
        assert p.negative == 0
    assert found.layers[0].all.control is not None
    assert all(p.rotating == 0 for p in found.layers[0].all.control)
    assert found.layers[0].all.within_keys is not None
    assert found.layers[0].all.within_keys.largest == pytest.approx(36, abs=1e-3)  # half of the angle


def test_cycles_and_swaps_of_three_points() -> None:
    """S_3: of its six letters three are swaps, with eigenvalue -1, and two turn by 120 degrees."""
    letters = np.tile(np.arange(6), (2, 20))
    found = audit_weights(from_construction(construct("S3")), letters, products=[1, 2], starts=20)
    first = found.layers[0].all.products[0]
    assert first.negative == pytest.approx(1 / 2)
    assert first.non_real == first.rotating == pytest.approx(1 / 3)
    assert first.angle is not None
    assert (first.angle.least, first.angle.largest) == pytest.approx((120, 120), abs=1e-3)


def test_resets_are_forgotten() -> None:
    found = audit_built("T3", length=64)
    memory = found.layers[0].all.memory
    assert memory[0] is not None
    assert memory[1] is not None
    assert memory[0].largest <= memory[1].largest
    assert memory[0].median < 20


def test_ranges_of_models_of_bytes_differ_as_they_must(tmp_path: Path) -> None:
    found = {
        low: audit_weights(text_model(tmp_path, low=low), tmp_path / "text.txt", **SMALL) for low in (0, -1)
    }
    for layer in found[0].layers:
        assert layer.all.above_one == 0
        assert layer.all.products[0].negative == layer.all.products[0].non_real == 0
        assert layer.all.products[1].negative == layer.all.products[1].non_real == 0
    assert any(layer.all.products[0].negative > 0.1 for layer in found[-1].layers)
    for audited in found.values():
        for layer in audited.layers:
            assert layer.all.control is not None
            assert layer.all.control[0].negative == layer.all.control[0].non_real == 0
            assert len(layer.heads) == 2
            for part in (layer.all, *layer.heads, *layer.classes.values()):
                assert part.products[0].negative == part.above_one
            assert sum(part.tokens for part in layer.classes.values()) == audited.tokens == layer.all.tokens
            assert layer.all.effective_rank is not None
            assert 1 <= layer.all.effective_rank.median <= 8
    assert set(found[0].classes) == {"letters", "digits", "whitespace", "newline", "punctuation"}


@pytest.mark.parametrize(
    ("family", "entries"),
    [
        ("deltaproduct", {"householders": 2, "gated": True, "conv": 3}),
        ("gla", {}),
        ("mamba", {"conv": 3}),
        ("mamba2", {"options": {"groups": 2}}),
        ("gated_deltanet", {"conv": 3}),
        ("kda", {}),
        ("gated_deltanet2", {}),
        ("pd_ssm", {}),
        ("rwkv7", {}),
        ("rwkv7_like", {}),
        ("complex_kda", {}),
        ("matrix", {}),
    ],
)
def test_every_linear_family(family: str, entries: dict[str, Any], tmp_path: Path) -> None:
    shape: dict[str, Any] = {
        "layers": 2, "width": 8, "heads": 2, "head_dim": 4, "value_dim": 4, "mlp": 1.0,
    }  # fmt: skip
    model = Model(ModelConfig(family=family, letters=3, classes=2, **shape, **entries), [1])
    found = audit_weights(model, words=2, length=80, starts=16, horizon=20)
    document = json.loads(json.dumps(found.to_json(), allow_nan=False))
    kinds = {
        "deltaproduct": "factors", "gated_deltanet": "factors", "gla": "diagonal", "mamba": "diagonal", "mamba2": "diagonal",
    }  # fmt: skip
    assert [layer["kind"] for layer in document["layers"]] == [kinds.get(family, "matrix")] * 2
    assert (found.layers[0].all.control is None) == (family not in kinds)
    assert len(found.rows()) == 3
    legend = " ".join((*found.legend(), *found.details_legend()))
    for heads in (found.rows()[0], *(rows[0] for _, rows in found.tables())):
        for head in heads:  # a legend explains each column, or it says itself what it is
            words = head.replace("\n", " ").removeprefix("% ").removeprefix("with ").removeprefix("that ")
            plain = words in ("layer", "head", "class", "tokens", "n", "last")
            assert plain or any(word.strip(",") in legend for word in words.split()[:2]), head
    assert all(len(set(map(len, rows))) == 1 for _, rows in found.tables())
    assert found.headline
    assert "not known" in " ".join(found.notes()) or family in kinds


def test_a_layer_of_ones_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planes that turn, as matrices: what turns and shrinks is found, and there is no control."""
    monkeypatch.setenv("MIRRORMATA_LAYERS", "rotation:Rotation")
    monkeypatch.syspath_prepend(f"{ROOT}/examples/layers")
    model = Model(ModelConfig(family="rotation:Rotation", letters=3, classes=2, width=8, heads=3), [1])
    found = audit_weights(model, words=2, length=80, starts=16, horizon=20)
    (layer,) = found.layers
    assert (layer.kind, layer.dim, layer.all.control, layer.all.above_one) == ("matrix", 2, None, None)
    assert layer.all.products[0].non_real > 0.9
    modulus = layer.all.products[0].modulus
    assert modulus is not None
    assert 0.9 < modulus.median < 1


def test_pieces_carry_convolutions_and_states() -> None:
    """The transitions of a word that is read piece by piece are those of the word as a whole."""
    import torch

    from mirrormata.models.audit._running import run_window
    from mirrormata.models.audit._steps import FactorSteps
    from mirrormata.models.learned._model import watch_mixers

    model = Model(
        ModelConfig(letters=3, width=8, heads=2, head_dim=4, value_dim=4, layers=2, conv=3, gated=True), [1]
    )
    word = np.random.default_rng(0).integers(0, 3, 100)
    whole: list[Any] = []
    with torch.no_grad(), watch_mixers(model, lambda i, m, x, s: whole.append(m.transitions(x, s)[0, 0])):
        model(torch.from_numpy(word)[None, None])
    for run, A in zip(run_window(model, word, "model"), whole, strict=True):
        assert isinstance(run.steps, FactorSteps)
        mine = run.steps.apply(np.broadcast_to(np.eye(4), (100, 2, 4, 4)), np.arange(100), slice(0, 2))
        assert np.abs(mine - A.numpy()).max() < 1e-5
        assert run.states.shape == (4, 2, 4, 4)


def test_classes_of_bytes() -> None:
    names = [BYTE_CLASSES[c] for c in classify_bytes([*b"aZ7 \t\n.~\x00\x80", 256])]
    assert names == ["letters", "letters", "digits", "whitespace", "whitespace", "newline", "punctuation", "punctuation", "other", "other", "other"]  # fmt: skip


def test_windows_are_evenly_spaced_and_do_not_overlap() -> None:
    text = bytes(range(200))
    assert read_byte_windows(text, 3, 50).tokens[:, 0].tolist() == [0, 75, 150]
    assert read_byte_windows(text, 9, 50).tokens.shape == (4, 50)
    assert read_byte_windows(text, 9, 500).tokens.shape == (1, 200)
    assert "all 200 bytes" in read_byte_windows(text, 9, 500).text


def test_a_checkpoint_of_fla_on_words_of_its_task(tmp_path: Path) -> None:
    save_fla(tmp_path / "fla", fla_checkpoint(construct("S3", exactness="integer")))
    found = audit_weights(tmp_path / "fla", **SMALL)
    assert "uniform random words" in found.text
    assert len(found.layers) == 1
    first = found.layers[0].all.products[0]
    assert 0.3 < first.negative < 0.7
    assert 0.2 < first.non_real < 0.5


def test_a_tokenizer_beside_a_checkpoint(tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    save_fla(tmp_path / "fla", fla_checkpoint(construct("S3", exactness="integer")))
    vocabulary = json.loads((tmp_path / "fla/config.json").read_text())["vocab_size"]
    text = tmp_path / "text.txt"
    text.write_text("ab ab ba b. " * 30)
    with pytest.raises(InputError, match=r"tokenizer\.json: no such file"):
        audit_weights(tmp_path / "fla", text, **SMALL)
    words = {word: i for i, word in enumerate(["ab", "ba", "b", "."])}
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="b"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    made.save(str(tmp_path / "fla/tokenizer.json"))
    found = audit_weights(tmp_path / "fla", text, **SMALL)
    assert set(found.classes) == {"letters", "punctuation"}
    assert vocabulary >= len(words)
    text.write_bytes(b"\xff" * 40)
    with pytest.raises(InputError, match="byte 0 is no UTF-8"):
        audit_weights(tmp_path / "fla", text, **SMALL)


def test_what_is_refused(tmp_path: Path) -> None:
    place = text_model(tmp_path, low=0)
    untrained(tmp_path / "lstm", "parity", family="lstm")
    untrained(tmp_path / "parity", "parity")
    (tmp_path / "c.json").write_text(json.dumps(construct("parity").certificate()))
    cases: list[tuple[str, dict[str, Any], str]] = [
        (str(place), {}, "give `text`"),
        (str(place), {"text": tmp_path / "none"}, "no such file of text"),
        (str(place), {"text": b"short"}, "at least 16 are needed"),
        (str(tmp_path / "lstm"), {}, "no linear heads"),
        (str(tmp_path / "parity"), {"text": b"0" * 99}, "leave out `text`"),
        (str(tmp_path / "parity"), {"text": np.full((2, 9), 2)}, "0 to 1"),
        (str(tmp_path / "parity"), {"text": np.zeros(9, int)}, "words, tokens"),
        (str(tmp_path / "parity"), {"words": 0}, "`words` 0"),
        (str(tmp_path / "parity"), {"products": []}, "`products` is empty"),
        (str(tmp_path / "parity"), {"products": [0]}, "`products` 0"),
        (str(tmp_path / "parity"), {"length": 20, "products": [16]}, "products of up to 10"),
        (str(tmp_path / "parity"), {"lasting": 0}, "`lasting` 0"),
        (str(tmp_path / "c.json"), {}, "is a file"),
        (str(tmp_path / "nothing"), {}, "no such folder"),
    ]
    for model, options, message in cases:
        with pytest.raises(InputError, match=message):
            audit_weights(model, **options)
    with pytest.raises(LimitError, match="lower one of the two"):
        audit_weights(str(tmp_path / "parity"), words=10_000, length=10_000)
    with pytest.raises(InputError, match="2 seeds"):
        audit_weights(Model(ModelConfig(), [0, 1]))


def test_products_that_are_too_long_are_left_out_and_named() -> None:
    found = audit_built("parity", length=20, products=[1, 4, 64])
    assert found.settings.products == (1, 4)
    assert found.settings.left_out == (64,)
    assert "64" in found.notes()[0]


def test_large_transitions_are_refused_after_the_first_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    from mirrormata.models.audit import _running

    monkeypatch.setattr(_running, "MAX_ENTRIES", 100)
    with pytest.raises(LimitError, match="lower `length`"):
        audit_built("parity")


def test_the_command(tmp_path: Path, call: Any) -> None:
    untrained(tmp_path / "model", "S3", householders=2)
    place, few = str(tmp_path / "model"), ("--words", "2", "--length", "64", "--starts", "8")
    shown = call("audit", place, *few).out
    assert "layer" in shown
    assert "float32" in shown
    assert "classes of tokens" not in shown
    assert "classes of tokens" in call("audit", place, *few, "--details").out
    found = json.loads(call("audit", place, *few, "--json").out)
    assert (found["tokens"], found["settings"]["products"]) == (128, [1, 2, 4, 8, 16])
    refused = call("audit", place, "--text", place)
    assert refused.err.count("\n") == 1
    assert "--products" in call("audit", place, "--products", "1,x").err
    text_model(tmp_path, low=0)
    assert "give --text" in call("audit", str(tmp_path / "model0")).err


def test_a_report_has_a_section(tmp_path: Path) -> None:
    from mirrormata.models.report._audited import show_audit
    from mirrormata.models.report._folder import open_folder, open_trained
    from mirrormata.tests.models.learned_folders import FEW

    untrained(tmp_path / "model", "S3")
    section = show_audit(open_trained(open_folder(tmp_path / "model"), FEW), FEW)
    assert [type(item).__name__ for item in section.every] == [
        "Table", "Chart", "Chart", "Chart", "Table", "Table",
    ]  # fmt: skip
    place = text_model(tmp_path, low=-1)
    section = show_audit(open_trained(open_folder(place), FEW), FEW)
    assert section.items
    (tmp_path / "text.txt").unlink()
    section = show_audit(open_trained(open_folder(place), FEW), FEW)
    assert section.text.startswith("Not shown: ")


def test_a_model_of_text_with_planted_heads_reads_bytes(tmp_path: Path) -> None:
    """Its letters are bytes, the automaton's, and one that asks; the first two kinds of words are told apart by `text`."""
    (tmp_path / "text.txt").write_text("Some text, of 2 lines.\n" * 40)
    task = task_from_settings(TaskSettings(spec="asked_in_text:S3", text=str(tmp_path / "text.txt")))
    shape: dict[str, Any] = {"width": 32, "heads": 2, "head_dim": 8, "value_dim": 8, "layers": 1}
    model = Model(ModelConfig(letters=task.letters, classes=task.classes, **shape), [0])
    save_model(tmp_path / "model", model, task.contract((8, 8), ("8",)).as_json())
    found = audit_weights(tmp_path / "model", tmp_path / "text.txt", **SMALL)
    assert set(found.classes) <= set(BYTE_CLASSES)
    assert found.tokens == 2 * 128
    assert "random words" in audit_weights(tmp_path / "model", **SMALL).text
    with pytest.raises(InputError, match="which are no bytes: leave out `text`"):
        audit_weights(untrained_folder(tmp_path / "s3"), tmp_path / "text.txt", **SMALL)


def untrained_folder(folder: Path) -> Path:
    untrained(folder, "S3")
    return folder


def test_a_model_of_tokens_reads_by_the_tokenizer_of_its_token_files(tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    tokenizer = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({"some": 0, "text": 1, "?": 2}, unk_token="?")
    )
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    text = tmp_path / "text.txt"
    text.write_text("some text some more text\n" * 200)
    write_tokens(text, tmp_path / "tokens", tokenizer=tmp_path / "tokenizer.json")
    task = task_from_settings(TaskSettings(spec=f"tokens:{tmp_path / 'tokens'}"))
    shape: dict[str, Any] = {"width": 16, "heads": 1, "head_dim": 8, "value_dim": 8, "layers": 1}
    model = Model(ModelConfig(letters=task.letters, classes=task.classes, **shape), [0])
    save_model(tmp_path / "model", model, task.contract((8, 8), ("8",)).as_json())
    found = audit_weights(tmp_path / "model", text, **SMALL)
    assert found.tokens == 2 * 128
    assert "tokens" in found.text
    (tmp_path / "tokens" / "tokenizer.json").unlink()
    with pytest.raises(InputError, match="no such file, and the tokens of"):
        audit_weights(tmp_path / "model", text, **SMALL)
