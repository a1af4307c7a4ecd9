"""A certificate goes to a file, is checked by a program without dependencies, and a forged one is noticed."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import mirrormata
from mirrormata import construct, full_certificate, write_certificate

CHECKER = Path(mirrormata.__file__).parent / "theory" / "checker" / "table.py"


def verdict(path: Path) -> str:
    """What the stand-alone checker prints."""
    command = [sys.executable, "-I", str(CHECKER), str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "s4.json"
    write_certificate(full_certificate(construct("S4")), path)
    print(f"{path.name}: {path.stat().st_size:,} bytes; {verdict(path)}")

    document = json.loads(path.read_text(encoding="utf-8"))
    factors = document["layers"][0]["heads"][0]["transitions"][3]["factors"]
    factors.reverse()  # the same mirrors in the other order
    path.write_text(json.dumps(document), encoding="utf-8")
    print(f"two factors exchanged: {verdict(path)}")
