"""Every entry of every configuration that is read from a file has its type and its range, or is one line that says what is wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec.structs import asdict, replace

from mirrormata.constructions._construct import construct
from mirrormata.constructions._document import read_document
from mirrormata.foundation._errors import InputError
from mirrormata.foundation._files import parse_json, read_json
from mirrormata.models._config import ModelConfig
from mirrormata.models._model import Model
from mirrormata.models._model_file import load_model, save_model
from mirrormata.models._records import record_of
from mirrormata.models.fla._export import fla_checkpoint
from mirrormata.models.fla._folder import load_fla, save_fla
from mirrormata.models.fla._model import DEFAULTS, FlaModel, complete_config
from mirrormata.models.fla._task import read_task
from mirrormata.models.report._data import LearnedLimits
from mirrormata.models.report._folder import open_folder, open_trained
from mirrormata.models.report._learned import show_task
from mirrormata.models.tasks._automaton import AutomatonTask
from mirrormata.models.tasks._contract import read_contract
from mirrormata.models.tasks._task import TaskSettings
from mirrormata.models.training._experiment import experiment_from_dict
from mirrormata.models.training._train import read_result, train
from mirrormata.tests.models.training_cases import experiment

NAN, INF = float("nan"), float("inf")
OF_TYPE: dict[str, tuple[Any, ...]] = {
    "whole": ("3", 3.0, True, NAN, 0, -1, None, [3], {}),
    "whole or none": ("3", 3.0, True, NAN, 0, -1, [3]),
    "positive": ("1.0", True, NAN, INF, 0, -0.5, None, [1.0]),
    "positive or none": ("4", True, NAN, INF, 0, -4),
    "switch": ("false", "true", 0, 1, None, NAN, []),
    "activation": ("gelu", "Silu", 1, None, True, ["silu"]),
    "norm": ("l1", "L2", 2, None),
}
"""Values that an entry of that kind cannot have, by the entry's kind."""
FLA = {
    **dict.fromkeys(("hidden_size", "num_heads", "num_hidden_layers", "vocab_size", "conv_size"), "whole"),
    **dict.fromkeys(("expand_k", "expand_v", "norm_eps"), "positive"),
    **dict.fromkeys(("use_gate", "use_beta", "use_short_conv", "conv_bias", "allow_neg_eigval"), "switch"),
    **dict.fromkeys(("use_output_gate", "use_forget_gate", "tie_word_embeddings"), "switch"),
    **dict.fromkeys(("head_dim", "num_householder"), "whole"),
    "intermediate_size": "whole or none",
    "hidden_ratio": "positive or none",
    "qk_activation": "activation",
    "qk_norm": "norm",
}


@pytest.mark.parametrize("model", DEFAULTS)
@pytest.mark.parametrize(
    ("entry", "value"), [(entry, value) for entry, kind in FLA.items() for value in OF_TYPE[kind]]
)
def test_entries_of_a_checkpoint_of_the_wrong_type(model: str, entry: str, value: Any) -> None:
    with pytest.raises(InputError, match=f"^place: {entry} is ") as refusal:
        complete_config({"model_type": model, entry: value}, "place")
    assert "needed" in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_every_entry_that_is_read_is_checked() -> None:
    """What the readers ask of a configuration, by their own text, is in the table above or has one value only."""
    import re

    folder = Path(__file__).resolve().parents[2] / "models" / "fla"
    asked = set()
    for path in folder.glob("*.py"):
        text = path.read_text(encoding="utf-8")
        asked |= set(re.findall(r'config(?:\.get\(|\[)"(\w+)"', text))
    assert "allow_neg_eigval" in asked
    assert asked - {"model_type"} <= set(FLA)


@pytest.mark.parametrize("model", DEFAULTS)
def test_a_slip_of_the_pen_is_not_passed_over(model: str) -> None:
    with pytest.raises(
        InputError, match="'allow_neg_eigvals' is no entry of FLA's; did you mean 'allow_neg_eigval'"
    ):
        complete_config({"model_type": model, "allow_neg_eigvals": True})
    others = {
        "use_cache": True,
        "torch_dtype": "float32",
        "bos_token_id": 1,
        "fuse_norm": True,
        "attn_mode": "chunk",
    }
    assert complete_config({"model_type": model, **others})["use_cache"] is True


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    save_fla(tmp_path / "fla", fla_checkpoint(construct("parity")))
    return tmp_path / "fla"


def change(path: Path, **entries: Any) -> None:
    """As Python's json writes it: NaN as NaN."""
    path.write_text(json.dumps({**json.loads(path.read_text()), **entries}))


