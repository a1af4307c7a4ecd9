"""Everything that is wrong with an input in one line of bounded length, and nouns with their numbers.

Text for a terminal and for notebooks: whatever a label holds, no control character of it reaches the terminal as such, and no
sign of it is read as HTML.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from ._errors import InputError

if TYPE_CHECKING:
    from rich.console import Console


def refusal(name: str, problems: Sequence[str], shown: int = 20, width: int = 300) -> InputError:
    """The error that lists problems behind the input's name; long ones are cut in the middle, many are counted."""
    cut = [p if len(p) <= width else f"{p[: width // 2]}...{p[-width // 2 :]}" for p in problems[:shown]]
    more = f"; and {len(problems) - shown} more" if len(problems) > shown else ""
    return InputError(f"{name}: " + "; ".join(cut) + more)


def count_noun(number: int, noun: str, plural: str = "s") -> str:
    """`1 factor`, `2 factors`, `1,000 factors`.

    Args:
        number: how many, at least 0.
        noun: the word for one.
        plural: what more than one, or none, adds to it.
    """
    return f"{number:,} {inflect_noun(number, noun, plural)}"


def inflect_noun(number: int, noun: str, plural: str = "s") -> str:
    """The noun alone, as it stands for so many; see `count_noun`."""
    return noun if number == 1 else noun + plural


def shorten_list(items: Iterable[object], sign: str = ", ") -> str:
    """All items, or of more than eight the first five and the last two: `9, 8, 7, 6, 5, ..., 2, 1`.

    Args:
        items: what is listed, each as its text.
        sign: what stands between two of them.
    """
    shown = [str(item) for item in items]
    return sign.join(shown if len(shown) <= 8 else [*shown[:5], "...", *shown[-2:]])


# C0 and C1 controls but tab and line feed, DEL; separators of lines; marks that turn the direction of writing
CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    r"""The text with control characters as `\x1b` or `\u202e`; tabs and line feeds stay."""
    return CONTROLS.sub(lambda found: _escape(found[0]), text)


def print_name(name: str) -> str:
    r"""A name from somebody's file on one line: control characters escaped, tabs and line feeds as well, which could forge a line.

    Args:
        name: the name.
    """
    return printable(name).replace("\n", "\\n").replace("\t", "\\t")


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


MOST_ROWS = 200
"""Rows of a table in a notebook; the others are counted."""
MOST_CHARACTERS = 190
"""Of a result's `repr`."""


def html_table(title: str, rows: Iterable[Sequence[object]], headings: Sequence[object] = ()) -> str:
    """A small table for notebooks, in which every text is escaped.

    Args:
        title: stands above the table.
        rows: cells as objects whose `str` is shown; the first of each row is set as a heading. At most `MOST_ROWS` are shown.
        headings: of the columns; none for pairs of a label and a text.

    Returns:
        One line of HTML.

    Examples:
        >>> html_table("Sizes", [("states", 2)])
        '<table><caption>Sizes</caption><tr><th>states</th><td>2</td></tr></table>'
    """

    def text(cell: object) -> str:
        return escape(printable(str(cell)))

    rows = list(rows)
    more = f"; the first {MOST_ROWS} of {len(rows):,} rows" if len(rows) > MOST_ROWS else ""
    lines = ["".join(f"<th>{text(cell)}</th>" for cell in headings)] if headings else []
    lines += [
        f"<th>{text(first)}</th>" + "".join(f"<td>{text(cell)}</td>" for cell in others)
        for first, *others in rows[:MOST_ROWS]
    ]
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f"<table><caption>{text(title)}{more}</caption>{body}</table>"


def one_line(result: object, text: str) -> str:
    """The `repr` of a result: its type and a text, in one line of at most 200 characters or so.

    Args:
        result: whose type is named.
        text: what is true of it; control characters are escaped, and what is too long is cut off.

    Returns:
        `<Type: text>`.
    """
    shown = printable(text).replace("\n", "\\n").replace("\t", "\\t")
    cut = shown if len(shown) <= MOST_CHARACTERS else shown[: MOST_CHARACTERS - 1] + "…"
    return f"<{type(result).__name__}: {cut}>"


def refuse_truth(result: object, attribute: str) -> TypeError:
    """The error where a result that is neither true nor false is asked which it is; it names what to look at.

    Args:
        result: whose type is named.
        attribute: of the result, such as `errors`.
    """
    return TypeError(f"a {type(result).__name__} is neither true nor false: look at its `{attribute}`")


WIDE = 1_000_000
"""Characters of a line of a table that goes to a file or a program, where the environment gives no COLUMNS: nothing is folded."""


def console() -> Console:
    """Where tables are printed: on standard output, as wide as the terminal, and elsewhere as wide as they are.

    Every string of them is made `printable`, and no line ends in blanks.
    """
    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.segment import Segment
    from rich.text import Text

    class Trimmed:
        """What is printed, line by line, without the blanks at the end of each."""

        def __init__(self, inner: Any) -> None:
            self.inner = inner

        def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
            for line in console.render_lines(self.inner, options, pad=False):
                while line and not line[-1].text.strip(" "):
                    line.pop()
                yield from line[:-1]
                if line:
                    last = line[-1]
                    yield Segment(last.text.rstrip(" "), last.style, last.control)
                yield Segment.line()

    class Printable(Console):
        def render_str(self, text: str, **options: Any) -> Text:
            return super().render_str(printable(text), **options)

        def print(self, *objects: Any, **options: Any) -> None:
            shown = [self.render_str(x) if isinstance(x, str) else x for x in objects]
            super().print(*map(Trimmed, shown), end="", **options)

    folded = sys.stdout.isatty() or "COLUMNS" in os.environ
    return Printable(highlight=False, markup=False, emoji=False, width=None if folded else WIDE)
