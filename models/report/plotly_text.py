"""Text for plotly, which reads markup and templates: escaped, so that it shows labels as they are."""

from __future__ import annotations

_WRITTEN = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "%{": "%&#123;"}


def plotly_text(text: str) -> str:
    """Text that plotly shows as it is: neither markup nor a template."""
    for sign, written in _WRITTEN.items():
        text = text.replace(sign, written)
    return text
