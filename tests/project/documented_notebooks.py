"""The notebooks, run: every cell with the outputs that are stored beside it.

Text is compared, of pictures only that they are there. A cell with the tag `training` shows figures of a training, which
differ between machines in their last digits and then in more: there numbers are not compared, the words around them
are. Notebooks run in a temporary folder, in a kernel of the running interpreter, and write nothing to standard error.

`python -m mirrormata.tests.project.documented_notebooks` runs all and writes what they show into those that say something else; with
NAMEs, such as `verify`, these are written in any case, new pictures included.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from copy import deepcopy
from pathlib import Path
from typing import Any

import nbformat
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
RICHEST = ("image/svg+xml", "image/png", "text/html", "text/plain")
"""Of the forms of one output the first is kept."""
_NUMBERS = re.compile(r"(?:\bNone\b|-?[0-9][0-9.,]*(?:e[+-]?[0-9]+)?)(?: +(?:-?[0-9][0-9.,]*))*")
SECONDS = 120
"""Most that one cell may take."""


def read(path: Path) -> Any:
    """A stored notebook."""
    return nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]


def execute_notebook(notebook: Any) -> Any:
    """The notebook with fresh outputs; an error in a cell is raised."""
    notebook = deepcopy(notebook)
    with tempfile.TemporaryDirectory() as place:
        kernel, work = Path(place, "kernels", "python3"), Path(place, "work")
        kernel.mkdir(parents=True)
        work.mkdir()
        command = [sys.executable, "-m", "ipykernel_launcher", "--log-level=ERROR", "-f", "{connection_file}"]
        facts = {"argv": command, "display_name": "Python 3", "language": "python"}
        (kernel / "kernel.json").write_text(json.dumps(facts), encoding="utf-8")
        specs = KernelSpecManager(kernel_dirs=[str(kernel.parent)], ensure_native_kernel=False)
        client = NotebookClient(
            notebook,
            timeout=SECONDS,
            kernel_name="python3",
            km=AsyncKernelManager(
                kernel_name="python3",
                kernel_spec_manager=specs,
                transport="ipc",
                connection_file=str(Path(place, "kernel.json")),
            ),
            record_timing=False,
            resources={"metadata": {"path": str(work)}},
        )
        # the interpreter of Triton is for tests of kernels, a user's own settings of IPython are no one else's
        environment = {k: v for k, v in os.environ.items() if k not in ("TRITON_INTERPRET", "MPLBACKEND")}
        client.execute(env=environment | {"IPYTHONDIR": str(Path(place, "ipython"))})
    return clean_notebook(notebook)


def clean_notebook(notebook: Any) -> Any:
    """Without what changes from run to run: of each output its richest form, and plain metadata."""
    notebook.metadata = nbformat.from_dict(  # type: ignore[no-untyped-call]
        {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        }
    )
    for cell in notebook.cells:
        tags = cell.metadata.get("tags")
        cell.metadata = nbformat.from_dict({"tags": tags} if tags else {})  # type: ignore[no-untyped-call]
        if cell.cell_type == "code":
            cell.outputs = _join_streams(cell.outputs)
        for output in cell.get("outputs", ()):
            if "data" in output:
                form = next(form for form in RICHEST if form in output.data)
                output.data, output.metadata = {form: output.data[form]}, {}
            elif output.output_type != "stream" or output.name != "stdout":
                raise ValueError(f"{cell.source}\nwrites to standard error:\n{output.get('text', output)}")
    return notebook


def _join_streams(outputs: list[Any]) -> list[Any]:
    """Pieces of one stream, which arrive as they happen to, as one."""
    joined: list[Any] = []
    for output in outputs:
        if joined and output.output_type == "stream" and output.get("name") == joined[-1].get("name"):
            joined[-1].text += output.text
        else:
            joined.append(output)
    return joined


def output_texts(cell: Any) -> list[str]:
    """What a cell's outputs say: their text, or the kind of picture."""
    texts = []
    for output in cell.get("outputs", ()):
        if output.output_type == "stream":
            texts.append(output.text)
        else:
            ((form, content),) = output.data.items()
            texts.append(f"<{form}>" if form.startswith("image/") else content)
    if "training" in cell.metadata.get("tags", ()):
        texts = [_NUMBERS.sub("N", text) for text in texts]
    return texts


def find_differences(stored: Any, fresh: Any) -> list[str]:
    """The cells whose outputs are others, as text."""
    return [
        f"{old.source}\nshown:\n{''.join(output_texts(old))}\nprinted:\n{''.join(output_texts(new))}"
        for old, new in zip(stored.cells, fresh.cells, strict=True)
        if output_texts(old) != output_texts(new)
    ]


def refresh_files(names: list[str]) -> None:
    """Write fresh outputs into the named notebooks, or into all whose text has changed."""
    for path in NOTEBOOKS:
        if names and path.stem not in names:
            continue
        stored = read(path)
        fresh = execute_notebook(stored)
        if names or find_differences(stored, fresh):
            nbformat.write(fresh, path)  # type: ignore[no-untyped-call]
            print(f"written: {path.name}")


if __name__ == "__main__":
    refresh_files(sys.argv[1:])