def test_a_checkpoint_names_its_file(checkpoint: Path) -> None:
    change(checkpoint / "config.json", allow_neg_eigval="false")
    with pytest.raises(
        InputError, match=r"config\.json: allow_neg_eigval is 'false'; true or false, without quotes"
    ):
        load_fla(checkpoint)
    change(checkpoint / "config.json", allow_neg_eigval=NAN)
    with pytest.raises(InputError, match=r"config\.json: line 1: NaN is not a finite number"):
        load_fla(checkpoint)


def test_a_tied_read_out_beside_another_head(checkpoint: Path) -> None:
    config, tensors = load_fla(checkpoint)
    assert not np.array_equal(tensors["lm_head.weight"], tensors["model.embeddings.weight"])
    change(checkpoint / "config.json", tie_word_embeddings=True)
    with pytest.raises(
        InputError, match=r"config\.json: tie_word_embeddings is true, but 'lm_head\.weight' is not"
    ):
        load_fla(checkpoint)
    with pytest.raises(InputError, match="tie_word_embeddings is true"):
        FlaModel({**config, "tie_word_embeddings": True}, tensors)
    same = {**tensors, "lm_head.weight": tensors["model.embeddings.weight"]}
    alone = {name: value for name, value in same.items() if name != "lm_head.weight"}
    for given in (same, alone):
        FlaModel({**config, "tie_word_embeddings": True}, given)


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"BOS": 2}, "'BOS' is no entry"),
        ({"bos": "2"}, "bos 'bos' has the token '2'"),
        ({"bos": True}, "bos 'bos' has the token True"),
        ({"letters": {"0": 0.0, "1": 1}}, "has the token 0.0"),
    ],
)
def test_a_checkpoints_task(checkpoint: Path, entries: dict[str, Any], message: str) -> None:
    change(checkpoint / "task.json", **entries)
    with pytest.raises(InputError, match=message):
        read_task(checkpoint, 100)


WRONG_MODEL: dict[type, tuple[Any, ...]] = {
    int: ("3", 3.0, True, NAN, None, -1),
    float: ("2", True, NAN, INF, None, -1.0),
    bool: ("false", 0, 1, None),
    str: (3, None, True, "nosuch"),
    tuple: ("x", 3, [0.5], ["1"], [True], None),
    dict: ("x", 3, None, [1], {"size": [1]}, {"size": None}, {"size": 3}),
}


@pytest.mark.parametrize(
    ("entry", "value"),
    [
        (entry, value)
        for entry, default in asdict(ModelConfig()).items()
        for value in WRONG_MODEL[type(default)]
    ],
)
def test_entries_of_a_model_of_the_wrong_type(entry: str, value: Any) -> None:
    with pytest.raises(InputError, match=r"^config\.json: ") as refusal:
        record_of({**ModelConfig().as_json(), entry: value}, ModelConfig, "config.json")
    assert entry in str(refusal.value)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([False, True], "range[0] is False; a whole number is needed"),
        ([0.0, 1.0], "range[0] is 0.0; a whole number is needed"),
        (["0", "1"], "range[0] is '0'; a whole number is needed"),
        ([0, 1, 1], "range is [0, 1, 1]; a list of 2 is needed"),
        ([1, 0], "range is (1, 0): choose (0, 1) or (-1, 1)"),
        ("[0, 1]", "range is '[0, 1]'; a list is needed"),
    ],
)
def test_the_range_of_a_model_is_two_whole_numbers(value: Any, message: str) -> None:
    with pytest.raises(InputError) as refusal:
        record_of({**ModelConfig().as_json(), "range": value}, ModelConfig, "model")
    assert str(refusal.value) == f"model: {message}"


