"""Everything that is wrong with an input in one line of bounded length."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import InputError


def refusal(name: str, problems: Sequence[str], shown: int = 20, width: int = 300) -> InputError:
    """The error that lists problems behind the input's name; long ones are cut in the middle, many are counted."""
    cut = [p if len(p) <= width else f"{p[: width // 2]}...{p[-width // 2 :]}" for p in problems[:shown]]
    more = f"; and {len(problems) - shown} more" if len(problems) > shown else ""
    return InputError(f"{name}: " + "; ".join(cut) + more)
