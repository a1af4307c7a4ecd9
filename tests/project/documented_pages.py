"""What the pages show, run: Python blocks, console blocks with their output, and the generated tables.

Blocks of a page run in their order, in one folder and one Python namespace:

- "```python" is executed; a "```text" block right after it is what it prints, and one that prints has such a block. The
  handler of every `except` must be reached: a page that shows an error shows one that comes.
- "```console" has lines "$ command", each followed by what it prints, standard error included. Commands are
  `mirrormata ...`, `python3 ...` and `cat FILE`. A line "..." stands for any lines.
- "```json title="NAME"" (or another language) writes the file NAME.
- Between "<!-- generated: NAME -->" and "<!-- end -->" stands a table that is computed again.

`python -m mirrormata.tests.project.documented_pages PAGE...` runs pages and writes what they print into them.
"""

from __future__ import annotations

import ast
import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mirrormata.cli import main
from mirrormata.tests.project.generated_tables import TABLES

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]

_PROGRESS = re.compile(
    r"(planning|proving|testing|comparing|constructing|refuting|reporting|running|checking|counting)( [a-z]+)?: .*\b\d+ s"
)
_FENCE = re.compile(
    r"^```(?P<info>[^\n`]*)\n(?P<text>.*?)^```$|"
    r"^<!-- generated: (?P<table>[a-z-]+) -->\n(?P<rows>.*?)^<!-- end -->$",
    re.MULTILINE | re.DOTALL,
)
_TIMES = (
    (re.compile(r"[0-9.]+ s, [0-9,]+ tokens/s"), "S s, N tokens/s"),
    (re.compile(r'"seconds": [^,]+, "tokens_per_second": [^,]+'), '"seconds": S, "tokens_per_second": N'),
)
_WIDTH = "80"
UNSHOWN = "not shown"
REACHED = "__reached__"
"""The name by which a page's handlers say that they were reached."""


class ExpectedErrorError(Exception):
    """An example shows an error, and it does not come."""


@dataclass(frozen=True)
class Block:
    """A fenced block or a generated table: `info` is the fence's line, `start` and `end` the text's place."""

    info: str
    text: str
    start: int
    end: int
    follows: bool


def blocks(page: str) -> list[Block]:
    """All blocks of a page; `follows` where only blank space stands between a block and the one before."""
    found: list[Block] = []
    last = 0
    for match in _FENCE.finditer(page):
        part = "text" if match["table"] is None else "rows"
        info = match["info"] if match["table"] is None else f"generated {match['table']}"
        follows = not page[last : match.start()].strip()
        found.append(Block(info.strip(), match[part], match.start(part), match.end(part), follows))
        last = match.end()
    return found


def run_page(page: str, folder: Path) -> Iterator[tuple[Block, str]]:
    """Runs a page's blocks in a folder; yields each block that shows output, with the text it should have."""
    namespace: dict[str, Any] = {"__name__": "__page__"}
    printed: str | None = None
    source: Block | None = None
    for block in blocks(page):
        language, *marks = block.info.split()
        if language == "text" and printed is not None and block.follows:
            yield block, printed
        elif printed and source is not None:
            yield empty_block_behind(source), printed
        printed = None
        title = re.search(r'title="([^"]+)"', block.info)
        if title:
            (folder / title[1]).write_text(block.text, encoding="utf-8")
        elif language == "python":
            name, reached = f"<{block.text.splitlines()[0]}>", set[int]()
            tree, handlers = mark_handlers(block.text)
            namespace[REACHED] = reached.add
            with work_in(folder) as output:
                exec(compile(tree, name, "exec"), namespace)
            if missed := sorted(handlers - reached):
                raise ExpectedErrorError(
                    f"{name}: line {missed[0]} of the block is not reached: the error that the page shows does not come"
                )
            printed, source = output.getvalue(), block
        elif language == "console":
            for command, shown in split_commands(block):
                yield shown, run_command(command, folder)
        elif language == "generated":
            yield block, TABLES[marks[0]]()
    if printed and source is not None:
        yield empty_block_behind(source), printed


def empty_block_behind(source: Block) -> Block:
    """The empty place behind a Python block whose output the page does not show."""
    return Block(UNSHOWN, "", source.end, source.end, follows=True)


