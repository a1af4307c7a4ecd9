"""CONTRIBUTING, "A new format": one new file and its test; nothing else is edited. And what every format keeps."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import mirrormata
from mirrormata.cli import main
from mirrormata.constructions import formats
from mirrormata.constructions._spec import automaton_from_spec
from mirrormata.constructions.automata._automaton import separating_word
from mirrormata.constructions.automata._format import Format, all_formats, formats_by_extension
from mirrormata.foundation._errors import InputError

TEMPLATE = Path(mirrormata.__file__).parent / "constructions" / "formats" / "_template.py"


@pytest.fixture
def more_formats(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder whose files are found as those of `constructions/formats` are."""
    folder = tmp_path / "formats"
    folder.mkdir()
    monkeypatch.setattr(formats, "__path__", [*formats.__path__, str(folder)])
    loaded = set(sys.modules)
    all_formats.cache_clear()
    yield folder
    all_formats.cache_clear()
    for name in set(sys.modules) - loaded:
        if name.startswith(formats.__name__):
            del sys.modules[name]


def test_a_new_format_is_one_new_file(
    more_formats: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copy(TEMPLATE, more_formats / "arrows.py")
    path = tmp_path / "parity.arrows"
    path.write_text("even 1 odd\nodd 1 even\neven 0 even\nodd 0 odd\naccept odd\n", encoding="utf-8")
    assert automaton_from_spec(str(path)).accepts("0110100")
    assert mirrormata.construct(str(path)).automaton.letters == ("1", "0")
    assert len(automaton_from_spec(str(path), start="odd", track="output").states) == 2

    written = tmp_path / "again.arrows"
    with pytest.raises(SystemExit) as ended:
        main(["inspect", str(path), "--write", str(written)])
    assert ended.value.code == 0
    assert "acceptor" in capsys.readouterr().out
    assert separating_word(automaton_from_spec(str(path)), automaton_from_spec(str(written))) is None

    with pytest.raises(InputError, match=r"\.arrows \(arrows, one a line\)"):
        automaton_from_spec("a.yaml")
    (tmp_path / "bad.arrows").write_text("a b\n", encoding="utf-8")
    with pytest.raises(InputError, match="line 1: `STATE LETTER STATE`"):
        automaton_from_spec(str(tmp_path / "bad.arrows"))
    with pytest.raises(InputError, match="accepting states only"):
        automaton_from_spec("S3").save(tmp_path / "s3.arrows")
    assert not (tmp_path / "s3.arrows").exists()


def test_a_file_without_a_format_is_named(more_formats: Path) -> None:
    (more_formats / "empty.py").write_text("", encoding="utf-8")
    with pytest.raises(TypeError, match=r"empty\.py: no FORMAT of type Format"):
        all_formats()


def test_two_formats_of_one_extension_are_refused(more_formats: Path) -> None:
    shutil.copy(TEMPLATE, more_formats / "one.py")
    shutil.copy(TEMPLATE, more_formats / "two.py")
    with pytest.raises(TypeError, match=r"two formats for \.arrows"):
        all_formats()


def test_without_the_file_there_is_no_such_format() -> None:
    assert [f.name for f in all_formats() if ".arrows" in f.extensions] == []


@pytest.mark.parametrize("entry", all_formats(), ids=lambda f: f.name)
def test_examples_are_read_and_written_again(entry: Format, tmp_path: Path) -> None:
    if entry.prefix:
        assert len(automaton_from_spec(entry.prefix + entry.example).states) >= 2
        return
    for extension in entry.extensions:
        path = tmp_path / (entry.example_file or f"example{extension}")
        path.write_text(entry.example, encoding="utf-8")
        automaton = automaton_from_spec(str(path))
        assert len(automaton.states) >= 2
        if not any(f.write for f in formats_by_extension(extension)):
            with pytest.raises(InputError, match="automata are written as"):
                automaton.save(path)
        elif entry.write is None:  # another format of the extension is written
            automaton.save(tmp_path / f"again{extension}")
            again = automaton_from_spec(str(tmp_path / f"again{extension}"))
            assert len(again.states) == len(automaton.states)
        else:
            automaton.save(tmp_path / f"again{extension}")
            again = automaton_from_spec(str(tmp_path / f"again{extension}"))
            assert separating_word(automaton, again) is None
