"""The generated parts of the page on the Coq library: the definitions, the theorems, what is trusted, and the measured times."""

from __future__ import annotations

import re
from collections.abc import Callable

from mirrormata.tests.project.claim_pages import prose
from mirrormata.tests.project.table_texts import ROOT, measured_results, table
from mirrormata.theory.verifying._registry import load_claims

FORMAL = ROOT / "theory" / "formal"


def semantics_text() -> str:
    """The definitions of Semantics.v, as they are compiled, without the lines that only say which arguments are left out."""
    lines = (FORMAL / "coq" / "Semantics.v").read_text(encoding="utf-8").splitlines()
    kept = "\n".join(line for line in lines if not line.startswith("Arguments "))
    return f"\n```coq\n{kept}\n```\n\n"


def theorems() -> list[tuple[str, str]]:
    """The lines of theorems.txt: FILE.NAME, and what the theorem says."""
    lines = (FORMAL / "theorems.txt").read_text(encoding="utf-8").splitlines()
    return [(line.split(maxsplit=1)[0], line.split(maxsplit=1)[1]) for line in lines if line]


def uses_reals(file: str) -> bool:
    """Whether a file of the library, or one that it requires, requires Coq's real numbers or Flocq."""
    text = (FORMAL / "coq" / f"{file}.v").read_text(encoding="utf-8")
    required = re.findall(r"^From Mirrormata Require Import ([\w ]+)\.$", text, re.M)
    return bool(
        re.search(r"^(From (Flocq|Coq) )?Require Import .*(\bReals\b|\bCore\b|IEEE754)", text, re.M)
    ) or any(uses_reals(used) for names in required for used in names.split())


def theorems_table() -> str:
    """Each theorem with its file, what it says, the claims that it proves, and what it assumes."""
    claims: dict[str, list[str]] = {}
    for entry in load_claims():
        for name, covers in zip(entry.claim.formal_names, entry.claim.formal, strict=True):
            part = " (part)" if ", " in covers else ""
            link = f"[{entry.claim.id}](claims/{entry.claim.file_stem}.md){part}"
            claims.setdefault(name, []).append(link)
    rows = []
    for name, says in theorems():
        file, _, theorem = name.partition(".")
        axioms = "the four axioms of Coq's reals" if uses_reals(file) else "none"
        rows.append(
            [f"`{theorem}`", f"`{file}.v`", prose(says).strip(), ", ".join(claims.get(name, [])), axioms]
        )
    return table(("theorem", "file", "what it says", "claims", "axioms"), rows)


def trusted_table() -> str:
    """The lines of the OCaml files around the proved functions, and what each does."""
    rows = []
    for path in sorted((FORMAL / "ocaml").glob("*.ml")):
        text = path.read_text(encoding="utf-8")
        found = re.match(r"\(\* (.*?)(?:\.\s|\*\))", text, re.S)
        assert found, path.name
        rows.append([f"`{path.name}`", " ".join(found[1].split()), len(text.splitlines())])
    return table(("file", "what it does", "lines"), rows, (2,))


def times_table() -> str:
    """Processor seconds of both checkers, and how many times as fast the proved one is."""
    measured = measured_results("formal_checker")
    rows = [
        [
            f"`{row['automaton']}`",
            f"{row['states']:,}",
            row["letters"],
            row["layers"],
            row["exactness"],
            f"{row['python']:.3f}",
            f"{row['coq']:.3f}",
            f"{row['python'] / row['coq']:.1f}",
        ]
        for row in measured["rows"]
    ]
    head = ("automaton", "states", "letters", "layers", "numbers", "Python", "proved", "times as fast")
    return table(head, rows, (1, 2, 3, 5, 6, 7)) + (
        f"Seconds of the whole programs on a processor {measured['processor']}, the least of {measured['runs']} runs; "
        f"Python takes {measured['python_start']:.2f} seconds to start.\n\n"
    )


def formal_tables() -> dict[str, Callable[[], str]]:
    """The functions of these parts, by their names."""
    return {
        "formal-theorems": theorems_table,
        "formal-semantics": semantics_text,
        "formal-trusted": trusted_table,
        "formal-times": times_table,
    }
