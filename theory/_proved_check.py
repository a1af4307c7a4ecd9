"""The checker that is proved in Coq: the program `mirrormata-check`, found and run on a certificate."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from ..foundation._errors import InputError
from ..foundation._files import shown_path

VARIABLE = "MIRRORMATA_COQ_CHECKER"
PROGRAM = "mirrormata-check"
BUILT = Path(__file__).parent / "formal" / "_build" / PROGRAM


def find_proved_checker() -> str | None:
    """The path of the program: what MIRRORMATA_COQ_CHECKER names, else what `make formal` built, else what is on PATH."""
    named = os.environ.get(VARIABLE)
    if named:
        return named
    return str(BUILT) if BUILT.is_file() else shutil.which(PROGRAM)


def run_proved_checker(
    certificate: str | Mapping[str, Any], called: str = "the certificate"
) -> tuple[bool, str]:
    """Whether the proved checker accepts a certificate, and its line of facts or its reason.

    Args:
        certificate: the path of a certificate, or its JSON object.
        called: the name of the certificate in an error, such as its file.

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
            return _run(program, str(path), called)
    return _run(program, certificate, shown_path(certificate))


def _run(program: str, path: str, called: str) -> tuple[bool, str]:
    try:
        done = subprocess.run([program, path], capture_output=True, encoding="utf-8", check=False)
    except OSError as error:
        raise InputError(
            f"{program}: cannot be run ({error.strerror}): run `make formal`, or give another path in {VARIABLE}"
        ) from None
    verdict, _, text = done.stdout.strip().partition(": ")
    if done.returncode not in (0, 1) or verdict != ("valid", "invalid")[done.returncode]:
        said = (done.stderr.strip().splitlines() or [f"it ended with status {done.returncode}"])[-1]
        named = f"{path}: "
        where = called if said.startswith(named) else "the proved checker"
        raise InputError(f"{where}: {said.removeprefix(named)}{_advise(said)}")
    return done.returncode == 0, text


def _advise(said: str) -> str:
    """What to do where the program has no proof for a kind or a form; nothing where it failed in another way."""
    if "kind 'horizon'" in said:
        return (
            "; the kind horizon is a table with certified lengths beside it: the proved checker checks the table that is constructed for "
            "the SPEC itself, and the Python checker checks both"
        )
    return "; the Python checker knows all kinds" if "no proved checker for" in said else ""


def describe_program() -> dict[str, str]:
    """The path of the program that `run_proved_checker` runs, and the SHA-256 of its file, for a record of a check."""
    program = find_proved_checker() or PROGRAM
    found = shutil.which(program) or program
    return {"path": found, "sha256": sha256(Path(found).read_bytes()).hexdigest()}
