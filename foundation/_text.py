"""Everything that is wrong with an input in one line of bounded length.

Text for a terminal: whatever a label holds, no control character of it reaches the terminal as such.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ._errors import InputError

if TYPE_CHECKING:
    from rich.console import Console


def refusal(name: str, problems: Sequence[str], shown: int = 20, width: int = 300) -> InputError:
    """The error that lists problems behind the input's name; long ones are cut in the middle, many are counted."""
    cut = [p if len(p) <= width else f"{p[: width // 2]}...{p[-width // 2 :]}" for p in problems[:shown]]
    more = f"; and {len(problems) - shown} more" if len(problems) > shown else ""
    return InputError(f"{name}: " + "; ".join(cut) + more)


# C0 and C1 controls but tab and line feed, DEL; separators of lines; marks that turn the direction of writing
CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    r"""The text with control characters as `\x1b` or `\u202e`; tabs and line feeds stay."""
    return CONTROLS.sub(lambda found: _escape(found[0]), text)


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def console() -> Console:
    """Where tables are printed: on standard output, every string of them made `printable`."""
    from rich.console import Console
    from rich.text import Text

    class Printable(Console):
        def render_str(self, text: str, **options: Any) -> Text:
            return super().render_str(printable(text), **options)

    return Printable(highlight=False, markup=False, emoji=False)
