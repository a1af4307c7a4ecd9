"""Layers of a user's own: what may be loaded, what is refused in one line, and that models of them work everywhere."""

from __future__ import annotations

import json
import sys
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from mirrormata.cli import main
from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.examples.layers.pd_ssm import PDSSM
from mirrormata.examples.layers.rotation import Rotation
from mirrormata.examples.layers.unitary import Unitary
from mirrormata.foundation._errors import InputError
from mirrormata.models import (
    Model,
    ModelConfig,
    ModelStepper,
    RecurrentLayer,
    find_family,
    learned_from_model,
    task_from_settings,
)
from mirrormata.models import _layer_names as layer_names
from mirrormata.models._model_file import load_model, save_model
from mirrormata.models.layers._own import run_recurrence

LAYERS = (Rotation, PDSSM, Unitary)


def name_of(layer: type[RecurrentLayer]) -> str:
    return f"{layer.__module__}:{layer.__name__}"


def small_config(layer: type[RecurrentLayer], **entries: Any) -> ModelConfig:
    given = {"letters": 3, "classes": 3, "width": 8, "heads": 2, "head_dim": 3, "value_dim": 2, "mlp": 0.0}
    return ModelConfig(family=name_of(layer), **{**given, **entries})


@pytest.mark.parametrize("tokens", range(12))
@pytest.mark.parametrize("adds", [False, True])
def test_the_scan_is_the_recurrence(tokens: int, adds: bool) -> None:
    torch.manual_seed(tokens)
    A = torch.randn(2, tokens, 3, 4, 4, dtype=torch.float64)
    B = torch.randn(2, tokens, 3, 4, 2, dtype=torch.float64) if adds else None
    H = torch.randn(2, 3, 4, 2, dtype=torch.float64)
    found, wanted = run_recurrence(A, B, H), []
    for t in range(tokens):
        H = A[:, t] @ H + (0 if B is None else B[:, t])
        wanted.append(H)
    assert found.shape[1] == tokens
    for t, state in enumerate(wanted):
        torch.testing.assert_close(found[:, t], state)


@pytest.mark.parametrize("layer", LAYERS)
def test_a_seed_is_the_same_alone_and_beside_others(layer: type[RecurrentLayer]) -> None:
    both, alone = Model(small_config(layer), (0, 1)), Model(small_config(layer), (1,))
    letters = torch.randint(0, 3, (1, 4, 9))
    assert torch.equal(both(letters)[0][1], alone(letters)[0][0])
    assert torch.equal(both.select(1)(letters)[0], alone(letters)[0])


