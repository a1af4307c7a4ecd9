"""What a first user does by mistake or out of curiosity: one true line each, and nothing passed over in silence."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mirrormata.constructions._construct import construct
from mirrormata.foundation._errors import InputError
from mirrormata.foundation._files import parse_json
from mirrormata.theory._check import write_accepted_certificate

from .command_line import Outcome

Call = Callable[..., Outcome]
OLD = Path(__file__).parents[1] / "data" / "certificates-0.1"


def edited(source: Path, target: Path, change: Callable[[Any], None]) -> None:
    """A copy of a JSON file with one change."""
    data = json.loads(source.read_text())
    change(data)
    target.write_text(json.dumps(data))


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate of S3, and it as a model folder and an FLA checkpoint."""
    from mirrormata.cli import main

    place = tmp_path_factory.mktemp("folders")
    write_accepted_certificate(construct("S3"), str(place / "s3.json"))
    for arguments in (["model", f"{place}/s3.json", "S3"], ["fla", f"{place}/s3.json"]):
        with pytest.raises(SystemExit) as end:
            main(["export", *arguments, "-o", str(place / arguments[0])])
        assert end.value.code == 0
    return place


WITHOUT_TABLE = {
    "bound": "holds lower bounds",
    "impossible": "holds the proof that a layer cannot follow an automaton",
    "equivalent_states": "holds a model's stored numbers",
    "equivalent_regions": "holds a model's stored numbers",
}


@pytest.mark.parametrize("name", WITHOUT_TABLE)
def test_a_valid_certificate_without_a_table_is_not_called_malformed(name: str, call: Call) -> None:
    file = str(OLD / f"{name}.json")
    assert call("check", file).status == 0
    commands = [
        ("run", file, "--word", "1"), ("prove", file, "parity"), ("spectrum", file), ("compare", file, "parity"),
        ("verify", "--model", file),
    ]  # fmt: skip
    for command in commands:
        error = call(*command).error
        assert WITHOUT_TABLE[name] in error, command
        assert "malformed" not in error


def test_a_bit_exact_certificate_is_taken_wherever_a_table_is(call: Call) -> None:
    file = str(OLD / "equivalent_codes.json")
    ran = call("run", file, "--word", "111")
    assert (ran.status, ran.err) == (0, "")
    assert call("prove", file, "parity", "--json").json["verdict"] == "equivalent"
    assert call("spectrum", file).status == 0
    assert (
        call(
            "compare", file, "parity", "--extract", "none", "--words", "4", "--length", "8", "--fit", "4"
        ).status
        == 0
    )
    assert call("verify", "--model", file, "--json").json["claims"]


def test_an_invalid_block_delay_is_invalid(call: Call, tmp_path: Path) -> None:
    edited(OLD / "delay.json", tmp_path / "bad.json", lambda d: d.pop("labels"))
    for command in (("run", "--word", "1"), ("prove", "S3")):
        assert (
            "the certificate is invalid" in call(command[0], str(tmp_path / "bad.json"), *command[1:]).error
        )


RUNS = [
    (
        ("--random", "99999999999", "--length", "1"),
        "99,999,999,999 random letters; the limit is 1,000,000,000",
    ),
    (("--random", "9", "--length", "99999999999999"), "899,999,999,999,991 random letters; the limit is"),
    (("--random", "0"), "--random 0 runs nothing"),
    (("--random", "2", "--length", "0"), "--length 0 runs nothing"),
    (("--word", "1", "--length", "5"), "--length is of random words"),
    (("--word", "1", "--seed", "5"), "--seed is of random words"),
]


@pytest.mark.parametrize(("options", "text"), RUNS)
def test_runs_that_run_nothing_or_too_much(options: tuple[str, ...], text: str, call: Call) -> None:
    assert text in call("run", str(OLD / "table.json"), *options).error


CHECKS = [
    ("--start", "1"),
    ("--alphabet", "ab"),
    ("--track", "state"),
    ("--group", "S3"),
    ("--product", "left"),
]


@pytest.mark.parametrize("option", CHECKS)
def test_options_of_an_automaton_without_one_are_refused(option: tuple[str, str], call: Call) -> None:
    error = call("check", str(OLD / "table.json"), *option).error
    assert option[0] in error
    assert "--for" in error


LIMITS = [
    ("--max-states", "0"), ("--max-states", "-5"), ("--max-seconds", "-1"), ("--max-seconds", "0"),
    ("--max-seconds", "nan"), ("--max-seconds", "inf"), ("--arithmetic", ""),
]  # fmt: skip


@pytest.mark.parametrize(("option", "value"), LIMITS)
def test_limits_of_a_search_are_positive(option: str, value: str, call: Call) -> None:
    assert f"{option} {value}" in call(
        "prove", str(OLD / "table.json"), "parity", f"{option}={value}"
    ).error.replace("'", "")


