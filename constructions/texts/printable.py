"""Text for a terminal: whatever a label holds, no control character of it reaches the terminal as such."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

# C0 and C1 controls but tab and line feed, DEL; separators of lines; marks that turn the direction of writing
CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    r"""The text with control characters as `\x1b` or `\u202e`; tabs and line feeds stay."""
    return CONTROLS.sub(lambda found: _escaped(found[0]), text)


def _escaped(character: str) -> str:
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
