"""Constructions as model folders: evaluated by the code that evaluates trained models, without a wrong answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mirrormata.constructions._construct import construct
from mirrormata.constructions._lrnn import LRNN
from mirrormata.foundation._errors import InputError
from mirrormata.models._constructed import write_constructed
from mirrormata.models._evaluation_file import evaluate_folder
from mirrormata.models.tasks._task import TaskSettings


def lrnn_of(spec: str) -> LRNN:
    result = construct(spec)
    assert isinstance(result, LRNN)
    return result


@pytest.mark.parametrize("spec", ["S3", "T3", "flipflop"])
def test_no_answer_is_wrong(tmp_path: Path, spec: str) -> None:
    write_constructed(lrnn_of(spec), TaskSettings(spec=spec, bos=False, labels="state"), tmp_path / "m")
    found = evaluate_folder(str(tmp_path / "m"), lengths=[2_000], words=4, device="cpu")
    assert found.seen.exact(2_000) == [1.0]


def test_another_automaton_is_refused(tmp_path: Path) -> None:
    for settings, message in (
        (TaskSettings(spec="S4", bos=False), "letters are not those"),
        (TaskSettings(spec="S3", bos=False, product="right"), "moves otherwise"),
        (TaskSettings(spec="S3", bos=True), "no BOS"),
        (TaskSettings(spec="flipflop", bos=False), "letters are not those"),
    ):
        with pytest.raises(InputError, match=message):
            write_constructed(lrnn_of("S3"), settings, tmp_path / "m")
    assert not (tmp_path / "m").exists()


def test_the_command(tmp_path: Path, call: Any) -> None:
    certificate, folder = str(tmp_path / "c.json"), str(tmp_path / "m")
    assert call("construct", "S3", "-o", certificate).status == 0
    assert call("export", "model", certificate, "S3", "-o", folder).status == 0
    assert call("prove", folder, "S3").status == 0
    assert call("eval", folder, "--lengths", "500", "--words", "2").status == 0
    wrong = call("export", "model", certificate, "S4", "-o", str(tmp_path / "n"))
    assert wrong.status == 2
    assert "letters are not those" in wrong.err