@pytest.mark.parametrize(
    ("entry", "value"),
    [
        (entry, value)
        for entry, default in asdict(ModelConfig()).items()
        for value in WRONG_MODEL[type(default)]
    ],
)
def test_a_configuration_made_in_python_has_the_same_validator(entry: str, value: Any) -> None:
    messages = []
    makers: tuple[Callable[[], Any], ...] = (
        lambda: ModelConfig(**{entry: value}),
        lambda: record_of({**ModelConfig().as_json(), entry: value}, ModelConfig, "model"),
    )
    for make in makers:
        with pytest.raises(InputError) as refusal:
            make()
        messages.append(str(refusal.value))
    assert messages[0] == messages[1]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    task = AutomatonTask(TaskSettings(spec="parity", bos=False))
    shape = replace(
        ModelConfig(), width=8, heads=1, head_dim=4, value_dim=4, letters=task.letters, classes=task.classes
    )
    save_model(tmp_path / "model", Model(shape, [3]), task.contract((1, 4), ("8",)).as_json())
    return tmp_path / "model"


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"seed": "3"}, "seed is '3'; a whole number from 0"),
        ({"seed": True}, "seed is True"),
        ({"seed": -1}, "seed is -1"),
        ({"colour": 3}, "colour is no entry; entries are format, model, seed"),
        ({"model": []}, r"config\.json: model is \[\]; a section of entries is needed"),
        ({"format": "mirrormata-model/9"}, "its format is"),
    ],
)
def test_a_model_folders_configuration(model: Path, entries: dict[str, Any], message: str) -> None:
    change(model / "config.json", **entries)
    with pytest.raises(InputError, match=message):
        load_model(model)


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"classes": "2"}, r"task\.json: classes is '2'; a whole number is needed"),
        ({"classes": 0}, "classes is 0; a whole number from 1"),
        ({"classes": -2}, "classes is -2"),
        ({"bos": "false"}, "bos is 'false'; true or false without quotes"),
        ({"chance": 1.5}, "chance is 1.5"),
        ({"train_lengths": [5, 3]}, "train_lengths is"),
        ({"train_lengths": [1, 3, 4]}, "a list of 2 is needed"),
        ({"fidelity": "sameish"}, "fidelity is 'sameish'; choose 'same' or"),
        ({"alphabet": []}, "alphabet is empty"),
    ],
)
def test_a_tasks_contract(model: Path, entries: dict[str, Any], message: str) -> None:
    change(model / "task.json", **entries)
    with pytest.raises(InputError, match=message):
        read_contract(model / "task.json")


def test_a_trainings_result(tmp_path: Path) -> None:
    whole = {"seeds": [0], "accuracy": {"8": [1.0]}, "exact": {"8": [None]}}
    path = tmp_path / "result.json"
    path.write_text(json.dumps(whole))
    assert read_result(tmp_path) == whole
    changes: tuple[dict[str, Any], ...] = (
        {"seeds": ["0"]},
        {"seeds": 3},
        {"accuracy": {"8": ["1.0"]}},
        {"exact": []},
    )
    for wrong in changes:
        path.write_text(json.dumps({**whole, **wrong}))
        with pytest.raises(InputError, match=r"result\.json: .* is needed"):
            read_result(tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a":\n NaN}', "line 2: NaN is not a finite number"),
        ('{"NaN": "Infinity",\n\n"b": [0, -Infinity]}', "line 3: -Infinity is not"),
        ('{"a": 1e999}', "line 1: 1e999 is not a finite number"),
        ('{"a": 1, "a": 2}', "the key 'a' stands twice"),
        ('[{"b": {"c": 1, "d": 2, "c": 3}}]', "the key 'c' stands twice"),
        ("[" * 100_000, "nested too deeply"),
        ("1" * 5_000, "too many digits"),
        ('{"a": 1,}', "line 1 is not JSON"),
        ("", "the file is empty"),
    ],
    ids=range(9),
)
def test_what_python_reads_and_json_is_not(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "f.json"
    path.write_text(text)
    for read in (read_json, read_document):
        with pytest.raises(InputError, match=message) as refusal:
            read(path)
        assert str(refusal.value).startswith(f"{path}: ")
        assert "\n" not in str(refusal.value)


def test_json_that_is_fine() -> None:
    text = '{"a": [1, -2.5e3, null, true, "NaN, \\" Infinity"], "b": {"a": 0.1}}'
    assert parse_json(text, "f") == json.loads(text)


def test_a_trainings_settings_hold_every_entry_of_its_model(tmp_path: Path) -> None:
    """Those that were left out too, so that a report says which model it was; and a folder that has fewer goes on."""
    place = tmp_path / "x"
    train(experiment(train__steps=1), place)
    path = place / "settings.json"
    settings = read_json(path)
    assert settings.pop("format") == "mirrormata-settings/1"
    assert set(settings["model"]) == set(ModelConfig().as_json()) - {"letters", "classes"}
    assert (settings["model"]["family"], settings["model"]["householders"]) == ("deltaproduct", 1)
    again = experiment_from_dict(settings, str(path))
    assert again.config(again.build_task()) == load_model(place / "seed-0")[0].config
    folder = open_trained(open_folder(place), LearnedLimits())
    assert folder.config == settings["model"]
    assert "model.family" in str(show_task(folder))
    given = experiment().model
    path.write_text(json.dumps({**settings, "model": given}))
    assert train(experiment(train__steps=1), place).step == 1
    assert open_trained(open_folder(place), LearnedLimits()).config == settings["model"]
    change(path, train={**settings["train"], "batch": "8"})
    with pytest.raises(InputError, match=r"settings\.json: train\.batch is '8'; a whole number is needed"):
        open_trained(open_folder(place), LearnedLimits())
