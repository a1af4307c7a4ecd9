"""`python -m mirrormata.tests.project.claim_pages` checks all claims with quick effort and writes what the docs say of them.

That is `docs/claims.json` (each claim's last status), a page a claim, their table, and the errata. With `--pages` nothing is checked: the pages are written from the recorded statuses.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

from mirrormata.theory._verdict import Verdict, status_in_words
from mirrormata.theory.verifying._claim import QUICK
from mirrormata.theory.verifying._registry import Entry, Registry, load_claims
from mirrormata.theory.verifying._verify import verify_claims

ROOT = Path(__file__).resolve().parents[2]
RECORD = ROOT / "docs" / "claims.json"
NOTE = "<!-- written by tests/project/claim_pages.py -->\n"
LONGEST = 900

INDEX = """# Claims

<!-- answers: which theorems are checked anew here, in which arithmetic, and how far the check goes -->

Every theorem that the constructions and bounds rest on is a file under `theory/claims` that checks it anew, and says in
which arithmetic, how far the check goes, and under which hypotheses. `mirrormata verify` runs them, `mirrormata claims`
lists and explains them; see the [command line](../command-line.md#verify).

- `proved`: exact, in all cases of the statement. `holds on N cases`: true in every case of a finite set, which the page
  names. `supported by N instances`: no violation among N random instances from a seed. `refuted`: there is a witness, and it
  was replayed. `cited`: not checked here. `unknown`: not decided.
- The status is about what the Python program verifies here. The column Coq is about the theorem: *yes* means that a theorem
  of the [Coq library](../formal.md) states the claim, or refutes it where the claim is refuted; *part* that theorems cover parts of it, which the claim's
  page names; – that there is none. So a claim that is `supported by N instances` here can be proved in Coq, and of one that is `proved`
  here Coq may prove special cases only. `mirrormata claims --coq` lists those with a theorem.
- In JSON these are the `status` values `proved`, `exhaustive`, `supported`, `refuted`, `cited` and `unknown`, and `cases`
  is N.
- Checks of cases are two-sided where there is a hypothesis: with it broken the same code must find violations. A check
  that finds none there is `unknown`, since it cannot tell.
- `ID.printed` is a statement as it was printed, with an error in it; all of them are in the [errata](../errata.md). Why
  a verdict can be relied on, and how far: [what is trusted](../trusted.md). A claim of your own:
  [command line](../command-line.md#a-claim-of-your-own).

<div style="overflow-x: auto" tabindex="0" role="group" aria-label="The claims as a graph"><img src="../images/claims.svg" style="max-width: none"
alt="What builds on what: an arrow goes from a claim to those that use it"></div>

The statuses are those of the last run with quick effort, kept in `docs/claims.json`; tests compare them with a fresh run.

"""

ERRATA = """# Errata

<!-- answers: what is wrong as it was printed, with a witness, and what is true in its place -->

Statements that are wrong as they were printed, each with a witness, and what is true in their place. Both are claims: the
printed one is refuted; the page of the repaired one says how far it was checked. G is Grazzi et al., DP is Siems et al. ([sources](glossary.md#sources)).
No check found another error in the papers' statements that are checked here, each in the arithmetic that is named.

"""


def record(registry: Registry) -> list[dict[str, Any]]:
    """Each claim's status from a fresh run with quick effort; of what is refuted also the witness."""
    return [recorded(outcome.verdict) for outcome in verify_claims(list(registry), QUICK)]


def recorded(verdict: Verdict) -> dict[str, Any]:
    """What `docs/claims.json` keeps of a verdict."""
    facts = verdict.to_json()
    kept = {key: facts[key] for key in ("claim", "status", "cases", "arithmetic", "computed", "claimed")}
    kept |= {key: facts["evidence"][key] for key in ("set", "seed", "tight") if key in facts["evidence"]}
    return {**kept, "witness": facts["evidence"]["witness"]} if verdict.status == "refuted" else kept


def pages(registry: Registry, statuses: list[dict[str, Any]]) -> dict[str, str]:
    """All generated files under `docs`, by their path."""
    by_id = {row["claim"]: row for row in statuses}
    texts = {f"claims/{e.claim.file_stem}.md": claim_page(e, registry, by_id[e.claim.id]) for e in registry}
    return {
        **texts,
        "claims/index.md": index_page(registry, by_id),
        "errata.md": errata_page(registry, by_id),
    }


def claim_page(entry: Entry, registry: Registry, row: dict[str, Any]) -> str:
    """One claim: what it says, and what its last run found."""
    claim, text = entry.claim, entry.text
    facts = [("status", status_in_words(row["status"], row["cases"])), ("arithmetic", row["arithmetic"])]
    names = {"set": "the cases", "seed": "seed", "tight": "lie on the boundary of the hypothesis"}
    facts += [(label, cell(row[key])) for key, label in names.items() if key in row]
    said = {"computed": "computed", "claimed": "the statement gives"}
    facts += [(label, cell(row[name])) for name, label in said.items() if row[name] is not None]
    proofs = [
        f"[`{name}`](../formal.md#{anchor}){rest}" for name, anchor, rest in map(split_proof, claim.formal)
    ]
    facts += [("proved in Coq", "; ".join(proofs))] * bool(proofs)
    facts += [
        (name, links(ids))
        for name, ids in (("uses", claim.uses), ("used by", registry.used_by(claim.id)))
        if ids
    ]
    parts = [
        f"# {claim.id}: {prose(claim.title)}\n\n{NOTE}\n{prose(text.summary)}\n",
        table(("last run", ""), facts),
    ]
    parts += [
        f"## {label.capitalize()}\n\n{prose(plain)}\n" for label, plain in text.rows() if label != "example"
    ]
    if "witness" in row:
        parts.append(f"## Witness\n\n```json\n{shown(row['witness'])}\n```\n")
    if claim.repair:
        parts.append(f"## In its place\n\n{prose(claim.repair)}\n")
    parts.append(f"## Example\n\n```pycon\n{text.example}\n```\n")
    return "\n".join(
        [*parts, f"File: `theory/claims/{claim.file_stem}.py`. `mirrormata verify {claim.id}` runs it.\n"]
    )


def split_proof(entry: str) -> tuple[str, str, str]:
    """`FILE.NAME, part` as the name, the anchor of its row, and what follows: the file, and the part that is covered."""
    name, _, covers = entry.partition(", ")
    file, _, theorem = name.partition(".")
    return theorem, anchor_of(name), f" (`{file}.v`){', ' + cell(covers) if covers else ''}"


def anchor_of(theorem: str) -> str:
    """The anchor of a theorem's row in the table of `docs/formal.md`.

    Args:
        theorem: FILE.NAME, as in `theorems.txt`.
    """
    return f"theorem-{theorem.replace('.', '-')}"


def index_page(registry: Registry, by_id: dict[str, dict[str, Any]]) -> str:
    """The table of all claims."""
    rows = [
        (
            f"[{e.claim.id}]({e.claim.file_stem}.md)",
            status_in_words(by_id[e.claim.id]["status"], by_id[e.claim.id]["cases"]),
            e.claim.coq,
            cell(e.claim.title),
        )
        for e in registry
    ]
    return f"{INDEX}{NOTE}\n{table(('claim', 'status', 'Coq', 'what'), rows)}"


def errata_page(registry: Registry, by_id: dict[str, dict[str, Any]]) -> str:
    """Every printed statement, its witness and its repair."""
    parts = [ERRATA + NOTE]
    for entry in registry:
        claim, row = entry.claim, by_id[entry.claim.id]
        if not claim.printed:
            continue
        repaired = claim.id.removesuffix(".printed")
        link = f"[{repaired}](claims/{registry[repaired].claim.file_stem}.md)"
        parts.append(
            f"## {claim.id}\n\n{entry.text.source}.\n\n**As printed.** {prose(entry.text.statement)}\n\n"
            f"**Found.** {cell(row['computed'])}, where the statement says: {cell(row['claimed'])}.\n\n"
            f"```json\n{shown(row.get('witness'))}\n```\n\n**In its place** ({link}). {prose(claim.repair)}\n"
        )
    return "\n".join(parts)


def table(head: tuple[str, ...], rows: list[Any]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def links(ids: Any) -> str:
    """Links to claims' pages."""
    return ", ".join(f"[{i}]({i.lower().replace('.', '_').replace('-', '_')}.md)" for i in ids)


def prose(text: str) -> str:
    """Plain text in a page: outside of `code`, signs that Markdown or HTML take for their own are escaped."""
    parts = text.split("`")
    parts[::2] = [re.sub(r"([*\[\]])", r"\\\1", part).replace("<", "&lt;") for part in parts[::2]]
    return "`".join(parts)


def cell(value: Any) -> str:
    """A value in a cell of a table."""
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return prose(text).replace("|", "\\|")


def shown(witness: Any) -> str:
    """A witness, one line an entry; what is long is cut, and the rest is in `docs/claims.json`."""
    if not isinstance(witness, dict):
        return clipped(json.dumps(witness, ensure_ascii=False))
    lines = [f'  "{key}": {clipped(json.dumps(value, ensure_ascii=False))}' for key, value in witness.items()]
    return "{\n" + ",\n".join(lines) + "\n}"


def clipped(text: str) -> str:
    """At most `LONGEST` signs."""
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} …"


def statuses_text(statuses: list[dict[str, Any]]) -> str:
    """`docs/claims.json`, a claim a line."""
    rows = ",\n".join(f"  {json.dumps(row, ensure_ascii=False)}" for row in statuses)
    return f'{{"format": "mirrormata-claims/1", "claims": [\n{rows}\n]}}\n'


def read_statuses() -> list[dict[str, Any]]:
    """The recorded statuses."""
    return list(json.loads(RECORD.read_text(encoding="utf-8"))["claims"])


def main(only_pages: bool) -> None:
    """Write everything that changed."""
    registry = load_claims()
    statuses = read_statuses() if only_pages else record(registry)
    texts = {ROOT / "docs" / name: text for name, text in pages(registry, statuses).items()}
    texts[RECORD] = statuses_text(statuses)
    for path in set((ROOT / "docs" / "claims").glob("*.md")) - set(texts):
        path.unlink()
    for path, text in texts.items():
        path.parent.mkdir(exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            print(f"changed: {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main("--pages" in sys.argv)