def mark_handlers(text: str) -> tuple[ast.Module, set[int]]:
    """The text's tree, in which every `except` says that it was reached; and the lines of them all.

    `contextlib.suppress` hides whether an error came, so a page writes `try` and `except`.
    """
    tree = ast.parse(text)
    handlers = [node for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler)]
    for handler in handlers:
        handler.body.insert(0, ast.parse(f"{REACHED}({handler.lineno})").body[0])
    if any(
        isinstance(node, ast.Name | ast.Attribute) and "suppress" in ast.dump(node) for node in ast.walk(tree)
    ):
        raise ExpectedErrorError("a page shows errors by `try` and `except`, not by `suppress`")
    return ast.fix_missing_locations(tree), {handler.lineno for handler in handlers}


def split_commands(block: Block) -> Iterator[tuple[str, Block]]:
    """The commands of a console block, each with the lines below it as a block."""
    for match in re.finditer(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block.text, flags=re.MULTILINE):
        start, end = (block.start + place for place in match.span(2))
        yield match[1], Block(block.info, match[2], start, end, follows=True)


def run_command(command: str, folder: Path) -> str:
    """What a command prints in a folder, both streams together, without blanks at the ends of lines."""
    program, *arguments = shlex.split(command)
    if program == "mirrormata":
        with work_in(folder) as output, contextlib.suppress(SystemExit):
            main(arguments)
        text = output.getvalue()
    elif program == "python3":
        arguments = [str(ROOT / a) if a.startswith("theory/") else a for a in arguments]
        done = subprocess.run(
            [sys.executable, *arguments], cwd=folder, capture_output=True, text=True, check=False
        )
        text = done.stdout + done.stderr
    elif program == "cat":
        text = "".join((folder / name).read_text(encoding="utf-8") for name in arguments)
    else:
        raise ValueError(f"a console block shows mirrormata, python3 or cat, not {program!r}")
    # a line every half a minute says how far long work has come; on a slow machine it comes where none is shown
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines() if not _PROGRESS.fullmatch(line))


@contextlib.contextmanager
def work_in(folder: Path) -> Iterator[io.StringIO]:
    """Work in a folder, with both streams caught and tables 80 characters wide."""
    output, before, width = io.StringIO(), os.getcwd(), os.environ.get("COLUMNS")
    os.chdir(folder)
    os.environ["COLUMNS"] = _WIDTH
    try:
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            yield output
    finally:
        os.chdir(before)
        if width is None:
            del os.environ["COLUMNS"]
        else:
            os.environ["COLUMNS"] = width


def agrees(shown: str, printed: str) -> bool:
    """Equal but for times; a line "..." of the page stands for any lines."""
    parts = [re.escape(part) for part in re.split(r"^\.\.\.\n", _plain(shown), flags=re.MULTILINE)]
    return re.fullmatch("(?:.*\n)*".join(parts), _plain(printed)) is not None


def _plain(text: str) -> str:
    for pattern, plain in _TIMES:
        text = pattern.sub(plain, text)
    return text


def refresh_page(page: str, folder: Path) -> str:
    """The page with what its blocks print; blocks that agree stay as they are, those with "..." are refused."""
    changes: list[tuple[Block, str]] = []
    for block, printed in run_page(page, folder):
        if agrees(block.text, printed):
            continue
        if block.info == UNSHOWN:
            raise ValueError(f"write a text block for what a Python block prints:\n{printed}")
        if re.search(r"^\.\.\.$", block.text, flags=re.MULTILINE):
            raise ValueError(f"fix this block by hand:\n{block.text}\nIt prints:\n{printed}")
        changes.append((block, printed))
    for block, printed in reversed(changes):
        page = page[: block.start] + printed + page[block.end :]
    return page


def refresh_files(paths: list[str], say: Callable[[str], None] = print) -> None:
    """Write the outputs of pages into them."""
    for path in paths:
        before = Path(path).read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder:
            after = refresh_page(before, Path(folder))
        if after != before:
            Path(path).write_text(after, encoding="utf-8")
            say(f"changed: {path}")


if __name__ == "__main__":
    refresh_files(sys.argv[1:])
