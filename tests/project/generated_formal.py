"""The generated parts of the pages on the Coq library: the definitions, the theorems, what is trusted, and the measured times."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Callable

import numpy as np

from mirrormata.constructions._construct import construct
from mirrormata.constructions.chains._chain import ChainRNN, ChainStates
from mirrormata.constructions.chains._rule import members
from mirrormata.tests.project.claim_pages import anchor_of, prose
from mirrormata.tests.project.table_texts import ROOT, measured_results, table
from mirrormata.theory.verifying._registry import load_claims

FORMAL = ROOT / "theory" / "formal"


def page_of(file: str) -> str:
    """The definitions of a file that is to be read, as they are compiled, without the lines that only say which arguments are left out."""
    lines = (FORMAL / "coq" / f"{file}.v").read_text(encoding="utf-8").splitlines()
    kept = "\n".join(line for line in lines if not line.startswith("Arguments "))
    return f"\n```coq\n{kept}\n```\n\n"


def model_of_tables() -> str:
    """What a table `d` holds, the linear RNN that it describes, and the statement of the theorem about it, from `Table.v` as compiled."""
    text = (FORMAL / "coq" / "Table.v").read_text(encoding="utf-8")
    parts = [
        _between(text, "(* ---- What a certificate gives.", "(* ---- The checker. *)"),
        _between(text, "(* ---- The linear RNN that a certificate describes", "(* ---- Proofs. *)"),
        "(* ---- The theorem. *)\n" + _between(text, "Section Right.\n", "\nLemma layers_right").rstrip(),
    ]
    kept = re.sub("^Arguments .*\n", "", "\n".join(parts), flags=re.M)
    statement = coq_excerpt("Table.check_table_right").strip().splitlines()[1:-1]
    numbers = coq_excerpt(
        "Sparse.map_vector", "Sparse.map_entries", "Sparse.map_factor", "Sparse.map_linear", "Sparse.map_transition",
        "Numbers.evaluate", "Numbers.power", "Numbers.element_value", "Numbers.generates",
    ).strip().splitlines()[1:-1]  # fmt: skip
    first = "(* ---- Numbers of a certificate as numbers of K: f in place of each number of M, and elements of Q(theta). *)"
    block = "\n".join([first, *numbers, "", kept.rstrip(), "", *statement])
    return f"\n```coq\n{block}\n```\n\n"


def theorems_of_rounding() -> str:
    """The statements of the theorems about rounding, with what they depend on beside `RoundedRNN.v` and `Table.v`, as compiled."""
    states, floats, kept, cascade, balls = (
        (FORMAL / "coq" / f"{file}.v").read_text(encoding="utf-8")
        for file in (
            "StatesCheck",
            "RoundedFloats",
            "NeverRounded",
            "NeverRoundedCascade",
            "RegionsCheck",
        )
    )
    parts = [
        _between(states, "(* ---- What a certificate gives:", "Definition same_number"),
        _between(states, "Section Right.", "Definition stands"),
        _statement(states, "(* The answer after each letter"),
        "(* ---- Regions. *)\n" + _between(balls, "Record regions := Regions {", "(* ---- The checker."),
        _between(balls, "Section Right.", "Let n := length"),
        _statement(balls, "(* The answer after each letter"),
        "(* ---- The rounding of Flocq. *)\n" + _between(floats, "Definition flocq_mode", "Lemma less_spec"),
        _statement(floats, "(* `round` is Flocq's"),
        _between(kept, "(* ---- What layers with rounding do:", "(* ---- The checker:"),
        "(* ---- Once per step. *)\n" + _between(kept, "Section PerStep.", "Add Ring numbers_per_step"),
        _between(kept, "Variables (rounds : K -> K) (keeps", "Lemma rounds_zero"),
        _statement(kept, "(* Rounded once per step"),
        "(* ---- Each operation. *)\n" + _between(kept, "Section PerOp.", "Definition inject"),
        _statement(kept, "(* Rounded in each operation"),
        "(* ---- Cascades. *)\n"
        + _between(cascade, "(* What the layers of a cascade do", "(* ---- The checker:"),
        _between(cascade, "Section Right.", "(* Rounded once per step"),
        _statement(cascade, "(* Rounded once per step"),
        _statement(cascade, "(* Rounded in each operation"),
    ]
    block = re.sub("^(Arguments|Add Ring) .*\n", "", "\n".join(parts), flags=re.M).rstrip()
    return f"\n```coq\n{block}\n```\n\n"


def _statement(text: str, start: str) -> str:
    """A comment with the theorem after it, without its proof."""
    return _between(text, start, "\nProof.")


def _between(text: str, start: str, end: str) -> str:
    """A part of a file from one line on, without the line at which it ends."""
    first = text.index(start)
    return text[first : text.index(end, first)].rstrip() + "\n"


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
            [
                f'<a id="{anchor_of(name)}"></a>`{theorem}`',
                f"`{file}.v`",
                prose(says).strip(),
                ", ".join(claims.get(name, [])),
                axioms,
            ]
        )
    return table(("theorem", "file", "what it says", "claims", "axioms"), rows)


def coq_excerpt(*names: str) -> str:
    """Definitions and statements of the library as they are compiled, without proofs, as a block of code.

    Args:
        names: FILE.NAME of each, such as `Chain.level_ok`.
    """
    parts = []
    for name in names:
        file, _, item = name.partition(".")
        text = (FORMAL / "coq" / f"{file}.v").read_text(encoding="utf-8")
        kind = "Definition|Fixpoint|Inductive|Lemma|Theorem"
        found = re.search(
            rf"^((?:\(\*(?:(?!\*\)).)*\*\)\n)?(?:{kind}) {item}\b.*?\.)\n(?!  )", text, re.M | re.S
        )
        if found is None:
            raise AssertionError(f"{file}.v has no {item}")
        parts.append(found[1])
    block = "\n\n".join(parts)
    return f"\n```coq\n{block}\n```\n\n"


def python_excerpt(file: str, name: str) -> str:
    """A function of the package without its docstring, as a block of code.

    Args:
        file: its file, from the root.
        name: the function, or CLASS.METHOD.
    """
    text = (ROOT / file).read_text(encoding="utf-8")
    node: ast.AST = ast.parse(text)
    for part in name.split("."):
        node = next(child for child in ast.iter_child_nodes(node) if getattr(child, "name", None) == part)
    assert isinstance(node, ast.FunctionDef)
    lines = text.splitlines()[node.lineno - 1 : node.end_lineno]
    said = node.body[0]
    del lines[said.lineno - node.lineno : (said.end_lineno or said.lineno) - node.lineno + 1]
    block = textwrap.dedent("\n".join(lines))
    return f"\n```python\n{block}\n```\n\n"


def chain_example() -> str:
    """The sets of the chain of an automaton along a word, and what each token does to each level."""
    chain = construct(CHAIN_EXAMPLE, theorem="own.chain")
    assert isinstance(chain, ChainRNN)
    automaton = chain.automaton
    states = chain.start_states()
    heads = ["after", *(f"X_{i + 2}" for i in range(chain.levels)), "what the token does, level by level"]
    rows = [["no token", *_sets_of(chain, states), ""]]
    word = ""
    for letter in CHAIN_WORD:
        word += letter
        states, acts, _ = chain.token_letters(states, np.array([automaton.letters.index(letter)]))
        does = ", ".join("permutes" if act.permutes[0] else "resets" for act in acts)
        rows.append([f"`{word}`", *_sets_of(chain, states), does])
    return table(heads, rows)


def _sets_of(chain: ChainRNN, states: ChainStates) -> list[str]:
    above = np.arange(chain.sizes[0])[None]
    shown = []
    for indicator in states.indicators:
        above = members(above, indicator)
        shown.append("{" + ", ".join(str(chain.automaton.states[q]) or "ε" for q in above[0]) + "}")
    return shown


CHAIN_EXAMPLE, CHAIN_WORD = "tomita:4", "001000"
CHAIN = "constructions/chains/_chain.py"
CHAIN_PROOF: dict[str, Callable[[], str]] = {
    "chain-proof-example": chain_example,
    "chain-proof-python": lambda: python_excerpt("constructions/chains/_rule.py", "level_letters"),
    "chain-proof-rule": lambda: coq_excerpt("Chain.injective_on", "Chain.pad", "Chain.level", "Chain.levels"),
    "chain-proof-hypothesis": lambda: coq_excerpt(
        "Chain.falling", "Chain.fits", "Chain.valid", "Chain.admissible"
    ),
    "chain-proof-level": lambda: coq_excerpt("Chain.level_ok"),
    "chain-proof-word": lambda: coq_excerpt(
        "Chain.step_valid", "Chain.chain_valid", "Chain.admissible_chain_tracks"
    ),
    "chain-proof-sizes": lambda: coq_excerpt("Chain.countdown_admissible", "Chain.chain_tracks"),
    "chain-proof-factors": lambda: coq_excerpt(
        "ChainLRNN.factor", "ChainLRNN.key", "ChainLRNN.value", "ChainLRNN.apply_factor", "ChainLRNN.factors"
    ),
    "chain-proof-python-factors": lambda: python_excerpt(CHAIN, "ChainRNN.level_transition"),
    "chain-proof-network": lambda: coq_excerpt(
        "ChainLRNN.layer_is_its_factors",
        "ChainLRNN.number_of_layers",
        "ChainLRNN.at_most_2n",
        "ChainLRNN.lrnn_tracks",
    ),
    "chain-proof-numbers": lambda: coq_excerpt("ChainLRNN.key_dot_small", "ChainLRNN.apply_factor_zero_one"),
}
"""The blocks of code on the page that walks through the proof."""


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
            f"`{row['automaton']}`" + (f" by {row['theorem']}" if row["theorem"] else ""),
            row["kind"],
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
    head = (
        "automaton",
        "kind",
        "states",
        "letters",
        "layers",
        "numbers",
        "Python",
        "proved",
        "times as fast",
    )
    return table(head, rows, (2, 3, 4, 6, 7, 8)) + (
        f"Seconds of the whole programs on a processor {measured['processor']}, the least of {measured['runs']} runs; "
        f"Python takes {measured['python_start']:.2f} seconds to start.\n\n"
    )


def formal_tables() -> dict[str, Callable[[], str]]:
    """The functions of these parts, by their names."""
    return {
        "formal-theorems": theorems_table,
        "formal-semantics": lambda: page_of("Semantics"),
        "formal-model": model_of_tables,
        "formal-rounded": lambda: page_of("RoundedRNN"),
        "formal-rounded-theorems": theorems_of_rounding,
        **CHAIN_PROOF,
        "formal-trusted": trusted_table,
        "formal-times": times_table,
    }
