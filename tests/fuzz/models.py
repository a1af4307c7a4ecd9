"""One random model from its seed: drawn, held to the oracle, and what came of it as plain values."""

from __future__ import annotations

import random
import tempfile
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from mirrormata.tests.fuzz.hold import Holder, write_case
from mirrormata.tests.fuzz.kinds import CASES
from mirrormata.tests.fuzz.realised import realised_differences
from mirrormata.tests.fuzz.spectra import horizon_differences, spectrum_differences

OTHERS: dict[str, tuple[float, Callable[[random.Random], Iterator[str]]]] = {
    "spectrum": (0.06, spectrum_differences),
    "horizon": (0.02, horizon_differences),
    "realised": (0.05, realised_differences),
}
KINDS = {
    **{kind: weight for kind, (weight, _) in CASES.items()},
    **{kind: weight for kind, (weight, _) in OTHERS.items()},
}


@dataclass
class Result:
    """`verdict`: the oracle's, where there is one; `differences`: lines that begin with their kind; `files`: that show it."""

    kind: str
    seed: int
    verdict: str
    arithmetic: str = ""
    planted: str = ""
    differences: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    compared: dict[str, int] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)


def hold_model(seed: int, only: str | None = None, folder: Path | None = None) -> Result:
    """The model of a seed; with a `folder` its files are written there."""
    draw = random.Random(seed)
    kind = draw.choices(list(KINDS), list(KINDS.values()))[0]
    kind = only or kind
    if kind in OTHERS:
        result = Result(kind, seed, "compared", compared={kind: 1})
        try:
            result.differences = list(OTHERS[kind][1](draw))
        except Exception as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            result.differences = [
                f"exception: {type(error).__name__} in {Path(last.filename).name}:{last.name}: {error}"
            ]
        return result
    case = CASES[kind][1](draw, seed)
    outcome = Holder(case).hold()
    refused = [line.replace(case.arithmetic, "NAME")[:90] for line in outcome.refused]
    result = Result(
        kind,
        seed,
        outcome.expected.verdict,
        case.arithmetic,
        case.planted,
        outcome.differences,
        refused,
        outcome.compared,
    )
    if folder is not None:
        result.files = [str(path) for path in write_case(case, folder)]
    return result


def write_temporary_files_to(folder: str) -> None:
    """Let this process make its temporary files there."""
    tempfile.tempdir = folder
