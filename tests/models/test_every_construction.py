"""Every construction of the registry as a model, as a file of weights and as a checkpoint: right on words, or refused with a fix."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.numpy import load_file

from mirrormata.constructions._construct import construct
from mirrormata.constructions._document import write_certificate
from mirrormata.constructions._head import Head
from mirrormata.constructions._lrnn import LRNN, Layer
from mirrormata.constructions._realisation import Realisation, Sparse, Transition
from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.constructions.automata._automaton import Automaton, Indices
from mirrormata.constructions.automata._labels import label_text
from mirrormata.constructions.theorems._registry import all_constructions
from mirrormata.foundation._errors import InputError, LimitError, NotRealisableError
from mirrormata.models._chain_model import ChainModel
from mirrormata.models._constructed import write_constructed
from mirrormata.models._kinds import from_construction
from mirrormata.models._model import Model
from mirrormata.models._model_file import load_model
from mirrormata.models._sources import prove
from mirrormata.models.fla._export import fla_checkpoint
from mirrormata.models.fla._folder import load_fla, save_fla
from mirrormata.models.fla._importing import import_heads, write_heads
from mirrormata.models.fla._model import FlaModel
from mirrormata.models.fla._task import FlaTask, read_task
from mirrormata.models.layers._table_read_out import TableReadOut
from mirrormata.models.tasks._task import TaskSettings
from mirrormata.tests.cli.command_line import caller
from mirrormata.tests.project.source_files import ROOT
from mirrormata.theory._export import export_npz, export_safetensors
from mirrormata.theory._horizon import full_certificate

TRAFFIC = Automaton.from_transitions(
    {
        "red": {"tick": "green", "night": "off", "day": "red"},
        "green": {"tick": "amber", "night": "off", "day": "green"},
        "amber": {"tick": "red", "night": "off", "day": "amber"},
        "off": {"tick": "off", "night": "off", "day": "red"},
    },
    start="red",
    name="traffic",
)
CASES = [(source, spec) for source, record in all_constructions().items() for spec in record.examples]
SERIAL = [
    ("own.serial", spec)
    for spec in (
        "traffic", "mod_arith:4", "tomita:7", "random:states=4,letters=2,seed=6", "random:states=6,letters=2,seed=0",
        "random:states=6,letters=2,seed=11",
    )
]  # fmt: skip
SEVERAL_CODES = ["S4[involutions]", "Q8", "Q8_x_Z2"]
REFUSED = {"DP.T1", "own.blocks", "R7", "own.decay", "G.A3", "DP.T6", "DP.T2"}
"""The constructions with an example of which no model is made."""
WRITTEN = {None, "G.T3", "DP.T4", "H.A5inv", "own.covers", "own.LMI", "own.definite", "own.congruences"}
"""Constructions whose examples all have a checkpoint."""


@cache
def built(source: str | None, spec: str) -> Realisation:
    return construct(TRAFFIC if spec == "traffic" else spec, theorem=source)


def words_of(automaton: Automaton) -> Indices:
    return np.random.default_rng(5).integers(0, len(automaton.letters), (6, 120))


def answers_of(model: Any, words: Indices) -> Indices:
    letters = torch.from_numpy(words)
    with torch.no_grad():
        if isinstance(model, ChainModel):
            return np.asarray(model(letters)[0].numpy())
        assert isinstance(model, Model)
        return np.asarray(model.answers(model(letters[None])[0])[0].numpy())


@pytest.mark.parametrize(("source", "spec"), CASES + SERIAL)
def test_models_are_right_or_refused(source: str, spec: str) -> None:
    found = built(source, spec)
    words = words_of(found.automaton)
    refusal = ""
    try:
        model = from_construction(found)
    except (InputError, NotRealisableError) as error:
        refusal = str(error)
    if refusal:
        assert source in REFUSED
        assert refusal.startswith(f"{found.automaton.name}: ")
        instead = re.search(r"construct it with `theorem` (\S+)$", refusal)
        assert instead is not None, refusal
        other = construct(spec, theorem=instead[1])  # the advice works
        assert (answers_of(from_construction(other), words) == other.automaton.trace(words)).all()
        return
    assert (answers_of(model, words) == found.automaton.trace(words)).all()


def test_the_page_names_what_is_refused() -> None:
    text = (ROOT / "docs" / "models.md").read_text(encoding="utf-8")
    table = text[text.index("| Refused | Reason |") :].split("\n\n")[0]
    named = {
        word
        for line in table.splitlines()[2:]
        for word in re.split(r",? ", line.split("|")[1])
        if word in all_constructions()
    }
    refused = set()
    for source, spec in CASES:
        found = built(source, spec)
        try:
            from_construction(found)
        except (InputError, NotRealisableError):
            refused.add(source)
    assert named == refused == REFUSED


def test_new_codes_are_read_together() -> None:
    """Tables in which a head's new code alone does not tell its point before are among those that are tested."""
    layers = [
        layer
        for source, spec in CASES + SERIAL
        if isinstance(found := built(source, spec), LRNN) and found.is_layered
        for layer in found.layers
    ]
    assert sum(layer.after is not None for layer in layers) >= 3
    assert sum(layer.after is None for layer in layers) >= 3
    found = built("own.serial", "traffic")
    assert isinstance(found, LRNN)
    assert any(layer.after is not None for layer in found.layers)
    words = words_of(TRAFFIC)
    assert (answers_of(from_construction(found), words) == TRAFFIC.trace(words)).all()


