"""The notebooks show what they print, are small, and name no machine."""

from __future__ import annotations

import re
from copy import deepcopy
from typing import Any

import nbformat
import pytest

from mirrormata.tests.project.documented_notebooks import (
    NOTEBOOKS,
    clean_notebook,
    execute_notebook,
    find_differences,
    output_texts,
    read,
)
from mirrormata.tests.project.notebook_pages import notebook_to_page

NAMES = [path.stem for path in NOTEBOOKS]
STORED = {path.stem: read(path) for path in NOTEBOOKS}


def notebook(*sources: str, tags: tuple[str, ...] = ()) -> Any:
    """A notebook without outputs."""
    v4 = nbformat.v4
    cells = [v4.new_code_cell(source, metadata={"tags": list(tags)}) for source in sources]  # type: ignore[no-untyped-call]
    return v4.new_notebook(cells=cells)  # type: ignore[no-untyped-call]


def test_there_is_one_for_each_use() -> None:
    assert NAMES == ["compare", "construct", "verify"]


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_shows_what_it_prints(name: str) -> None:
    wrong = find_differences(STORED[name], execute_notebook(STORED[name]))
    assert not wrong, f"{name}: see CONTRIBUTING.md, Tests\n" + "\n".join(wrong)


def test_wrong_outputs_are_noticed() -> None:
    right = execute_notebook(notebook("print('a 1')\nprint('b')", "1 + 1"))
    assert [output_texts(cell) for cell in right.cells] == [["a 1\nb\n"], ["2"]]
    assert not find_differences(right, right)
    for text in ("a 2\nb\n", "a 1\n"):
        wrong = deepcopy(right)
        wrong.cells[0].outputs[0].text = text
        assert len(find_differences(wrong, right)) == 1
    wrong = deepcopy(right)
    wrong.cells[1].outputs = []
    assert len(find_differences(wrong, right)) == 1


def test_of_a_training_only_words_are_compared() -> None:
    texts = ("accuracy 0.91 at token 1,024", "accuracy 1 at token None", "accuracy 0.91 1.00 at token 7")
    shorn = {tuple(output_texts(trained(text))) for text in texts}
    assert shorn == {("accuracy N at token N",)}
    assert output_texts(trained("no accuracy 1 at token 7")) != output_texts(trained(texts[0]))


def trained(text: str) -> Any:
    """A cell of a training that prints a text."""
    (cell,) = notebook("train()", tags=("training",)).cells
    cell.outputs = [nbformat.v4.new_output("stream", text=text)]  # type: ignore[no-untyped-call]
    return cell


def test_errors_and_warnings_are_not_hidden() -> None:
    with pytest.raises(Exception, match="ZeroDivisionError"):
        execute_notebook(notebook("1 / 0"))
    with pytest.raises(ValueError, match="standard error"):
        execute_notebook(notebook("import sys\nprint('careful', file=sys.stderr)"))


@pytest.mark.parametrize("name", NAMES)
def test_what_is_stored_is_small_clean_and_complete(name: str) -> None:
    stored, path = STORED[name], next(path for path in NOTEBOOKS if path.stem == name)
    assert path.stat().st_size < 300_000
    assert clean_notebook(deepcopy(stored)) == stored
    code = [cell for cell in stored.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    outputs = "".join(text for cell in code for text in output_texts(cell))
    assert not re.search(r"/(home|root|tmp|work|Users|usr)/|0x[0-9a-f]{6}", outputs)
    assert sum("<image/" in text for cell in code for text in output_texts(cell)) >= 3


@pytest.mark.parametrize("name", NAMES)
def test_the_page_of_a_notebook_has_all_its_cells(name: str) -> None:
    page, files = notebook_to_page(next(path for path in NOTEBOOKS if path.stem == name))
    for cell in STORED[name].cells:
        first = cell.source.splitlines()[0]
        assert re.sub(r"\.ipynb\)", ".md)", first) in page
    pictures = [
        text for cell in STORED[name].cells for text in output_texts(cell) if text.startswith("<image/")
    ]
    assert len(re.findall(r"!\[(?:svg|png)\]\(images/", page)) == len(files) == len(pictures)
    assert ".ipynb)" not in page
