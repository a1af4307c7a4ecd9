"""What may be given as a model: every form is proved and compared; model folders on their own kernels."""

from __future__ import annotations

import copy
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from mirrormata.constructions._construct import construct
from mirrormata.constructions._document import write_certificate
from mirrormata.constructions._lrnn import LRNN
from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.foundation._errors import InputError
from mirrormata.models._config import ModelConfig
from mirrormata.models._kinds import from_construction
from mirrormata.models._model import Model
from mirrormata.models._model_file import save_model
from mirrormata.models._sources import load_stepper, prove, spectrum_of_model
from mirrormata.models.comparison._compare import compare
from mirrormata.models.comparison._sources import learned_from_lrnn
from mirrormata.models.comparison._states import Sampling
from mirrormata.models.fla._export import fla_checkpoint
from mirrormata.models.fla._folder import save_fla
from mirrormata.models.tasks._automaton import AutomatonTask
from mirrormata.models.tasks._kinds import task_from_settings
from mirrormata.models.tasks._task import TaskSettings
from mirrormata.theory._export import export_npz
from mirrormata.theory._horizon import full_certificate
from mirrormata.theory.proofs._npz_model import load_npz_model
from mirrormata.theory.running._run import run
from mirrormata.theory.running._stepper import LRNNStepper
from mirrormata.theory.verifying._claim import subject_of_file


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
    proof = prove(str(tmp_path / "m"), automaton_from_spec(spec), f"kernel:recurrent:{dtype}")
    assert proof.verdict == "equivalent"
    assert proof.arithmetic == f"kernel:recurrent:{dtype}"


def test_a_changed_weight_gives_a_shortest_word(tmp_path: Path) -> None:
    model = constructed("parity")
    mixer: Any = model.blocks[0].mixer
    with torch.no_grad():
        mixer.beta.weight *= 0.75  # h becomes -h/2, which the read-out, ±h - 1/2 in fp32, loses from 2^-26 on
    save_model(tmp_path / "m", model, contract("parity"))
    proof = prove(str(tmp_path / "m"), automaton_from_spec("parity"))
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
    assert prove(str(tmp_path / "m"), lrnn.automaton).word == (0,)
    assert model.head is not None
    assert model.head.bias is not None
    model.head.weight.data = model.head.weight.data.flip(1)
    model.head.bias.data = model.head.bias.data.flip(1)
    save_model(tmp_path / "m", model, contract("parity", bos=True, labels="state"))
    assert prove(str(tmp_path / "m"), lrnn.automaton).verdict == "equivalent"
    stepper, answers = load_stepper(str(tmp_path / "m"), lrnn.automaton)
    assert stepper.before == (2,)
    assert answers.kind == "states"
    classes = AutomatonTask(TaskSettings(spec="parity", bos=True, labels="output")).sampler.classes
    save_model(tmp_path / "m", model, contract("parity", bos=True, labels="output"))
    stepper, answers = load_stepper(str(tmp_path / "m"), lrnn.automaton)
    assert answers.kind == "outputs"
    right = [classes.index(x) for x in lrnn.automaton.outputs.tolist()] == [0, 1]
    assert (prove(str(tmp_path / "m"), lrnn.automaton).verdict == "equivalent") == right


def test_wrong_requests(tmp_path: Path) -> None:
    place = str(tmp_path / "m")
    save_model(place, constructed("S3"), contract("S3"))
    with pytest.raises(InputError, match="kernel:recurrent:fp32"):
        prove(place, automaton_from_spec("S3"), "per_step:bf16")
    with pytest.raises(InputError, match="letters"):
        prove(place, automaton_from_spec("S4"))
    if not torch.cuda.is_available():
        with pytest.raises(InputError, match="no GPU"):
            prove(place, automaton_from_spec("S3"), "kernel:recurrent:bf16:cuda")
    save_model(place, constructed("parity"), contract_of_recall())
    with pytest.raises(
        InputError, match="not an automaton's, and to prove an automaton's is needed; give a model"
    ):
        prove(place, automaton_from_spec("parity"))
    (tmp_path / "text").write_text("text " * 100)
    asked = task_from_settings({"spec": "asked_in_text:S3", "text": str(tmp_path / "text"), "share": 0.5})
    save_model(place, constructed("S3"), asked.contract((8, 8), ("8",)).as_json())
    with pytest.raises(InputError, match="`read_planted_head` of mirrormata"):
        prove(place, automaton_from_spec("S3"))


def test_the_command(tmp_path: Path, call: Any) -> None:
    save_model(tmp_path / "m", constructed("S3"), contract("S3"))
    found = call("prove", str(tmp_path / "m"), "S3", "--json")
    assert found.status == 0
    assert '"arithmetic": "kernel:recurrent:fp32"' in found.out