def test_a_read_out_of_two_heads_that_tell_together() -> None:
    """Of every letter and new codes the module tells what `Layer.read_out` tells, and nothing for codes that do not occur."""
    moves = np.array([[0, 0, 1], [1, 2, 0]])  # the first letter merges points 0 and 1
    transitions = (Transition((), additive=((0, 0, 1),)), Transition())
    codes: tuple[Sparse, ...] = ((), ((0, 0, 1),), ((0, 0, 2),))
    head = Head(1, 1, transitions, codes, moves)
    new = moves[:, np.arange(9) // 3] * 3 + moves[:, np.arange(9) % 3]
    layer = Layer((head, head), np.array([[0, 1], [0, 1]]), np.array([3, 1, 4, 1, 5, 9, 2, 6, 8])[new])
    assert layer.after is not None
    module = TableReadOut((2, 3, 2, 2, 2, 9), 10)
    module.fill(layer, [torch.tensor([0]), torch.tensor([1])], [np.arange(3.0)[:, None]] * 2)
    for x in range(2):
        for c, d in np.ndindex(3, 3):
            letter, y = torch.zeros(1, 1, 1, 10), torch.zeros(1, 1, 1, 10)
            letter[..., x], y[..., 0], y[..., 1] = 1, c, d
            wanted = torch.zeros(10)
            told = int(layer.read_out(np.array(x), (np.array(c), np.array(d))))
            assert (told < 0) == (x == 0 and 2 in (c, d))
            if told >= 0:
                wanted[told] = 1
            assert torch.equal(module(letter, y)[0, 0, 0], wanted)


def run_arrays(path: Path, words: Indices) -> Indices:
    """The states that the arrays of a .safetensors file tell, by the steps that `theory/_export.py` describes."""
    tensors = load_file(path)
    depth = 1 + max(int(key.split(".")[1]) for key in tensors if key.startswith("layers."))
    layers: list[list[dict[str, Any]]] = [[] for _ in range(depth)]
    for i, heads in enumerate(layers):
        while f"layers.{i}.heads.{len(heads)}.codes" in tensors:
            prefix = f"layers.{i}.heads.{len(heads)}."
            heads.append({key[len(prefix) :]: a for key, a in tensors.items() if key.startswith(prefix)})
    named = np.empty_like(words)
    for w, word in enumerate(words):
        states = [[head["initial"] for head in heads] for heads in layers]
        for t, letter in enumerate(word):
            x = int(letter)
            for i, heads in enumerate(layers):
                before, nearest = [], []
                for j, head in enumerate(heads):
                    action = int(head["actions"][x]) if depth > 1 else x
                    H = head["matrices"][action] @ states[i][j]
                    states[i][j] = H = H + head["additive"][action] if "additive" in head else H
                    nearest.append(int(((head["codes"] - H) ** 2).sum(axis=(1, 2)).argmin()))
                    if depth > 1:
                        before.append(int(head["point_before"][action, nearest[-1]]))
                if depth == 1:
                    row = int((tensors["decode"][:, 1:] == nearest).all(axis=1).argmax())
                    x = int(tensors["decode"][row, 0])
                    continue
                column = 0
                for h in tensors[f"layers.{i}.reads"][x].tolist():
                    if h >= 0:
                        assert before[h] >= 0
                        column = column * (int(heads[h]["point_of"].max()) + 1) + before[h]
                x = int(tensors[f"layers.{i}.next_letter"][x, column])
            named[w, t] = x
    return named


@pytest.mark.parametrize(("source", "spec"), CASES + SERIAL)
def test_safetensors_are_right_or_refused(source: str, spec: str, tmp_path: Path) -> None:
    found = built(source, spec)
    path = tmp_path / "x.safetensors"
    if not isinstance(found, LRNN):
        with pytest.raises(InputError, match=r"construct it with `theorem` G\.T[34]$"):
            export_safetensors(found, path)
        return
    export_safetensors(found, path)
    words = words_of(found.automaton)[:2, :60]
    assert (run_arrays(path, words) == found.automaton.trace(words)).all()
    if found.is_layered:
        with safe_open(path, framework="numpy") as file:
            about = json.loads(file.metadata()["mirrormata"])
        together = [i for i, layer in enumerate(found.layers) if layer.after is not None]
        assert about["codes_tell_together"] == together


def fla_answers(found: LRNN, folder: Path, words: Indices) -> Indices:
    """States `[words, tokens]` that a checkpoint answers with, read back from its folder."""
    checkpoint = fla_checkpoint(found)
    save_fla(folder, checkpoint)
    config, tensors = load_fla(folder)
    task = read_task(folder, config["vocab_size"])
    assert task.as_json() == checkpoint.task.as_json()
    meaning = task.answers_to(found.automaton, "x").of_states(task.meaning(config["vocab_size"]))
    model = FlaModel(
        config, tensors, dtype="fp32", bos=task.bos, letters=list(task.letters.values()), meaning=meaning
    )
    running, named = model.initial(len(words)), []
    for letters in words.T:
        running = model.step(running, letters)
        named.append(model.decode(running, letters))
    return np.stack(named, axis=1)


@pytest.mark.parametrize(("source", "spec"), [*CASES, *((None, spec) for spec in SEVERAL_CODES)])
def test_checkpoints_are_right_or_refused(source: str | None, spec: str, tmp_path: Path) -> None:
    found = built(source, spec)
    words = words_of(found.automaton)[:3, :60]
    refusal, horizon = "", None
    try:
        horizon = fla_checkpoint(found).horizons["fp32"]
    except InputError as error:
        refusal = str(error)
    if refusal:
        assert source not in WRITTEN
        assert refusal.startswith(f"{found.automaton.name}: ")
        if refusal.endswith("construct it with `theorem` G.T3"):
            assert found.automaton.is_permutation
            found = construct(spec, theorem="G.T3")
        else:
            assert "construct it with `max_layers` 1, and where that is refused, `export model`" in refusal
            try:
                found = construct(spec, max_layers=1)
            except (NotRealisableError, LimitError):
                return  # `test_models_are_right_or_refused` takes several layers
    assert isinstance(found, LRNN)
    words = words[:, :horizon]
    assert words.size
    assert (fla_answers(found, tmp_path / "x", words) == found.automaton.trace(words)).all()


@pytest.mark.parametrize("spec", SEVERAL_CODES)
def test_states_of_several_codes_have_several_tokens(spec: str, tmp_path: Path) -> None:
    found = built(None, spec)
    assert isinstance(found, LRNN)
    assert len(found.decode) > len(found.automaton.states)
    task = fla_checkpoint(found).task
    assert set(task.answers) == {label_text(q) for q in found.automaton.states}
    assert len(task.answer_tokens) == len(found.decode)
    save_fla(tmp_path / "x", fla_checkpoint(found))
    write_heads(import_heads(tmp_path / "x"), tmp_path / "heads")
    for path in (tmp_path / "heads").iterdir():
        with np.load(path, allow_pickle=False) as file:
            texts = json.loads(str(file["output_labels"]))
            assert len(set(texts)) == len(texts)
            assert file["decode"].max() < len(texts)


def test_tasks_with_several_tokens_are_read_and_checked(tmp_path: Path) -> None:
    task = FlaTask({"0": 0, "1": 1}, {"even": [2, 4], "odd": 3})
    place = tmp_path / "task.json"
    place.write_text(json.dumps(task.as_json()), encoding="utf-8")
    assert read_task(tmp_path, 5).meaning(5).tolist() == [-1, -1, 0, 1, 0]
    for wrong, message in (
        ({"answers": {"even": [2, 9], "odd": 3}}, "answers 'even' has the token 9"),
        ({"answers": {"even": [2, 3], "odd": 3}}, "have the same token, or one has a token twice"),
        ({"answers": {"even": [2, 2], "odd": 3}}, "have the same token, or one has a token twice"),
        ({"answers": {"even": [], "odd": 3}}, r"answers 'even' has the token \[\]"),
        ({"letters": {"0": [0, 2], "1": 1}}, r"letters '0' has the token \[0, 2\]"),
    ):
        place.write_text(json.dumps(task.as_json() | wrong), encoding="utf-8")
        with pytest.raises(InputError, match=message):
            read_task(tmp_path, 5)


@pytest.mark.parametrize(
    ("source", "spec"), [("own.serial", "mod_arith:3"), ("own.chain", "T4"), (None, "S3")]
)
def test_certificates_and_paths_become_models(source: str | None, spec: str, tmp_path: Path) -> None:
    found = built(source, spec)
    words, document = words_of(found.automaton), full_certificate(found)
    path = tmp_path / "x.cert.json"
    write_certificate(document, path)
    for given in (document, path, str(path)):
        assert (answers_of(from_construction(given), words) == found.automaton.trace(words)).all()


def test_whatever_is_exported_may_be_a_certificate(tmp_path: Path) -> None:
    found = built(None, "S3")
    path = tmp_path / "x.json"
    write_certificate(full_certificate(found), path)
    export_npz(path, tmp_path / "x.npz")
    export_safetensors(path, tmp_path / "x.safetensors")
    assert fla_checkpoint(path).task == fla_checkpoint(found).task
    assert prove(tmp_path / "x.npz", "S3").verdict == "equivalent"


def test_no_model_of_what_is_none(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="`found` is of the type int: give a construction"):
        from_construction(3)  # type: ignore[call-overload]
    with pytest.raises(InputError, match="no such file"):
        from_construction(tmp_path / "x.json")
    found = construct("S3")
    broken = json.loads(json.dumps(full_certificate(found)))
    broken["layers"][0]["heads"][0]["codes"] = broken["layers"][0]["heads"][0]["codes"][::-1]
    with pytest.raises(InputError, match="the certificate is invalid"):
        from_construction(broken)


def test_an_additive_term_that_is_not_written_is_named() -> None:
    with pytest.raises(
        NotRealisableError,
        match=r"^T3: layer 2 of 2, head 1, transition 3: what it adds .* writes it; construct it with `theorem` G\.T4$",
    ):
        from_construction(construct("T3", theorem="DP.T2"))


def test_the_advice_of_the_commands_works(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A chain is no table; the command names the construction that is one, and its file is right."""
    monkeypatch.chdir(tmp_path)
    call = caller(capsys)
    assert call("construct", "tomita:4", "--theorem", "own.window", "-o", "chain.json").status == 0
    # weights need GH factors, which G.A3's one-hot table has not; arrays take any table
    for form, theorem, *spec in (
        ["safetensors", "G.T4"],
        ["model", "G.T4", "tomita:4"],
        ["npz", "G.A3"],
    ):
        error = call("export", form, "chain.json", *spec, "-o", f"x.{form}").error
        assert f"construct tomita:4 with --theorem {theorem}" in error
    assert call("construct", "tomita:4", "--theorem", "G.A3", "-o", "any.json").status == 0
    assert call("export", "npz", "any.json", "-o", "any.npz").status == 0
    assert call("construct", "tomita:4", "--theorem", "G.T4", "-o", "table.json").status == 0
    assert call("export", "safetensors", "table.json", "-o", "x.safetensors").status == 0
    assert call("export", "model", "table.json", "tomita:4", "-o", "model").status == 0
    automaton = automaton_from_spec("tomita:4")
    words = words_of(automaton)[:2, :60]
    assert (run_arrays(tmp_path / "x.safetensors", words) == automaton.trace(words)).all()


def test_a_written_model_of_own_serial_is_right(tmp_path: Path) -> None:
    found = built("own.serial", "mod_arith:3")
    assert isinstance(found, LRNN)
    write_certificate(full_certificate(found), tmp_path / "x.json")
    settings = TaskSettings(spec="mod_arith:3", bos=False, labels="state")
    write_constructed(tmp_path / "x.json", settings, tmp_path / "model")
    words = words_of(found.automaton)
    assert (answers_of(load_model(tmp_path / "model")[0], words) == found.automaton.trace(words)).all()
