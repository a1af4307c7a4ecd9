"""First and last section of a report, what it is of and which files it was made from; and certificates without a table."""

from __future__ import annotations

import platform
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version

from .folder import HOLD_ONE, ReportFolder
from .parts import Cell, Section, Table

PACKAGES = ("numpy", "torch", "matplotlib", "plotly")


def summary(place: ReportFolder, command: str, reason: str) -> Section:
    """What the folder holds, the versions at work, the command; `reason`: why there is no construction, if so."""
    from ... import __version__

    rows: list[tuple[Cell, ...]] = [("folder", place.path.resolve().name), ("holds", place.what)]
    if place.task is not None:
        rows.append(("task", place.task.task))
    rows += [
        (f"certificate {c.path.name}", f"{c.document.get('kind')}, {c.verdict}") for c in place.certificates
    ]
    if reason:
        rows.append(("construction", f"none: {reason}"))
    versions = ", ".join(f"{name} {_version(name)}" for name in PACKAGES)
    rows += [("versions", f"mirrormata {__version__}, Python {platform.python_version()}, {versions}")]
    if command:
        rows.append(("command", command))
    table = Table(
        "what", "What this is", "The folder, its task, and what made this page.", ("entry", "value"), tuple(rows),
        "the folder, and the program that was run",
    )  # fmt: skip
    return Section("summary", "Summary", _text(place, reason), (table,))


def certificates(place: ReportFolder) -> tuple[Section, ...]:
    """Certificates that hold no linear RNN, or are invalid, with the checker's verdict; no section where there are none."""
    rest = [c for c in place.certificates if c.verdict != "valid" or c.document["kind"] not in HOLD_ONE]
    if not rest:
        return ()
    rows = tuple((c.path.name, str(c.document.get("kind")), c.verdict, c.reason or None) for c in rest)
    table = Table(
        "certificates", "Certificates", "What the stand-alone checker says of each.",
        ("file", "kind", "verdict", "reason"), rows, ", ".join(c.path.name for c in rest),
    )  # fmt: skip
    text = "Certificates that hold no construction, such as those of what is impossible, equivalent or bounded, and invalid ones."
    return (Section("more-certificates", "Other certificates", text, (table,)),)


def provenance(place: ReportFolder) -> Section:
    """Every file that was read: name, size, sha256."""
    rows = tuple(
        (str(path.relative_to(place.path)), path.stat().st_size, sha256(path.read_bytes()).hexdigest())
        for path in place.files()
    )
    table = Table(
        "files", "Files", "All numbers above come from these files, and from what is computed from them.",
        ("file", "bytes", "sha256"), rows, "the files themselves",
    )  # fmt: skip
    return Section("provenance", "Provenance", "What this report was made from.", (table,))


def _text(place: ReportFolder, reason: str) -> str:
    if place.kind == "certificates":
        return "Certificates, with the checker's verdict on each, and what the valid ones construct."
    learned = "A training on" if place.kind == "training" else "A model of"
    beside = (
        ", without a construction beside it"
        if reason
        else ", and beside it the construction of the same automaton"
    )
    return f"{learned} {place.name}{beside}."


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "(not installed)"
