"""Model folders proved on their own kernels: constructed and changed weights, BOS, output labels, other letters."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from mirrormata.constructions._construct import construct
from mirrormata.constructions._lrnn import LRNN
from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.foundation._errors import InputError
from mirrormata.models._config import ModelConfig
from mirrormata.models._constructed import from_construction
from mirrormata.models._folder_stepper import load_stepper, prove_model
from mirrormata.models._model import Model
from mirrormata.models._model_file import save_model
from mirrormata.models.tasks._automaton import AutomatonTask
from mirrormata.models.tasks._kinds import task_from_settings
from mirrormata.models.tasks._task import TaskSettings


def contract(spec: str, **settings: Any) -> dict[str, Any]:
    return (
        AutomatonTask(TaskSettings(spec=spec, **{"bos": False, **settings}))
        .contract((1, 1), ("100",))
        .as_json()
    )


def contract_of_recall() -> dict[str, Any]:
    return task_from_settings({"spec": "recall"}).contract((64, 64), ("64",)).as_json()


def constructed(spec: str) -> Model:
    lrnn = construct(spec)
    assert isinstance(lrnn, LRNN)
    return from_construction(lrnn)


@pytest.mark.parametrize("spec", ["parity", "S3", "flipflop", "T3"])
@pytest.mark.parametrize("dtype", ["fp32", "bf16"])
def test_constructed_folders_are_equivalent(tmp_path: Path, spec: str, dtype: str) -> None:
    save_model(tmp_path / "m", constructed(spec), contract(spec))
    proof = prove_model(str(tmp_path / "m"), automaton_from_spec(spec), f"kernel:recurrent:{dtype}")
    assert proof.verdict == "equivalent"
    assert proof.arithmetic == f"kernel:recurrent:{dtype}"


def test_a_changed_weight_gives_a_shortest_word(tmp_path: Path) -> None:
    model = constructed("parity")
    mixer: Any = model.blocks[0].mixer
    with torch.no_grad():
        mixer.beta.weight *= 0.75  # h becomes -h/2, which the read-out, ±h - 1/2 in fp32, loses from 2^-26 on
    save_model(tmp_path / "m", model, contract("parity"))
    proof = prove_model(str(tmp_path / "m"), automaton_from_spec("parity"))
    assert proof.verdict == "counterexample"
    assert proof.word == (1,) * 27  # after 26 letters the tie goes to the right class


def test_bos_and_outputs(tmp_path: Path) -> None:
    """A model of parity whose BOS acts like a 1, and whose classes are outputs: the automaton's answers turned over."""
    lrnn = construct("parity")
    plain = constructed("parity")
    shape = {
        **plain.config.as_json(),
        "letters": 3,
        "range": (-1, 1),
        "tables": (),
        "width": 3,
        "meaning": (0, 1),
    }
    model = Model(ModelConfig(**shape))
    with torch.no_grad():
        for name, value in model.named_parameters():
            old = plain.get_parameter(name)
            value.zero_()
            value[tuple(slice(n) for n in old.shape)] = old
        model.embedding.weight[0, 2] = model.embedding.weight[0, 1]
    save_model(tmp_path / "m", model, contract("parity", bos=True, labels="state"))
    assert prove_model(str(tmp_path / "m"), lrnn.automaton).word == (0,)
    model.head.weight.data = model.head.weight.data.flip(1)
    assert model.head.bias is not None
    model.head.bias.data = model.head.bias.data.flip(1)
    save_model(tmp_path / "m", model, contract("parity", bos=True, labels="state"))
    assert prove_model(str(tmp_path / "m"), lrnn.automaton).verdict == "equivalent"
    stepper, answers = load_stepper(str(tmp_path / "m"), lrnn.automaton)
    assert stepper.before == (2,)
    assert answers.kind == "states"
    classes = AutomatonTask(TaskSettings(spec="parity", bos=True, labels="output")).sampler.classes
    save_model(tmp_path / "m", model, contract("parity", bos=True, labels="output"))
    stepper, answers = load_stepper(str(tmp_path / "m"), lrnn.automaton)
    assert answers.kind == "outputs"
    right = [classes.index(x) for x in lrnn.automaton.outputs.tolist()] == [0, 1]
    assert (prove_model(str(tmp_path / "m"), lrnn.automaton).verdict == "equivalent") == right


def test_wrong_requests(tmp_path: Path) -> None:
    place = str(tmp_path / "m")
    save_model(place, constructed("S3"), contract("S3"))
    with pytest.raises(InputError, match="kernel:recurrent:fp32"):
        prove_model(place, automaton_from_spec("S3"), "per_step:bf16")
    with pytest.raises(InputError, match="letters"):
        prove_model(place, automaton_from_spec("S4"))
    if not torch.cuda.is_available():
        with pytest.raises(InputError, match="no GPU"):
            prove_model(place, automaton_from_spec("S3"), "kernel:recurrent:bf16:cuda")
    save_model(place, constructed("parity"), contract_of_recall())
    with pytest.raises(InputError, match="no automaton's"):
        prove_model(place, automaton_from_spec("parity"))


def test_the_command(tmp_path: Path, call: Any) -> None:
    save_model(tmp_path / "m", constructed("S3"), contract("S3"))
    found = call("prove", str(tmp_path / "m"), "S3", "--json")
    assert found.status == 0
    assert '"arithmetic": "kernel:recurrent:fp32"' in found.out
