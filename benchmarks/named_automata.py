"""What `construct` makes of named automata, groups, patterns and protocol models, at this version and at an older one.

    python -m mirrormata.benchmarks.named_automata -o FILE.json [--before CHECKOUT] [--models FOLDER]
    python -m mirrormata.benchmarks.named_automata --table FILE.json

Every automaton is written to a file, or is a SPEC; `mirrormata construct` and `mirrormata check` are run on it as commands with default
options, in processes of their own with a limit of time and memory. CHECKOUT is a folder with an older version of the package; FOLDER
has protocol models as `.dot` files. Seconds are of the processor, construct and check together.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import mirrormata
from mirrormata import Automaton
from mirrormata.benchmarks.machine import installed
from mirrormata.constructions._spec import automaton_from_spec

NAMED = """parity mod:5 mod:6 mod:997 Z60 Z2^3 cycle:5 S3 S4 A4 A5 S5 dihedral:5 Q8 Q8_x_Z3 flipflop permreset:3 permreset:20 tomita:1
tomita:2 tomita:3 tomita:4 tomita:5 tomita:6 tomita:7 even_pairs T3 T4 gridworld:5 gridworld:50 dyck1:3 dyck1:20 dyck:2,2 dyck:3,4
starladder:abab boxes:3,2 boxes:5,4 mod_arith:3 mod_arith:5 dn:2 dn:3 chess"""
PATTERNS = {
    "e-mail": r"[a-z0-9._%+\-]+@[a-z0-9.\-]+\.[a-z][a-z]+",
    "IPv4": r"((25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])\.)"
    + r"((25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])\.)((25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])\.)"
    + r"(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])",
    "ISO date": r"[0-9][0-9][0-9][0-9]-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])",
    "JSON number": r"-?(0|[1-9][0-9]*)(\.[0-9]+)?((e|E)(\+|-)?[0-9]+)?",
    "JSON string": r'"([^"\\]|\\["\\/bfnrt]|\\u[0-9a-fA-F][0-9a-fA-F][0-9a-fA-F][0-9a-fA-F])*"',
    "URL": r"https?://[a-z0-9.\-]+(:[0-9]+)?(/[a-zA-Z0-9._~%\-]*)*(\?[a-zA-Z0-9=&]*)?",
    "UUID": "-".join("[0-9a-f]" * count for count in (8, 4, 4, 4, 12)),
    "C comment": r"/\*([^*]|\*+[^*/])*\*+/",
    "Python float": r"[0-9]+\.[0-9]*((e|E)(\+|-)?[0-9]+)?|\.[0-9]+((e|E)(\+|-)?[0-9]+)?",
    "hexadecimal colour": r"#([0-9a-fA-F][0-9a-fA-F][0-9a-fA-F]([0-9a-fA-F][0-9a-fA-F][0-9a-fA-F])?)",
    "semantic version": r"(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)(-[0-9A-Za-z.\-]+)?(\+[0-9A-Za-z.\-]+)?",
}
"""Over the 93 printable characters without blank and comma."""
CHARACTERS = "".join(chr(c) for c in range(33, 127) if chr(c) != ",")
SECONDS, MEGABYTES = 60, 4_000


def lift(floors: int) -> Automaton:
    """A lift that moves while its door is closed."""
    rows: dict[Any, dict[str, Any]] = {}
    for floor, is_open in product(range(floors), (False, True)):
        above, below = min(floor + 1, floors - 1), max(floor - 1, 0)
        rows[f"{floor} {is_open}"] = {
            "open": f"{floor} True",
            "close": f"{floor} False",
            "up": f"{floor if is_open else above} {is_open}",
            "down": f"{floor if is_open else below} {is_open}",
        }
    return Automaton.from_transitions(rows, start="0 False", name=f"lift of {floors} floors")


def grid(size: int) -> Automaton:
    """A walker in a square with walls around it."""
    rows: dict[Any, dict[str, Any]] = {}
    for x, y in product(range(size), repeat=2):
        left, right = max(x - 1, 0), min(x + 1, size - 1)
        down, up = max(y - 1, 0), min(y + 1, size - 1)
        rows[f"{x},{y}"] = {"L": f"{left},{y}", "R": f"{right},{y}", "D": f"{x},{down}", "U": f"{x},{up}"}
    return Automaton.from_transitions(rows, start="0,0", name=f"grid of {size} × {size}")


def digits(base: int, modulus: int) -> Automaton:
    """The value, modulo a number, of the digits read so far."""
    rows = {str(v): {str(d): str((base * v + d) % modulus) for d in range(base)} for v in range(modulus)}
    return Automaton.from_transitions(rows, start="0", name=f"base {base} modulo {modulus}")


def metacyclic(name: str, n: int, k: int, s: int, r: int) -> Automaton:
    """The word problem of ⟨a, b | aⁿ = 1, b^k = a^s, bab⁻¹ = a^r⟩ over all elements a^i b^j: y = product so far × letter."""
    elements = list(product(range(n), range(k)))

    def multiply(x: tuple[int, int], y: tuple[int, int]) -> tuple[int, int]:
        i, j = x[0] + y[0] * r ** x[1], x[1] + y[1]
        return (i + s * (j >= k)) % n, j % k

    rows = {
        f"{q[0]},{q[1]}": {f"{g[0]},{g[1]}": "{},{}".format(*multiply(q, g)) for g in elements}
        for q in elements
    }
    return Automaton.from_transitions(rows, start="0,0", name=name)


def inputs(models: Path | None) -> Iterator[tuple[str, str, str | Automaton | Path]]:
    """Group, name, and what is given to `construct`."""
    yield from (("named", spec, spec) for spec in NAMED.split())
    yield "quotients", "lift, 20 floors", lift(20)
    yield "quotients", "grid 5 × 5", grid(5)
    yield "quotients", "grid 8 × 8", grid(8)
    for base, modulus in ((10, 30), (10, 60), (2, 6), (2, 12)):
        yield "quotients", f"base {base} modulo {modulus}", digits(base, modulus)
    yield "covers", "generalized quaternion, order 16", metacyclic("Q16", 8, 2, 4, 7)
    for m in (3, 4, 5, 8):
        yield "covers", f"dicyclic, order {4 * m}", metacyclic(f"Dic{m}", 2 * m, 2, m, 2 * m - 1)
    yield "last letters", "last 8 of two letters", "regex:(a|b)*a(a|b)(a|b)(a|b)(a|b)(a|b)(a|b)(a|b)"
    yield "last letters", "10th letter from the end", "regex:(a|b)*a" + "(a|b)" * 9
    for name, pattern in PATTERNS.items():
        yield "patterns", name, automaton_from_spec(f"regex:{pattern}", alphabet=CHARACTERS)
    if models is not None:
        yield from (("protocols", path.stem, path) for path in sorted(models.glob("*.dot")))


def run_limited(arguments: list[str], package: Path) -> tuple[int, str, str, float, float]:
    """A command: status, output, errors, processor seconds and peak megabytes; status 124 beyond the limits."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))
        resource.setrlimit(resource.RLIMIT_AS, (MEGABYTES << 20,) * 2)

    environment = {**os.environ, "PYTHONPATH": str(package), "OMP_NUM_THREADS": "1"}
    ended = subprocess.run(
        [sys.executable, "-m", "mirrormata", *arguments], env=environment, preexec_fn=limit, capture_output=True, text=True,
        check=False, cwd=package,
    )  # fmt: skip
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return ended.returncode, ended.stdout, ended.stderr, seconds, after.ru_maxrss / 1024


