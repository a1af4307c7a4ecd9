"""The checker that is proved in Coq: the program `mirrormata-check`, found and run on a certificate."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..foundation._errors import InputError

VARIABLE = "MIRRORMATA_COQ_CHECKER"
PROGRAM = "mirrormata-check"
BUILT = Path(__file__).parent / "formal" / "_build" / PROGRAM


def find_proved_checker() -> str | None:
    """The path of the program: what MIRRORMATA_COQ_CHECKER names, else what `make formal` built, else what is on PATH."""
    named = os.environ.get(VARIABLE)
    if named:
        return named
    return str(BUILT) if BUILT.is_file() else shutil.which(PROGRAM)


def run_proved_checker(certificate: str | Mapping[str, Any]) -> tuple[bool, str]:
    """Whether the proved checker accepts a certificate, and its line of facts or its reason.

    Args:
        certificate: the path of a certificate, or its JSON object.

    Raises:
        InputError: the program is missing or cannot be run, it does not know the kind of the certificate, or it cannot read the file.
    """
    program = find_proved_checker()
    if program is None:
        raise InputError(
            f"the proved checker {PROGRAM} is not built: run `make formal`, which needs Coq, or give its path in {VARIABLE}"
        )
    if isinstance(certificate, Mapping):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "certificate.json"
            path.write_text(json.dumps(certificate), encoding="utf-8")
            return _run(program, str(path))
    return _run(program, certificate)


def _run(program: str, path: str) -> tuple[bool, str]:
    try:
        done = subprocess.run([program, path], capture_output=True, encoding="utf-8", check=False)
    except OSError as error:
        raise InputError(
            f"{program}: cannot be run ({error.strerror}): run `make formal`, or give another path in {VARIABLE}"
        ) from None
    verdict, _, text = done.stdout.strip().partition(": ")
    if done.returncode not in (0, 1) or verdict != ("valid", "invalid")[done.returncode]:
        said = (done.stderr.strip().splitlines() or [f"it ended with status {done.returncode}"])[-1]
        raise InputError(
            f"the proved checker: {said.removeprefix(f'{path}: ')}; the Python checker knows all kinds"
        )
    return done.returncode == 0, text
