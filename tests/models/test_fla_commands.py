"""`spectrum`, `prove` and `compare` on an FLA checkpoint's folder."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from mirrormata.constructions._construct import construct
from mirrormata.models.fla._export import fla_checkpoint
from mirrormata.models.fla._folder import save_fla
from mirrormata.models.fla._layer import load_layers
from mirrormata.tests.cli.command_line import Outcome

Call = Callable[..., Outcome]


def test_commands_take_a_checkpoint(tmp_path: Path, call: Call) -> None:
    save_fla(tmp_path / "fla", fla_checkpoint(construct("S3", exactness="integer")))
    folder = str(tmp_path / "fla")
    proof = call("prove", folder, "S3", "--json")
    assert (proof.status, proof.json["verdict"], proof.json["arithmetic"]) == (
        0,
        "equivalent",
        "fla:naive:bf16",
    )
    assert call("prove", folder, "S3", "--arithmetic", "per_step:bf16").error.endswith(
        "(or fp64, fp32, fp16)"
    )
    spectrum = call("spectrum", folder, "--json").json
    assert [(head["head"], head["dim"]) for head in spectrum["heads"]] == [("head 1.1 and 2 equal", 16)]
    short = ("--words", "16", "--length", "64", "--fit", "16", "--extract", "exact", "--json")
    assert call("compare", folder, "S3", *short).status == 0


def test_spectrum_refuses_a_checkpoint_that_is_not_whole(tmp_path: Path, call: Call) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "delta_net"}')
    assert "no model.safetensors" in call("spectrum", str(tmp_path)).error


def test_the_help_names_all_types_that_become_model_folders(call: Call) -> None:
    shown = call("import", "fla", "--help").out
    assert all(re.search(rf"\b{name}\b", shown) for name in load_layers())


def test_import_refuses_a_file(tmp_path: Path, call: Call) -> None:
    (tmp_path / "s3.json").write_text("{}")
    done = call("import", "fla", str(tmp_path / "s3.json"), "-o", str(tmp_path / "out"))
    assert "s3.json: is a file, the checkpoint's folder is needed" in done.error