def test_a_place_that_can_have_no_folder(call: Call, folders: Path) -> None:
    assert "/dev/null/x" in call("train", "parity", "-o", "/dev/null/x").error
    for form, more in (("model", ("S3",)), ("fla", ())):
        error = call("export", form, str(folders / "s3.json"), *more, "-o", "/dev/null/x/y").error
        assert "/dev/null/x" in error


MODELS: list[tuple[str, Any]] = [
    ("meaning", 10**20), ("conv", 10**9), ("conv", 10**20), ("householders", 10**9), ("width", 10**20), ("width", 10**9),
    ("heads", 10**9), ("layers", 10**9), ("letters", 10**9), ("classes", 10**20), ("mlp", 1e300),
]  # fmt: skip


@pytest.mark.parametrize(("entry", "value"), MODELS)
def test_sizes_beyond_the_file_are_refused_before_memory_is_taken(
    entry: str, value: Any, call: Call, folders: Path, tmp_path: Path
) -> None:
    place = tmp_path / "model"
    shutil.copytree(folders / "model", place)

    def change(config: Any) -> None:
        if entry == "meaning":
            config["model"]["meaning"][3] = value
        else:
            config["model"][entry] = value

    edited(folders / "model" / "config.json", place / "config.json", change)
    for command in (("prove", str(place), "S3"), ("eval", str(place))):
        error = call(*command).error
        assert str(place) in error


def test_other_values_of_a_checkpoint(call: Call, folders: Path, tmp_path: Path) -> None:
    place = tmp_path / "fla"
    shutil.copytree(folders / "fla", place)
    for value in ({"a": 1}, [1], None, 3):
        edited(
            folders / "fla" / "config.json",
            place / "config.json",
            lambda config, value=value: config.update(model_type=value),  # type: ignore[misc]
        )
        for command in (
            ("prove", str(place), "S3"),
            ("spectrum", str(place)),
            ("import", "fla", str(place), "-o", "x.npz"),
        ):
            assert "model_type" in call(*command).error


def test_half_a_surrogate_pair_is_no_character(call: Call, folders: Path, tmp_path: Path) -> None:
    place = tmp_path / "model"
    shutil.copytree(folders / "model", place)
    edited(
        folders / "model" / "task.json",
        place / "task.json",
        lambda task: task["settings"].update(values="\ud800"),
    )
    for command in (("prove", str(place), "S3"), ("eval", str(place))):
        error = call(*command).error
        assert "task.json" in error
        assert "\\ud800" in error
    assert parse_json(r'["\ud83d\ude00"]', "x") == ["😀"]
    with pytest.raises(InputError, match="surrogate"):
        parse_json(r'{"\udc00": 1}', "x")


def test_run_of_matrices_names_the_commands_that_take_them(call: Call, tmp_path: Path) -> None:
    np.savez(tmp_path / "m.npz", A=np.eye(2)[None])
    error = call("run", str(tmp_path / "m.npz"), "--word", "1").error
    assert "a certificate is needed" in error
    assert "`mirrormata prove`" in error


def test_a_bound_is_about_named_states_and_says_so(call: Call) -> None:
    assert "outputs" not in call("check", str(OLD / "bound.json"), "--for", "S3").out.splitlines()[1]


def test_an_empty_file_is_called_empty(call: Call, tmp_path: Path) -> None:
    (tmp_path / "e.json").write_text("")
    assert "e.json is empty" in " ".join(call("check", str(tmp_path / "e.json")).out.split())
    for command in (("run", "--word", "1"), ("prove", "parity")):
        assert "the file is empty" in call(command[0], str(tmp_path / "e.json"), *command[1:]).error


def test_a_certificate_in_place_of_an_automaton(call: Call) -> None:
    file = str(OLD / "table.json")
    for command in (("plan", file), ("inspect", file), ("construct", file), ("check", file, "--for", file)):
        error = call(*command).error
        assert "is a certificate, and an automaton is wanted" in error
        assert len(error) < len(file) + 200  # no list of what is known