@pytest.mark.parametrize("layer", LAYERS)
def test_token_by_token_is_the_whole_word(layer: type[RecurrentLayer]) -> None:
    model = Model(small_config(layer, layers=2), (0,)).double()
    letters = torch.randint(0, 3, (1, 5, 7))
    whole, _ = model(letters)
    states = None
    for t in range(7):
        one, states = model(letters[:, :, t : t + 1], states)
        torch.testing.assert_close(one[:, :, 0], whole[:, :, t], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("layer", LAYERS)
def test_gradients_reach_every_parameter(layer: type[RecurrentLayer]) -> None:
    model = Model(small_config(layer), (0, 1))
    logits, _ = model(torch.randint(0, 3, (1, 4, 6)))
    logits.square().sum().backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert torch.isfinite(parameter.grad).all(), name
        assert parameter.grad.abs().sum() > 0, name


@pytest.mark.parametrize("layer", LAYERS)
def test_a_comparison_sees_the_heads_and_the_read_out(layer: type[RecurrentLayer]) -> None:
    model = Model(small_config(layer), (0,))
    automaton = automaton_from_spec("Z3")
    learned = learned_from_model(model, automaton)
    shape = model.blocks[0].mixer.by_seed[0].state_shape()  # type: ignore[union-attr, index]
    assert [head.A.shape for head in learned.heads] == [(3, shape[1], shape[1])] * shape[0]
    stepper = ModelStepper(model)
    states = stepper.initial(6)
    for letters in np.random.default_rng(0).integers(0, 3, (5, 6)):
        before = learned.head_states(states)
        states = stepper.step(states, letters)
        after = learned.head_states(states)
        for head, H, K in zip(learned.heads, before, after, strict=True):
            np.testing.assert_allclose(head.A[letters] @ H + head.B[letters], K, rtol=1e-4, atol=1e-5)
        assert learned.read is not None
        np.testing.assert_array_equal(learned.read(after, letters), stepper.decode(states, letters))


def test_folders_are_read_again(tmp_path: Path) -> None:
    model = Model(small_config(PDSSM, options={"dictionary": 3}), (4,))
    assert model.blocks[0].mixer.by_seed[0].entries[1] == 3  # type: ignore[union-attr, index]
    save_model(tmp_path / "model", model, {})
    again, _ = load_model(tmp_path / "model")
    letters = torch.randint(0, 3, (1, 2, 5))
    assert torch.equal(again(letters)[0], model(letters)[0])


UNLOADED = """
from mirrormata.models import RecurrentLayer
print("LOADED")
"""


@pytest.fixture
def foreign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a model whose configuration names a module beside it, which nothing has loaded."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "foreign_layer.py").write_text(UNLOADED)
    model = Model(small_config(Rotation), (0,))
    contract = task_from_settings({"spec": "Z3", "bos": False}).contract((2, 16), ("16",))
    save_model("model", model, contract.as_json())
    config = json.loads(Path("model/config.json").read_text())
    config["model"]["family"] = "foreign_layer:Rotation"
    Path("model/config.json").write_text(json.dumps(config))
    monkeypatch.setattr(layer_names, "_named", set())
    return tmp_path


def test_a_folder_never_loads_code(foreign: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(InputError, match="a name in a file loads no code") as error:
        load_model("model")
    assert "`layer` foreign_layer:Rotation" in str(error.value)
    for command in (
        ["eval", "model"], ["compare", "model", "Z3"], ["prove", "model", "Z3"], ["report", "model", "-o", "r.html"],
    ):  # fmt: skip
        with pytest.raises(SystemExit) as stop:
            main(command)
        assert stop.value.code == 2, command
        assert "--layer foreign_layer:Rotation" in capsys.readouterr().err, command
    assert "foreign_layer" not in sys.modules


@pytest.mark.parametrize("way", ["option", "variable", "entry point"])
def test_who_names_the_class_has_it_loaded(
    way: str, foreign: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    options = []
    if way == "option":
        options = ["--layer", "foreign_layer:Rotation"]
    elif way == "variable":
        monkeypatch.setenv(layer_names.VARIABLE, "other:Class, foreign_layer:Rotation")
    else:
        points = [EntryPoint("turning", "foreign_layer:Rotation", layer_names.GROUP)]
        monkeypatch.setattr(layer_names, "entry_points", lambda group: points)
    with pytest.raises(SystemExit):
        main(["eval", "model", *options])
    said = capsys.readouterr()
    assert "LOADED" in said.out
    assert "has no Rotation" in said.err
    sys.modules.pop("foreign_layer")


def test_an_entry_point_has_a_name_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    points = [EntryPoint("turning", name_of(Rotation), layer_names.GROUP)]
    monkeypatch.setattr(layer_names, "entry_points", lambda group: points)
    assert find_family("turning").summary == Rotation.summary


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("os:system", "no subclass of mirrormata.models.RecurrentLayer"),
        ("torch.nn:Linear", "no subclass of mirrormata.models.RecurrentLayer"),
        ("os:nothing", "os .* has no nothing"),
        ("os:path:join", "write package.module:Class"),
        ("a b:C", "write package.module:Class"),
        (":C", "write package.module:Class"),
        ("../x:C", "write package.module:Class"),
        ("not_there:C", "a name in a file loads no code"),
    ],
)
def test_what_is_no_layer_is_refused(name: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        ModelConfig(family=name)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("import not_installed_anywhere", "it imports not_installed_anywhere, which is not installed"),
        (
            "x = 1 / 0",
            r"cannot be imported: ZeroDivisionError \(division by zero\), at broken_layer.py line 1",
        ),
        ("def f(:", r"SyntaxError .*, at broken_layer.py line 1"),
    ],
)
def test_a_module_that_cannot_be_loaded_is_one_line(
    text: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(layer_names, "_named", set())
    Path("broken_layer.py").write_text(text)
    layer_names.name_layer("broken_layer:RecurrentLayer")
    with pytest.raises(InputError, match=said) as error:
        find_family("broken_layer:RecurrentLayer")
    assert "\n" not in str(error.value)


class Wrong(RecurrentLayer):
    """Wrong in the way that `settings` says."""

    settings: ClassVar = {"way": "none"}

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        self.output = nn.Linear(config.width, config.width)
        if self.options["way"] == "init":
            raise ValueError("bad size")

    def state_shape(self) -> tuple[int, int, int]:
        return 1, 2, 1

    def transitions(self, x: Tensor) -> Tensor:
        way = self.options["way"]
        if way == "raises" and x.shape[1] > 3:
            raise ZeroDivisionError("in the middle")
        n = 3 if way == "size" else 2
        A = torch.eye(n).expand(*x.shape[:2], 1, n, n)
        return A[:, :, 0] if way == "heads" else A

    def additions(self, x: Tensor) -> Tensor:
        B = x.new_zeros(*x.shape[:2], 1, 2, 1)
        return B[:, :1] if self.options["way"] == "tokens" else B

    def read_out(self, x: Tensor, H: Tensor) -> Tensor:
        return H.flatten(2) if self.options["way"] == "output" else self.output(x)

    def forward(self, x: Tensor, state: Any = None) -> Any:
        y, after = super().forward(x, state)
        return y, {**after, **({"more": y} if self.options["way"] == "state" else {})}


@pytest.mark.parametrize(
    ("way", "said"),
    [
        ("init", r"Wrong.__init__: ValueError \(bad size\), at test_own_layers.py line \d+"),
        ("size", r"Wrong: transitions gave \[2, 3, 1, 3, 3\], needed is \[batch, tokens, heads, n, n\], here \[2, 3, 1, 2, 2\]"),
        ("heads", r"Wrong: transitions gave \[2, 3, 2, 2\]"),
        ("tokens", r"Wrong: additions gave \[2, 1, 1, 2, 1\], needed is \[batch, tokens, heads, n, d\], here \[2, 3, 1, 2, 1\]"),
        ("output", r"Wrong: forward gave \[2, 3, 2\], needed is \[batch, tokens, width\], here \[2, 3, 8\]"),
        ("state", r"Wrong: forward gave a state with H, more; `begin` gives H"),
    ],
)  # fmt: skip
def test_a_wrong_layer_is_one_line_with_the_method(way: str, said: str) -> None:
    with pytest.raises(InputError, match=said) as error:
        Model(small_config(Wrong, options={"way": way}))
    assert "\n" not in str(error.value)


def test_an_error_in_a_step_says_where() -> None:
    model = Model(small_config(Wrong, options={"way": "raises"}))
    with pytest.raises(
        InputError,
        match=r"Wrong.forward: ZeroDivisionError \(in the middle\), at test_own_layers.py line \d+",
    ):
        model(torch.zeros(1, 1, 5, dtype=torch.int64))


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        ({"options": {"sise": 3}}, "options.sise is unknown to .*PDSSM; its options: dictionary"),
        ({"options": {"dictionary": "3"}}, "options.dictionary is '3': its type is int"),
        ({"options": {"dictionary": True}}, "options.dictionary is True: its type is int"),
        (
            {"family": "deltaproduct", "options": {"dictionary": 3}},
            "unknown to deltaproduct; its options: none",
        ),
    ],
)
def test_options_are_those_that_the_layer_declares(entries: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        ModelConfig(**{"family": name_of(PDSSM), **entries})