def measure(given: str, package: Path, folder: Path) -> dict[str, Any]:
    """What one version makes of an input: the figures, the certificate's size, what `check` says of it, seconds."""
    certificate = folder / "certificate.json"
    certificate.unlink(missing_ok=True)
    status, out, errors, built, _ = run_limited(
        ["construct", given, "--json", "-o", str(certificate)], package
    )
    if status or not certificate.exists():
        said = (errors.strip().splitlines() or [f"status {status}"])[-1]
        stopped = status < 0 or "Memory" in said
        return {"refused": f"stopped at {SECONDS} s or {MEGABYTES} MB" if stopped else said[:200]}
    made = json.loads(out)
    status, out, _, checked, _ = run_limited(["check", str(certificate)], package)
    keys = ("theorem", "layers", "householders", "heads", "dim", "work", "exactness")
    return {key: made.get(key) for key in keys} | {
        "certificate_bytes": certificate.stat().st_size,
        "verdict": "valid" if status == 0 else f"status {status}",
        "seconds": round(built + checked, 2),
    }


def link_package(folder: Path, checkout: Path) -> Path:
    """A folder from which a checkout is imported as `mirrormata`."""
    folder.mkdir()
    (folder / "mirrormata").symlink_to(checkout.resolve())
    return folder


def measure_all(before: Path | None, models: Path | None) -> list[dict[str, Any]]:
    """A row for each input."""
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        now = link_package(folder / "now", Path(mirrormata.__file__).parent)
        old = None if before is None else link_package(folder / "old", before)
        for group, title, given in inputs(models):
            if isinstance(given, Automaton):
                path = folder / "input.json"
                given.save(path)
                spec = str(path)
            else:
                spec = str(given.resolve() if isinstance(given, Path) else given)
            row: dict[str, Any] = {"group": group, "input": title, "now": measure(spec, now, folder)}
            if old is not None:
                row["before"] = measure(spec, old, folder)
            rows.append(row)
            print(*table_rows({"rows": [row]})[0], sep=" | ", flush=True)
    return rows


HEAD = ("input", "before", "now", "theorem", "certificate kB", "seconds")
"""The columns of `table_rows`."""


def table_rows(document: dict[str, Any]) -> list[tuple[str, ...]]:
    """Layers, factors, heads and dimension, before and now, the certificate's kilobytes and the seconds, as cells of a table."""
    shown: list[tuple[str, ...]] = []
    for row in document["rows"]:
        now = row["now"]
        size = "" if "refused" in now else f"{now['certificate_bytes'] / 1000:,.1f}"
        seconds = f"{now['seconds']:.1f}" if "seconds" in now else ""
        said = str(now.get("theorem", now.get("refused")))
        shown.append((row["input"], _sizes(row.get("before")), _sizes(now), said, size, seconds))
    return shown


def _sizes(found: dict[str, Any] | None) -> str:
    if found is None:
        return ""
    if "refused" in found:
        return "none"
    return f"{found['layers']} L, {found['householders']} f, {found['heads']} h, dim {found['dim']}"


def main() -> int:
    """Measure and write, or print the table of what was written."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, metavar="FILE.json")
    parser.add_argument("--before", type=Path, metavar="CHECKOUT")
    parser.add_argument("--models", type=Path, metavar="FOLDER")
    parser.add_argument("--table", type=Path, metavar="FILE.json")
    given = parser.parse_args()
    if given.table:
        for row in (HEAD, *table_rows(json.loads(given.table.read_text()))):
            print(*row, sep=" | ")
        return 0
    document = {
        "format": "mirrormata-named-automata/1",
        "limits": {"seconds": SECONDS, "megabytes": MEGABYTES},
        "versions": {"mirrormata": installed("mirrormata"), "python": sys.version.split()[0]},
        "rows": measure_all(given.before, given.models),
    }
    if given.output:
        given.output.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
