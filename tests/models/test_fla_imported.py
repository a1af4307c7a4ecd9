"""What a model folder keeps of the checkpoint that it was imported from, what `eval` prints of it, and what an export writes again."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from mirrormata.constructions._construct import construct
from mirrormata.foundation._errors import InputError
from mirrormata.models._model_file import read_model_config
from mirrormata.models.fla._conversion import import_model, trained_checkpoint
from mirrormata.models.fla._export import fla_checkpoint
from mirrormata.models.fla._folder import save_fla
from mirrormata.models.training._start import StartSettings, origin_of
from mirrormata.tests.cli.command_line import Outcome

Call = Callable[..., Outcome]
KEPT = {"eos_token_id": 5, "pad_token_id": 1, "initializer_range": 0.5, "max_position_embeddings": 77}


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    """A checkpoint of a construction with entries and files beside its layers."""
    place = tmp_path / "fla"
    save_fla(place, fla_checkpoint(construct("S3")))
    config = json.loads((place / "config.json").read_text()) | KEPT | {"auto_map": {"AutoModel": "x.Y"}}
    (place / "config.json").write_text(json.dumps(config))
    for name in ("tokenizer.json", "special_tokens_map.json"):
        (place / name).write_text("{}")
    return place


def test_entries_that_do_not_describe_layers_come_back(checkpoint: Path, tmp_path: Path) -> None:
    import_model(checkpoint, tmp_path / "model", spec="S3")
    imported = read_model_config(tmp_path / "model" / "config.json").imported
    assert imported is not None
    assert (imported.source, imported.type) == (str(checkpoint), "gated_deltaproduct")
    assert imported.files == ("special_tokens_map.json", "tokenizer.json")
    made, _ = trained_checkpoint(tmp_path / "model")
    old = json.loads((checkpoint / "config.json").read_text())
    assert {entry: made.config[entry] for entry in (*KEPT, "bos_token_id", "attn_mode")} == {
        entry: old[entry] for entry in (*KEPT, "bos_token_id", "attn_mode")
    }
    assert "auto_map" not in made.config  # names files of code, which are not written
    assert set(old) - set(made.config) == {"auto_map"}


def test_a_training_that_begins_at_an_import_keeps_its_source(checkpoint: Path, tmp_path: Path) -> None:
    import_model(checkpoint, tmp_path / "model", spec="S3")
    known = origin_of(StartSettings(path=str(tmp_path / "model")))
    assert known == ("", read_model_config(tmp_path / "model" / "config.json").imported)
    assert known[1] is not None
    assert origin_of(StartSettings()) == ("", None)
    assert origin_of(StartSettings(path=str(tmp_path / "nowhere.json"))) == ("", None)


def test_a_bos_that_no_task_names_is_kept(checkpoint: Path, tmp_path: Path) -> None:
    task = json.loads((checkpoint / "task.json").read_text()) | {"bos": None}
    (checkpoint / "task.json").write_text(json.dumps(task))
    import_model(checkpoint, tmp_path / "model", spec="S3")
    made, _ = trained_checkpoint(tmp_path / "model")
    assert made.config["bos_token_id"] == json.loads((checkpoint / "config.json").read_text())["bos_token_id"]
    assert made.task.bos is None


def test_entries_of_a_folder_cannot_change_layers(checkpoint: Path, tmp_path: Path) -> None:
    import_model(checkpoint, tmp_path / "model", spec="S3")
    place = tmp_path / "model" / "config.json"
    config = json.loads(place.read_text())
    config["imported"]["entries"] |= {"hidden_size": 3, "model_type": "gla", "eos_token_id": 2}
    place.write_text(json.dumps(config))
    made, _ = trained_checkpoint(tmp_path / "model")
    assert (made.config["hidden_size"], made.config["model_type"]) == (16, "gated_deltaproduct")
    assert made.config["eos_token_id"] == 2
    config["imported"]["sauce"] = ""
    place.write_text(json.dumps(config))
    with pytest.raises(InputError, match=r"imported\.sauce is no entry"):
        read_model_config(place)


def test_commands_say_what_is_known_of_an_import(checkpoint: Path, tmp_path: Path, call: Call) -> None:
    model, again = str(tmp_path / "model"), str(tmp_path / "again")
    done = call("import", "fla", str(checkpoint), "--model", "--spec", "S3", "-o", model)
    assert "not copied from the checkpoint's folder: special_tokens_map.json, tokenizer.json\n" in done.err
    short = ("eval", model, "--lengths", "4", "--words", "8")
    shown = call(*short).out
    rows = dict(
        line.split(maxsplit=1) for line in shown.splitlines() if line and line[0].isalpha() and " " in line
    )
    assert str(checkpoint).startswith(rows["source"])  # a long path goes on in the next line
    assert rows["type"] == "gated_deltaproduct, read as the family fla_gated_deltaproduct"
    assert rows["layers"] == "1"
    assert rows["parameters"] == f"{call(*short, '--json').json['parameters']:,}"
    for fact in ("chance", "train", "supervision", "fidelity", "seed"):
        assert fact not in shown, fact
    assert call(*short, "--json").json["imported"]["type"] == "gated_deltaproduct"
    written = call("export", "fla", model, "-o", again, "--json").json
    assert written["left_out"] == ["special_tokens_map.json", "tokenizer.json"]


def test_other_models_keep_their_training_facts(tmp_path: Path, call: Call) -> None:
    call("export", "model", "parity", "parity", "-o", str(tmp_path / "model"))
    shown = call("eval", str(tmp_path / "model"), "--lengths", "4", "--words", "8").out
    assert "supervision" in shown
    assert "seed" in shown