def test_an_automaton_in_place_of_a_certificate_is_constructed(call: Call, tmp_path: Path) -> None:
    drawn = tmp_path / "cycle.dot"
    call("inspect", "cycle:3", "--write", str(drawn))
    commands: list[tuple[str, ...]] = [
        ("prove", "parity", "parity"),
        ("prove", "S3", "S3", "--product", "right"),
        ("spectrum", "mod:4"),
        ("spectrum", "tomita:4"),
        ("run", "parity", "--word", "1"),
        ("run", str(drawn), "--word", "+1"),
        ("run", "regex:(ab)*", "--word", "ab"),
        ("run", "gridworld:4", "--word", "left right", "--start", "3"),
        ("check", "S3", "--for", "S3"),
        ("compare", "S3", "S3", "--words", "2", "--length", "4", "--fit", "4", "--extract", "none"),
        ("export", "npz", "S3", "-o", str(tmp_path / "s3.npz")),
        ("export", "safetensors", "tomita:4", "-o", str(tmp_path / "tomita4.safetensors")),
    ]
    for arguments in commands:
        done = call(*arguments)
        assert done.status == 0, done
        first = done.err.splitlines()[0]
        name = arguments[2] if arguments[0] == "export" else arguments[1]
        assert re.fullmatch(rf"constructed on the way by [^:]*: {re.escape(name)}: .* dimension .*", first)
    assert call("run", "S3", "--word", "", "--json").json["errors"] == 0


@pytest.mark.parametrize(
    "command", [("check",), ("run", "--word", "1"), ("spectrum",), ("prove",), ("export", "npz")]
)
def test_neither_a_file_nor_a_name(command: tuple[str, ...], call: Call, tmp_path: Path) -> None:
    name, *options = command
    words = [name, *options[:1]] if name == "export" else [name]
    more = {"prove": ["S3"], "export": ["-o", str(tmp_path / "x.npz")], "run": options}.get(name, [])
    assert "S3x: no such file, and no automaton of this name" in call(*words, "S3x", *more).error
    for path in ("nowhere.json", "no/where"):
        assert call(*words, path, *more).error.startswith(f"{path}: no such file")
    broken = tmp_path / "broken.json"
    broken.write_text('{"format": "mirrormata-certificate/9", "automaton": {}}')
    assert call(*words, str(broken), *more).status in (1, 2)


USAGE = [
    (("construct", "S5", "--max-layers", "x"), "--max-layers x: a whole number is needed (`mirrormata construct --help`"),
    (("construct", "S5", "--max-layers=y"), "--max-layers y: a whole number is needed (`mirrormata construct --help`"),
    (("verify", "--budget", "soon"), "--budget soon: a number is needed (`mirrormata verify --help`"),
    (("verify", "--jobs", "0"), "--jobs 0: "),
    (("export", "fla", "x.json", "-o", "y", "--max-entries", "z"), "--max-entries z: a whole number is needed (`mirrormata export fla --help`"),
    (("construct", "S5", "--nonsense"), "`mirrormata construct --help`"),
    (("nonsense",), "`mirrormata --help` lists the commands and options"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "text"), USAGE)
def test_a_wrong_value_of_an_option_is_named(arguments: tuple[str, ...], text: str, call: Call) -> None:
    assert text in call(*arguments).error


def test_an_arithmetic_that_nothing_is_written_in(call: Call) -> None:
    file = str(OLD / "table.json")
    assert "-o FILE" in call("compare", file, "parity", "--arithmetic", "bf17").error
    error = call("compare", file, "parity", "--arithmetic", "cast:bf16", "-o", "x.json").error
    assert "per_step only" in error
    assert "`certify_cast_impossibility`" in error


def test_what_is_cited_about_a_model_is_an_assumption(call: Call) -> None:
    """No reason of one arithmetic stands in another: G.T1 is a theorem of `cast`, and false in `per_step`."""
    for model in (str(OLD / "table.json"), "parity", "mod:5"):
        for row in call("verify", "--model", model, "--json").json["claims"]:
            says = str(row["evidence"].get("says", ""))
            if "(cited)" in says or "G.T" in says:
                assert row["arithmetic"] == "cast"
                assert row["assumptions"]
            if row["claim"] == "S.star-free":
                assert row["computed"] == row["claimed"] == "not followed"
                assert "in a cycle" in says
                assert len(row["assumptions"]) == 1


def test_a_plan_states_every_bound_that_it_calls_reached(call: Call) -> None:
    shown = " ".join(call("plan", "mod:5", "--details").out.split())
    assert "layers (H.rank)" in shown
    assert "it follows: layers ≥ 2 (H.rank): one layer needs 2" in shown
    assert "no other one is at least as good" in shown
    assert "at least to token bf16 56" in shown


def test_the_bound_on_beta_speaks_of_its_figure(call: Call) -> None:
    shown = call("construct", "mod:5", "--exactness", "integer", "--json").json["lower_bounds"]
    beta = next(bound["text"] for bound in shown if bound["figure"] == "beta")
    assert beta.startswith("largest β‖v‖² = 2, and 2 must be reached (H.openβ)")


def test_the_words_of_an_impossibility_are_named(call: Call) -> None:
    assert "u: 0 1; v: 1 0 0;" in call("check", str(OLD / "impossible.json")).out
