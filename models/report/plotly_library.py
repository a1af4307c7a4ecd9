"""plotly.js inside a page: packed with gzip and base64, and the hash by which the page may run it."""

from __future__ import annotations

import gzip
from base64 import b64encode
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib import resources

from ...foundation._errors import InputError


@dataclass(frozen=True)
class PackedScript:
    """A script as base64 of its gzip, and its hash as Content-Security-Policy has it."""

    packed: str
    allowed: str


@cache
def plotly_library() -> PackedScript:
    """The plotly.js that comes with the `plotly` package (an extra); `InputError` where it is not installed."""
    try:
        data = resources.files("plotly").joinpath("package_data", "plotly.min.js").read_bytes()
    except (ModuleNotFoundError, FileNotFoundError):
        raise InputError("plotly is not installed: pip install 'mirrormata[report]'") from None
    return PackedScript(b64encode(gzip.compress(data, 9, mtime=0)).decode(), script_hash(data))


def script_hash(script: bytes) -> str:
    """`'sha256-…'`: how a Content-Security-Policy allows this script and no other."""
    return f"'sha256-{b64encode(sha256(script).digest()).decode()}'"