@pytest.fixture(scope="module")
def forms(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Parity in every form that a model may have."""
    place = tmp_path_factory.mktemp("forms")
    lrnn = construct("parity")
    certificate = full_certificate(lrnn)
    write_certificate(certificate, place / "parity.json")
    save_model(place / "model", constructed("parity"), contract("parity"))
    save_fla(place / "fla", fla_checkpoint(lrnn))
    export_npz(lrnn, place / "parity.npz")
    return {
        "certificate file": str(place / "parity.json"), "path of a certificate": place / "parity.json",
        "model folder": str(place / "model"), "path of a model folder": place / "model", "checkpoint": place / "fla",
        "npz file": place / "parity.npz", "certificate": certificate, "construction": lrnn,
        "model": constructed("parity"), "npz": load_npz_model(place / "parity.npz"), "stepper": LRNNStepper(lrnn, "bf16"),
        "learned": learned_from_lrnn(lrnn),
    }  # fmt: skip


FORMS = (
    "certificate file", "path of a certificate", "model folder", "path of a model folder", "checkpoint", "npz file",
    "certificate", "construction", "model", "npz", "stepper", "learned",
)  # fmt: skip
SHORT = Sampling(words=8, length=16, fit=8)


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_model_is_proved_and_compared(form: str, forms: dict[str, Any]) -> None:
    automaton = automaton_from_spec("parity")
    assert prove(forms[form], automaton).verdict == "equivalent"
    found = compare(forms[form], automaton, sampling=SHORT, extract=())
    assert found.trace.accuracy == 1
    assert found.constructed is not None
    if form in (
        "certificate file",
        "path of a certificate",
        "certificate",
        "construction",
        "npz",
        "npz file",
        "checkpoint",
        "model folder",
        "path of a model folder",
        "model",
    ):
        assert len(spectrum_of_model(forms[form]).heads) == 1
    else:
        with pytest.raises(InputError, match="no exact matrices of its letters; `compare` shows"):
            spectrum_of_model(forms[form])


@pytest.mark.parametrize("target", ["parity", "certificate", "construction", "path of a certificate", None])
def test_every_form_of_what_it_is_compared_with(target: str | None, forms: dict[str, Any]) -> None:
    given = None if target is None else forms.get(target, target)
    assert compare(forms["model folder"], given, sampling=SHORT, extract=()).constructed is not None


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (3, "`model` is of the type int: give a model folder, an FLA checkpoint, "),
        (None, "`model` is of the type NoneType: give"),
        ({"format": "other"}, "`model` is of the type dict: give"),
        (np.eye(2), "`model` is of the type ndarray: give"),
        ("nowhere", "nowhere: no such file"),
        ("nowhere.json", "nowhere.json: no such file"),
        (__file__, "is"),
    ],
)
def test_what_is_no_model(model: Any, message: str) -> None:
    automaton = automaton_from_spec("parity")
    for use in (lambda: prove(model, automaton), lambda: spectrum_of_model(model)):
        with pytest.raises(InputError, match=message) as refusal:
            use()
        assert "\n" not in str(refusal.value)
    with pytest.raises(InputError, match=message.replace("`model`", "`learned`")):
        compare(model, automaton)


def test_a_file_of_a_certificate_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, read = tmp_path / "c.json", list[str]()
    construct("parity").save(path)
    begin = Path.open

    def count(self: Path, *args: Any, **options: Any) -> Any:
        read.append(self.name)
        return begin(self, *args, **options)

    monkeypatch.setattr(Path, "open", count)
    monkeypatch.setattr("mirrormata.theory.checker._exact.open", None, raising=False)
    for use in (
        lambda: prove(path, "parity"),
        lambda: spectrum_of_model(path),
        lambda: compare(path, "parity", sampling=Sampling(4, 8, 8), extract=()),
        lambda: compare(construct("parity"), path, sampling=Sampling(4, 8, 8), extract=()),
        lambda: run(path, "1"),
    ):
        read.clear()
        use()
        assert read.count("c.json") == 1


def test_an_automaton_may_be_a_json_file(tmp_path: Path) -> None:
    """A `.json` file beside which a model is held is a certificate, or an automaton."""
    automaton_from_spec("parity").save(tmp_path / "parity.json")
    found = compare(construct("parity"), tmp_path / "parity.json", sampling=Sampling(4, 8, 8), extract=())
    assert found.learned.target.automaton.name == "parity"
    assert subject_of_file(str(tmp_path / "parity.json")).automaton is not None


def test_certificates_that_are_no_models(forms: dict[str, Any]) -> None:
    wrong = copy.deepcopy(forms["certificate"])
    wrong["layers"] = []
    with pytest.raises(InputError, match="`model`: the certificate is invalid"):
        spectrum_of_model(wrong)
    with pytest.raises(InputError, match="`model`: this certificate of kind bound holds lower bounds"):
        spectrum_of_model({"format": wrong["format"], "kind": "bound"})
    with pytest.raises(InputError, match="it does not say which automaton it is to follow"):
        compare(forms["model"])
    with pytest.raises(InputError, match="`constructed` is mod:3"):
        compare(forms["learned"], automaton_from_spec("mod:3"))
    with pytest.raises(InputError, match="`constructed` 3 is of the type int and no automaton"):
        compare(forms["learned"], 3)


def test_the_spectrum_of_a_construction_needs_no_torch() -> None:
    script = (
        "import sys; from mirrormata import construct; from mirrormata.models._sources import spectrum_of_model;"
        "spectrum_of_model(construct('parity')); print('torch' in sys.modules)"
    )
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert said == "False\n"
