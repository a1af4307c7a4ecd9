"""Tasks: BOS, supervision, protocols, contracts, word-problem files."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mirrormata.constructions.formats.word_problem_csv import read_word_problem
from mirrormata.foundation._errors import InputError
from mirrormata.models.tasks._automaton import OTHER_TASKS, AutomatonTask, keep_last_labels
from mirrormata.models.tasks._contract import read_contract, scaled_accuracy
from mirrormata.models.tasks._kinds import task_from_settings
from mirrormata.models.tasks._sampling import IGNORED
from mirrormata.models.tasks._task import TaskSettings
from mirrormata.models.tasks._word_problem_data import read_word_problem_rows, write_word_problem

S3 = AutomatonTask(TaskSettings(spec="S3", protocol="word_problem"))


def test_bos_is_a_letter_of_its_own_without_a_label() -> None:
    plain = AutomatonTask(TaskSettings(spec="S3", bos=False))
    assert (S3.letters, plain.letters, S3.classes) == (7, 6, 6)
    letters, labels = S3.batches([0], 0, 5, 9)
    assert letters.shape == (1, 5, 10)
    assert (letters[:, :, 0] == 6).all()
    assert (labels[:, :, 0] == IGNORED).all()
    without = plain.batches([0], 0, 5, 9)
    assert np.array_equal(letters[:, :, 1:], without.letters)
    assert np.array_equal(labels[:, :, 1:], without.labels)
    pieces = list(S3.stream(0, 2, 1500))
    assert [(p.letters == 6).sum() for p in pieces] == [2, 0]


def test_many_letters_fit_their_type() -> None:
    task = AutomatonTask(TaskSettings(spec="Z256", protocol="word_problem"))
    letters, labels = task.batches([0], 0, 40, 50)
    assert letters.max() == 256
    assert np.array_equal(task.automaton.trace(letters[:, :, 1:].astype(np.int64)), labels[:, :, 1:])
    assert AutomatonTask(TaskSettings(spec="Z300", bos=False)).batches([0], 0, 40, 50).letters.max() > 255


def test_last_supervision_keeps_the_last_label() -> None:
    labels = np.array([[1, 2, IGNORED], [IGNORED, 5, 6], [IGNORED, IGNORED, IGNORED]])
    expected = [[IGNORED, 2, IGNORED], [IGNORED, IGNORED, 6], [IGNORED] * 3]
    assert keep_last_labels(labels).tolist() == expected
    task = AutomatonTask(
        TaskSettings(spec="mod_arith:5", protocol="formal_language_prefix", supervision="last")
    )
    asked = task.batches([0], 0, 4, 8).labels[0] != IGNORED
    assert asked.sum(1).tolist() == [1] * 4
    assert asked[:, 6].all()  # the last digit of eight letters


def test_protocols() -> None:
    parity = AutomatonTask(TaskSettings(spec="parity", protocol="formal_language_prefix"))
    assert (parity.protocol.train_lengths, parity.protocol.test_lengths) == ((3, 40), ((40, 256),))
    assert (parity.sampler.labels, parity.bos) == ("output", False)
    arithmetic = AutomatonTask(TaskSettings(spec="mod_arith:5", protocol="formal_language_prefix"))
    assert (arithmetic.sampler.words, arithmetic.classes, arithmetic.letters) == ("live", 5, 8)
    fidelities = {
        (protocol, spec): AutomatonTask(TaskSettings(spec=spec, protocol=protocol)).protocol.fidelity
        for protocol in ("formal_language", "formal_language_prefix")
        for spec in ("parity", "mod_arith:5", "mod_arith:5,2", "S3")
    }
    assert [fidelities["formal_language", spec] for spec in ("parity", "mod_arith:5", "mod_arith:5,2", "S3")] == [
        "same", "same", "reconstruction", "extension",
    ]  # fmt: skip
    assert {f for (protocol, _), f in fidelities.items() if protocol.endswith("prefix")} == {"extension"}
    spaced = AutomatonTask(TaskSettings(spec="S3[in_4_tokens]", protocol="word_problem"))
    assert spaced.sampler.words == "spaced"


PARITY = AutomatonTask(TaskSettings(spec="parity", protocol="formal_language"))
ARITHMETIC = AutomatonTask(TaskSettings(spec="mod_arith:5", protocol="formal_language"))


def test_whole_words_of_parity_have_one_label_at_their_ends() -> None:
    letters, labels = (x[0] for x in PARITY.batches([3], 5, 4000, 39, 2))
    asked = labels != IGNORED
    assert asked.sum(1).tolist() == [1] * 4000
    lengths = asked.argmax(1) + 1
    assert set(lengths) == set(range(2, 40))  # odd and even ones; each about as often
    assert np.bincount(lengths)[2:].min() > 60
    for word, length, label in zip(letters[:100], lengths, labels.max(1)[:100], strict=False):
        assert (
            PARITY.sampler.classes[label]
            == PARITY.automaton.outputs[PARITY.automaton.trace(word[:length].astype(np.int64))[-1]]
        )
    assert np.array_equal(labels, PARITY.batches([3], 5, 4000, 39, 2).labels[0])
    assert not np.array_equal(labels, PARITY.batches([3], 6, 4000, 39, 2).labels[0])


def test_whole_expressions_end_with_an_equals_sign() -> None:
    letters, labels = (x[0] for x in ARITHMETIC.batches([0], 1, 3000, 39, 2))
    end = ARITHMETIC.letters - 1
    assert ARITHMETIC.contract((2, 39), ("39-255",)).alphabet[end] == "="
    assert ((letters == end).sum(1) == 1).all()
    at = (letters == end).argmax(1)
    assert (labels[np.arange(3000), at] != IGNORED).all()
    assert ((labels != IGNORED).sum(1) == 1).all()
    assert set(at) == set(range(1, 39, 2))  # 1 to 37 letters before it, as in the source
    names = [str(x) for x in ARITHMETIC.automaton.letters]
    for word, length, label in zip(letters[:200], at, labels.max(1)[:200], strict=False):
        text = "".join(names[x] for x in word[:length])
        assert ARITHMETIC.sampler.classes[label] == eval(text) % 5, text


@pytest.mark.parametrize("task", [PARITY, ARITHMETIC], ids=["parity", "arithmetic"])
def test_tests_of_whole_words_have_all_lengths(task: AutomatonTask) -> None:
    (batch,) = task.stream(7, 3000, 120)
    asked = batch.labels != IGNORED
    assert batch.letters.shape == (3000, 120)
    assert (asked.sum(1) == 1).all()
    assert len(set(asked.argmax(1))) >= 59
    (again,) = task.stream(7, 3000, 120)
    assert np.array_equal(batch.labels, again.labels)
    assert not np.array_equal(batch.labels, task.batches([7], 0, 3000, 120, 1).labels[0])


def test_ends_are_for_whole_words_and_no_letters_of_the_automaton() -> None:
    for settings, message in (
        (TaskSettings(spec="parity", end="="), "only whole words have an end"),
        (TaskSettings(spec="parity", supervision="whole_words", end="1"), "is a letter of the automaton"),
    ):
        with pytest.raises(InputError, match=message):
            _ = AutomatonTask(settings).letters
    both = AutomatonTask(TaskSettings(spec="parity", supervision="whole_words", end="=", bos=True))
    letters, labels = (x[0] for x in both.batches([0], 0, 50, 9, 3))
    assert (letters[:, 0] == 2).all()
    assert np.array_equal(letters == 3, labels != IGNORED)


def test_a_contract_of_the_first_version_keeps_its_words(tmp_path: Path) -> None:
    task = AutomatonTask(TaskSettings(spec="parity", protocol="formal_language_prefix"))
    document = task.contract((3, 40), ("40-256",)).as_json()
    del document["end"]
    document["settings"]["protocol"] = "formal_language"
    (tmp_path / "task.json").write_text(json.dumps({**document, "format": "mirrormata-task/1"}))
    again = task_from_settings(read_contract(tmp_path / "task.json").settings)
    assert isinstance(again, AutomatonTask)
    assert again.supervision == "per_prefix"


def test_the_contract_says_the_order_of_the_product() -> None:
    left = S3.contract((8, 8), ("16",))
    right = AutomatonTask(TaskSettings(spec="S3", product="right")).contract((8, 8), ("16",))
    assert "y becomes x·y" in left.order
    assert "y becomes y·x" in right.order
    assert dict(left.rows())["lengths"] == "train 8, test 16"
    assert left.chance == pytest.approx(1 / 6)
    assert left.fidelity == "reconstruction"


def test_a_contract_builds_its_task_again(tmp_path: Path) -> None:
    task = AutomatonTask(TaskSettings(spec="S3", protocol="word_problem", held_out=3))
    contract = task.contract((8, 8), ("16", "40-256"))
    contract.write(tmp_path / "task.json")
    again = read_contract(tmp_path / "task.json")
    assert again == contract
    assert len(again.held_out) == 3
    built = task_from_settings(again.settings)
    assert np.array_equal(built.batches([0], 0, 3, 8).letters, task.batches([0], 0, 3, 8).letters)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "line 1 is not JSON"),
        ("{}", "not a task contract"),
        ('{"format": "mirrormata-task/2"}', "task is missing; add it"),
        ('{"format": "mirrormata-task/1"}', "task is missing; add it"),
        ('{"format": "mirrormata-task/3"}', "not a task contract"),
        ('{"format": "mirrormata-task/2", "colour": 1}', "entry 'colour' is unknown"),
    ],
)
def test_foreign_contracts_are_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "task.json").write_text(text)
    with pytest.raises(InputError, match=message):
        read_contract(tmp_path / "task.json")


def test_scaled_accuracy() -> None:
    assert scaled_accuracy(0.2, 0.2) == 0
    assert scaled_accuracy(1.0, 0.2) == 1
    assert scaled_accuracy(0.6, 0.2) == pytest.approx(0.5)


def test_held_out_pairs_by_text_and_number() -> None:
    named = AutomatonTask(TaskSettings(spec="parity", held_out=[("0", "1")]))
    assert named.sampler.held_out == ((0, 1),)
    for wanted, message in (([("0", "2")], "'2' is not a letter"), (4, "there are 4 ordered pairs")):
        with pytest.raises(InputError, match=message):
            _ = AutomatonTask(TaskSettings(spec="parity", held_out=wanted)).sampler


def test_word_problem_files_go_out_and_in(tmp_path: Path) -> None:
    path = tmp_path / "S3=12.csv"
    write_word_problem(path, S3, seed=1, rows=20, length=12)
    found = read_word_problem(path)
    assert found.product == "left"
    task = read_word_problem_rows(path, S3)
    (batch,) = task.stream(0, 20, 12)
    assert batch.letters.shape == (20, 13)  # BOS in front
    assert np.array_equal(batch.letters[:, 1:], np.stack(found.inputs))
    assert np.array_equal(batch.labels[:, 1:], np.stack(found.targets))


def test_word_problem_files_of_another_order_are_refused(tmp_path: Path) -> None:
    right = AutomatonTask(replace_product(S3.settings))
    path = tmp_path / "S3=12.csv"
    write_word_problem(path, right, seed=1, rows=20, length=12)
    with pytest.raises(InputError, match="the file has the right product of S3"):
        read_word_problem_rows(path, S3)
    generators = AutomatonTask(TaskSettings(spec="S3[generators]"))
    with pytest.raises(InputError, match="all elements as letters"):
        write_word_problem(path, generators, seed=1, rows=2, length=3)


def replace_product(settings: TaskSettings) -> TaskSettings:
    import msgspec

    return msgspec.structs.replace(settings, product="right")


def test_a_wrong_prefix_of_a_task_is_told_the_nearest() -> None:
    for wrong, meant in (
        ("txt", "text"),
        ("tokns", "tokens"),
        ("pakage", "package"),
        ("state-recall", "state_recall"),
    ):
        with pytest.raises(InputError, match=rf"; did you mean {meant}:x\?$"):
            _ = task_from_settings(f"{wrong}:x").letters
    with pytest.raises(InputError, match=r"; did you mean regex:\(ab\)\*\?$"):
        _ = task_from_settings("re:(ab)*").letters
    for prefix in OTHER_TASKS:  # each is the prefix of a task
        with suppress(InputError):
            assert not isinstance(task_from_settings(TaskSettings(spec=f"{prefix}parity")), AutomatonTask)


def test_settings_are_checked() -> None:
    with pytest.raises(InputError, match=r"colour is no entry"):
        task_from_settings({"spec": "S3", "colour": 1})
    assert replace(S3, settings=TaskSettings(spec="S3")).bos is True
