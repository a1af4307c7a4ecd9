"""`automaton_from_spec` and `write_automaton`: which reader a SPEC gets, its options, its errors."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mirrormata.constructions._exports import write_automaton
from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.constructions.automata._automaton import Automaton
from mirrormata.constructions.automata._format import all_formats
from mirrormata.foundation._errors import InputError

CASES = Path(__file__).parents[1] / "data" / "cases"
EXTENSIONS = {extension for entry in all_formats() for extension in entry.extensions}


@pytest.mark.parametrize(
    ("spec", "options", "part"),
    [
        ("missing.json", {}, "missing.json: no such file"),
        ("missing.dot", {}, "missing.dot: no such file"),
        ("model.yaml", {}, ".json"),
        ("a\0.json", {}, "NUL"),
        ("x" * 5000 + ".json", {}, "cannot be read"),
        ("parity", {"alphabet": "ab"}, "`alphabet` is for .att files and regex:PATTERN only"),
        ("parity", {"group": "S3"}, "`group` is for .csv files only"),
        ("regex:a", {"group": "S3"}, "`group` is for .csv files only"),
        ("parity", {"start": "9"}, "'9'"),
        ("regex:a", {"start": "9"}, "'9'"),
        ("parityy", {}, "parity"),
        ("", {}, ""),
    ],
)
def test_one_line_errors(spec: str, options: dict[str, Any], part: str) -> None:
    with pytest.raises(InputError) as caught:
        automaton_from_spec(spec, **options)
    assert part in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_folder_is_not_a_file(tmp_path: Path) -> None:
    (tmp_path / "a.json").mkdir()
    with pytest.raises(InputError, match="folder"):
        automaton_from_spec(str(tmp_path / "a.json"))


def test_a_folder_does_not_hide_a_library_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "parity").mkdir()
    assert len(automaton_from_spec("parity").states) == 2


@pytest.mark.parametrize(
    ("name", "start"),
    [("partial_dfa.json", "0"), ("moore.dot", "s1"), ("trailing_blank.mata", "q1"), ("acceptor.att", "2"),
     ("full_t3.txt", "3"), ("S3=6.csv", "(1, 0, 2)")],
)  # fmt: skip
def test_start_is_chosen_by_its_text(name: str, start: Any) -> None:
    automaton = automaton_from_spec(str(CASES / name), start=start)
    assert str(automaton.states[automaton.start]) == start
    with pytest.raises(InputError, match="'nowhere'"):
        automaton_from_spec(str(CASES / name), start="nowhere")


def test_start_may_be_a_state_that_the_files_own_start_does_not_reach() -> None:
    automaton = automaton_from_spec(str(CASES / "partial_dfa.json"), start="0")
    assert automaton.states == ("0", "sink")


def test_track_defaults() -> None:
    assert len(automaton_from_spec("regex:(ab|ab)*").states) == 3
    assert len(automaton_from_spec("regex:(ab|ab)*", track="state").states) > 3
    assert len(automaton_from_spec(str(CASES / "no_accepting.json")).states) == 4
    fewer = automaton_from_spec(str(CASES / "nondeterministic.mata"))
    assert len(fewer.states) <= len(
        automaton_from_spec(str(CASES / "nondeterministic.mata"), track="state").states
    )


def test_product_reaches_the_library() -> None:
    left, right = (automaton_from_spec("S3", product=p) for p in ("left", "right"))
    word = [left.letters[1], left.letters[2]]
    assert left.after(word) != right.after(word)


def test_regex_start() -> None:
    assert automaton_from_spec("regex:(ab)*", start="1").output("b") is True


def test_unknown_extension_to_write(tmp_path: Path) -> None:
    automaton = automaton_from_spec("parity")
    with pytest.raises(InputError, match=r"\.json"):
        write_automaton(automaton, tmp_path / "a.yaml")
    with pytest.raises(InputError, match="cannot be written"):
        write_automaton(automaton, tmp_path / "no" / "a.json")


def test_case_of_the_extension_does_not_matter(tmp_path: Path) -> None:
    path = tmp_path / "A.JSON"
    path.write_text((CASES / "no_accepting.json").read_text(encoding="utf-8"), encoding="utf-8")
    assert isinstance(automaton_from_spec(str(path)), Automaton)
    assert automaton_from_spec(str(path)).name == "A.JSON"


def test_reading_loads_no_heavy_module() -> None:
    code = (
        "import sys\n"
        "from mirrormata.constructions._spec import automaton_from_spec\n"
        f"for name in {sorted(p.name for p in CASES.iterdir() if p.suffix in EXTENSIONS)!r}:\n"
        "    try:\n"
        f"        automaton_from_spec({str(CASES)!r} + '/' + name)\n"
        "    except ValueError:\n"
        "        pass\n"
        "loaded = {'torch', 'triton', 'sympy', 'networkx', 'automata'} & set(sys.modules)\n"
        "sys.exit(str(sorted(loaded)) if loaded else 0)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
