"""`export coq`: one Coq file for a paper, in which a linear RNN is proved to follow its automaton by computation.

The file stands alone: it begins with the small library of definitions and their proofs (`formal/coq`), and needs nothing but
Coq. At its end are the certificate's numbers and one theorem, whose proof computes (`vm_compute`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from ..foundation._errors import InputError, LimitError
from ..foundation._files import COQ_MARK, path_of, shown_path, write_bytes
from ._realisations import RealisationLike, realisation_of

LIBRARY = Path(__file__).parent / "formal" / "coq"
CHAIN_FILES = (
    "Lists", "ChainSemantics", "ChainSets", "ChainFactors", "ChainLevels", "ChainWindow", "ChainRun", "ChainCheck",
)  # fmt: skip
MAX_STATES = 20_000
"""Most hidden states of a table, and sets or chains of a chain, that are listed in the file."""
MAX_NUMBERS = 1_000_000
"""Most numbers in the file."""

Columns: TypeAlias = tuple[tuple[int, ...], ...]
Set: TypeAlias = tuple[int, ...]


def export_coq(lrnn: RealisationLike, path: str | Path) -> None:
    """Write a Coq file in which the linear RNN is proved to follow its automaton on all words.

    Coq checks the file by computation; it refuses it if a number is changed so that the statement is false.

    Args:
        lrnn: a realisation, its certificate, or the path of one: a table of integers, of any number of layers, or a chain of sets.
        path: the `.v` file; its name without the extension has to be a name in Coq: a letter, then letters, digits and _.

    Raises:
        InputError: the certificate is of another kind or has numbers that are no integers, or the file has another extension.
        LimitError: the layers have more than 20,000 reachable hidden states, or the file would have more than 1,000,000 numbers.
    """
    target = path_of(path)
    if target.suffix != ".v" or not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", target.stem):
        raise InputError(
            f"{shown_path(path)}: Coq needs a name of letters, digits and _ with the extension .v, such as s5.v; rename it"
        )
    document = realisation_of(lrnn).certificate()
    write_bytes(path, coq_text(document).encode())


def coq_text(document: dict[str, Any]) -> str:
    """The text of the file for a certificate that is known to be valid.

    Args:
        document: the certificate.

    Raises:
        InputError: another kind than table and chain, or numbers that are no integers.
        LimitError: see `export_coq`.
    """
    name = document["labels"]["automaton"]
    if document["kind"] == "chain":
        return _chain_text(document, name)
    if document["kind"] not in ("table", "horizon"):
        raise InputError(
            f"{name}: a certificate of kind {document['kind']} is not written as a Coq file; kinds table and chain are; "
            f"{_instead(document)}"
        )
    if document["summary"]["exactness"] != "integer":
        raise InputError(
            f"{name}: the Coq file computes with integers, and this linear RNN has other numbers; {_instead(document)}"
        )
    return _table_text(document, name)


def _instead(document: dict[str, Any]) -> str:
    """Which other construction of an automaton has a Coq file: one of integers where it has fewer factors, and chains of sets."""
    theorem = "choose the chain of sets by `theorem` own.chain"
    if document["kind"] not in ("table", "horizon") or document["summary"]["exactness"] == "integer":
        return theorem
    return f"choose a construction of integers by `exactness` integer or, if its hidden states are too many, {theorem.removeprefix('choose ')}"


def _library(names: Iterable[str]) -> str:
    """The text of library files, as modules where there are several, all `Require` first."""
    texts = [(name, (LIBRARY / f"{name}.v").read_text(encoding="utf-8")) for name in names]
    if len(texts) == 1:
        return texts[0][1]
    parts = ["Require Import List Arith Bool Lia Permutation Ring Ring_theory.\nImport ListNotations.\n"]
    for name, text in texts:
        body = re.sub(r"^(Require Import .*\n|Import ListNotations\.\n)", "", text, flags=re.MULTILINE)
        body = re.sub(r"^From Mirrormata Require Import (.*)\.\n", r"Import \1.\n", body, flags=re.MULTILINE)
        parts.append(f"Module {name}.\n{body}End {name}.\n")
    return "\n".join(parts)


def _comment(text: str) -> str:
    """A text that ends no comment, begins none, opens no string, and stays in its line."""
    shown = "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
    return shown.replace("(*", "( *").replace("*)", "* )").replace('"', "'")


def _list(items: Iterable[str]) -> str:
    return f"[{'; '.join(items)}]"


def _numbers(items: Iterable[int]) -> str:
    return _list(str(x) for x in items)


def _rows(rows: Sequence[Sequence[int]]) -> str:
    return "[" + ";\n  ".join(_numbers(row) for row in rows) + "]"


# ---- Tables.


class _Head:
    """A head of a table: its codes as columns, and where each transition takes a code."""

    def __init__(self, data: dict[str, Any], letters: int) -> None:
        self.dim, self.columns = data["dim"], data["value_dim"]
        codes = [self._dense(code) for code in data["codes"]]
        self.points = len(codes)
        if data.get("pairs"):
            half = self.dim // 2
            # u in the upper half and v in the lower one, v varying fastest
            codes = [
                tuple((*u[j][:half], *v[j][:half]) for j in range(self.columns)) for u in codes for v in codes
            ]
        self.codes = codes
        self.index = {code: i for i, code in enumerate(codes)}
        self.pairs = bool(data.get("pairs"))
        self.actions: list[int] = data.get("actions", list(range(letters)))
        self.transitions: list[dict[str, Any]] = data["transitions"]

    def _dense(self, entries: list[list[int]]) -> Columns:
        columns = [[0] * self.dim for _ in range(self.columns)]
        for i, j, x in entries:
            columns[j][i] = x
        return tuple(tuple(column) for column in columns)

    def _vector(self, entries: list[list[int]]) -> list[int]:
        v = [0] * self.dim
        for i, x in entries:
            v[i] = x
        return v

    def after(self, letter: int, code: int) -> int:
        """The number of the code after a letter of the layer."""
        transition = self.transitions[self.actions[letter]]
        added = self._dense(transition.get("additive", []))
        columns = []
        for h, b in zip(self.codes[code], added, strict=True):
            if "matrix" in transition:
                after = [0] * self.dim
                for i, k, x in transition["matrix"]:
                    after[i] += x * h[k]
            else:
                after = [transition.get("gate", 1) * x for x in h]
                for beta, v, *mask in transition["factors"]:
                    key = self._vector(v)
                    reading = self._vector([e for e in v if e[0] in mask[0]]) if mask else key
                    scale = beta * sum(x * y for x, y in zip(reading, after, strict=True))
                    after = [y - scale * x for x, y in zip(key, after, strict=True)]
            columns.append(tuple(x + y for x, y in zip(after, b, strict=True)))
        return self.index[tuple(columns)]

    def point(self, code: int) -> int:
        """What the layer below is told of a code: in a head with pairs its first member."""
        return code // self.points if self.pairs else code

    def action_text(self, letter: int) -> str:
        """A letter of the layer as an `action`."""
        transition = self.transitions[self.actions[letter]]
        if "matrix" in transition:
            rows = [[0] * self.dim for _ in range(self.dim)]
            for i, k, x in transition["matrix"]:
                rows[i][k] = x
            linear = f"Matrix {_list(map(_numbers, rows))}"
        else:
            factors = []
            for beta, v, *mask in transition["factors"]:
                key = _numbers(self._vector(v))
                if mask:
                    reading = _numbers(self._vector([e for e in v if e[0] in mask[0]]))
                    factors.append(f"Copy {key} {reading}")
                else:
                    factors.append(f"Householder {_integer(beta)} {key}")
            linear = f"Factors {_integer(transition.get('gate', 1))} {_list(factors)}"
        added = self._dense(transition["additive"]) if "additive" in transition else ()
        return f"({linear}, {self.code_text(added)})"

    @staticmethod
    def code_text(code: Columns) -> str:
        """A hidden state as a list of columns."""
        return _list(map(_numbers, code))


def _integer(x: int) -> str:
    return f"({x})" if x < 0 else str(x)


Codes: TypeAlias = tuple[tuple[int, ...], ...]  # for each layer and head the number of its code


def _reach(
    document: dict[str, Any], layers: list[list[_Head]], name: str
) -> tuple[dict[Codes, int], list[dict[int, dict[tuple[Columns, ...], int]]]]:
    """The joint codes that words lead to, each with its state; and for each layer and letter what its read-out is seen to say."""
    delta, raw = document["automaton"]["transitions"], document["layers"]
    first, flat = document["decode"][0][0], iter(document["decode"][0][1:])
    begin = tuple(tuple(next(flat) for _ in heads) for heads in layers)
    states: dict[Codes, int] = {begin: first}
    said: list[dict[int, dict[tuple[Columns, ...], int]]] = [{} for _ in layers]
    todo = [begin]
    for codes in todo:  # which grows on the way
        for x, row in enumerate(delta):
            y, after = x, []
            for i, (heads, old) in enumerate(zip(layers, codes, strict=True)):
                new = tuple(head.after(y, c) for head, c in zip(heads, old, strict=True))
                after.append(new)
                if len(layers) > 1:
                    place, told = 0, []
                    for h in raw[i]["reads"][y]:
                        # the point of the last head varies fastest
                        place = place * heads[h].points + heads[h].point(old[h])
                        told.append(heads[h].codes[new[h]])
                    z = raw[i]["next"][y][place]
                    said[i].setdefault(y, {})[tuple(told)] = z
                    y = z
            if tuple(after) not in states:
                states[tuple(after)] = row[states[codes]]
                todo.append(tuple(after))
                if len(todo) > MAX_STATES:
                    raise LimitError(
                        f"{name}: words lead to more than {MAX_STATES:,} hidden states, too many to list in a Coq file; {_instead(document)}"
                    )
    return states, said


def _table_text(document: dict[str, Any], name: str) -> str:
    automaton, raw = document["automaton"], document["layers"]
    layers, letters = [], automaton["letters"]
    for layer in raw:
        layers.append([_Head(data, letters) for data in layer["heads"]])
        # letters of the layer below
        letters = 1 + max((z for row in layer.get("next", []) for z in row if z is not None), default=0)
    states, said = _reach(document, layers, name)
    numbers = sum(len(head.actions) * head.dim for heads in layers for head in heads)
    numbers += len(states) * sum(head.dim * head.columns for heads in layers for head in heads)
    if numbers > MAX_NUMBERS:
        raise LimitError(f"{name}: the Coq file would have {numbers:,} numbers, more than {MAX_NUMBERS:,}")
    layer_texts = []
    for i, heads in enumerate(layers):
        moves = [
            "[" + ";\n      ".join(f"{head.action_text(y)} (* {y} *)" for y in range(len(head.actions))) + "]"
            for head in heads
        ]
        told = []
        for y in range(len(raw[i].get("reads", []))):
            seen = said[i].get(y, {})
            rows = [f"({_list(map(_Head.code_text, codes))}, {z}%nat)" for codes, z in seen.items()]
            told.append(f"({_list(f'{h}%nat' for h in raw[i]['reads'][y])}, {_list(rows)})")
        read_out = "[" + ";\n      ".join(told) + "]"
        layer_texts.append(f"Layer [\n    {'; '.join(moves)}]\n    {read_out}")
    row_texts = []
    for codes, q in states.items():
        hidden = [
            _list(_Head.code_text(head.codes[c]) for head, c in zip(heads, numbers_, strict=True))
            for heads, numbers_ in zip(layers, codes, strict=True)
        ]
        row_texts.append(f"({q}%nat, {_list(hidden)})")
    return f"""{_heading(document, name)}
{_library(["Instance"])}
(* -------- The certificate. -------- *)
{_names(document)}

(* Row a has the next state of each state under letter a. *)
Definition transitions : list (list nat) := ({_rows(automaton["transitions"])})%nat.

(* The layers: each letter of a head, and what the next layer is told. *)
Definition rnn : list layer := [
  {"; ".join(layer_texts)}].

(* The hidden states that words lead to, each behind the state that it stands for; the first is the initial one. *)
Definition hidden_states : list (nat * list (list hidden)) := [
  {_broken(row_texts)}].

Definition instance : table := Table {automaton["letters"]} {automaton["start"]} transitions rnn hidden_states.

{_statement(automaton, len(layers))}
Print Assumptions follows.
"""


def _statement(automaton: dict[str, Any], layers: int) -> str:
    """What the theorem says of one layer, and of several, whose last one says the state; and why it follows from the computation."""
    k = automaton["letters"]
    state = f"fold_left (fun q a => nth q (nth a transitions []) 0%nat) word {automaton['start']}%nat"
    if layers == 1:
        return f"""(* After every word, of any length, the hidden state is decoded to the automaton's state. *)
Theorem follows : forall word, Forall (fun a => a < {k})%nat word ->
  decoded instance word = Some ({state}).
Proof.
  assert (right : check instance = true) by (vm_compute; reflexivity). intros word letters.
  exact (proj1 (check_right instance right word letters)).
Qed."""
    return f"""(* After every word, of any length, the hidden states are decoded to the automaton's state, and on its last letter the last
   layer has said this state. *)
Theorem follows : forall word, Forall (fun a => a < {k})%nat word ->
  let q := {state} in
  decoded instance word = Some q /\\ (word <> [] -> last_said instance word = Some q).
Proof.
  assert (right : check instance = true) by (vm_compute; reflexivity). intros word letters.
  destruct (check_right instance right word letters) as [hidden said]. exact (conj hidden (said eq_refl)).
Qed."""


def _broken(rows: list[str]) -> str:
    return ";\n  ".join(rows)


def _heading(document: dict[str, Any], name: str) -> str:
    labels = document["labels"]
    automaton = document["automaton"]
    return (
        f"(* A linear RNN follows the automaton {_comment(name)} of {automaton['states']} states and {automaton['letters']} letters on all\n"
        f"   words, proved by computation: {_comment(labels['construction'])}.\n"
        f"   {COQ_MARK}  Check it with: coqc FILE.v *)"
    )


def _names(document: dict[str, Any]) -> str:
    """A comment with the texts of letters, states and outputs, which the theorem leaves out: it speaks of their numbers."""
    automaton, labels = document["automaton"], document["labels"]
    outputs = automaton["outputs"]
    lines = ["The theorem speaks of numbers.  This is what they stand for; it is no part of the theorem."]
    lines += [f"Letter {i}: {_shown(text)}" for i, text in enumerate(labels["letters"])]
    mealy = type(outputs[0]) is list
    start = automaton["start"]
    for q, text in enumerate(labels["states"]):
        said = "" if mealy else f", output {_shown(labels['outputs'][outputs[q]])}"
        lines.append(f"State {q}: {_shown(text)}{said}{' (the start)' * (q == start)}")
    if mealy:
        lines += [
            f"Output on letter {x} in states 0, 1, ...: {' '.join(_shown(labels['outputs'][o]) for o in row)}"
            for x, row in enumerate(outputs)
        ]
    return "(* " + "\n   ".join(lines) + " *)"


def _shown(text: str) -> str:
    """A label between apostrophes."""
    return f"'{_comment(text)}'"


# ---- Chains.


def _image(row: list[int], members: Iterable[int]) -> Set:
    return tuple(sorted({row[x] for x in members}))


def _next_chain(row: list[int], n: int, sizes: list[int], chain: tuple[Set, ...]) -> tuple[Set, ...]:
    """The sets below all states after a letter, as far as they are listed."""
    old = new = tuple(range(n))
    result = []
    for members, size in zip(chain, sizes[1:], strict=False):
        image = _image(row, old)
        if len(image) == len(old):
            after = _image(row, members)
        else:
            others = [x for x in new if x not in image]
            after = tuple(sorted([*image, *others[: size - len(image)]]))
        result.append(after)
        old, new = members, after
    return tuple(result)


def _start_chain(n: int, start: int, sizes: Sequence[int]) -> tuple[Set, ...]:
    """At first each set holds the start and the least others of the set above it."""
    above: Set = tuple(range(n))
    result = []
    for size in sizes:
        others = [x for x in above if x != start]
        above = tuple(sorted([start, *others[: size - 1]]))
        result.append(above)
    return tuple(result)


def _list_chains(document: dict[str, Any], name: str) -> tuple[list[tuple[Set, ...]], list[list[int]]]:
    """The chains that words lead to, down to the last size that falls by more than one, and where each letter leads from each."""
    automaton, sizes = document["automaton"], document["sizes"]
    n, delta = automaton["states"], automaton["transitions"]
    drops = [i for i in range(len(sizes) - 1) if sizes[i] - sizes[i + 1] > 1]
    if not drops:
        return [], []
    begin = _start_chain(n, automaton["start"], sizes[1 : drops[-1] + 1])
    found, rows = {begin: 0}, []
    for chain in (todo := [begin]):
        row = []
        for letter in delta:
            after = _next_chain(letter, n, sizes, chain)
            if after not in found:
                found[after] = len(found)
                todo.append(after)
                _require_few(len(todo), name)
            row.append(found[after])
        rows.append(row)
    return todo, rows


def _list_sets(document: dict[str, Any], name: str) -> tuple[list[Set], list[int], list[list[int]]]:
    """The image sets of more than n_1 states, the longest path of letters from each, and where each letter leads from each."""
    automaton, size = document["automaton"], document["sizes"][0]
    n, delta = automaton["states"], automaton["transitions"]
    moving = [row != list(range(n)) for row in delta]
    whole: Set = tuple(range(n))
    found, rows = {whole: 0}, []
    for members in (todo := [whole]):
        row = []
        for letter, moves in zip(delta, moving, strict=True):
            after = _image(letter, members) if moves else ()
            if len(after) > size and after not in found:
                found[after] = len(found)
                todo.append(after)
                _require_few(len(todo), name)
            row.append(found.get(after, -1) if moves else -1)
        rows.append(row)
    # no letter leads back, so paths grow until they are longest
    rank, changed = [0] * len(rows), True
    while changed:
        longest = [1 + max([rank[j] for j in row if j >= 0], default=-1) for row in rows]
        rank, changed = longest, longest != rank
    return todo, rank, [[len(rows) if j < 0 else j for j in row] for row in rows]


def _require_few(count: int, name: str) -> None:
    if count > MAX_STATES:
        raise LimitError(
            f"{name}: words lead to more than {MAX_STATES:,} sets, too many to list in a Coq file; check the certificate with "
            "`check`, also by the proved checker"
        )


def _chain_text(document: dict[str, Any], name: str) -> str:
    automaton, window = document["automaton"], document["window"]
    n, k = automaton["states"], automaton["letters"]
    chains: list[tuple[Set, ...]] = []
    sets: list[Set] = []
    rank: list[int] = []
    if window is None:
        chains, after = _list_chains(document, name)
    else:
        sets, rank, after = _list_sets(document, name)
    numbers = k * n + sum(map(len, sets)) + sum(len(s) for chain in chains for s in chain) + k * len(after)
    if numbers > MAX_NUMBERS:
        raise LimitError(f"{name}: the Coq file would have {numbers:,} numbers, more than {MAX_NUMBERS:,}")
    mealy = type(automaton["outputs"][0]) is list
    flag = {True: "true", False: "false"}
    return f"""{_heading(document, name)}
{_library(CHAIN_FILES)}
Import Lists ChainSemantics ChainFactors ChainCheck.

(* -------- The certificate. -------- *)
{_names(document)}

(* Row a has the next state of each state under letter a. *)
Definition transitions : list (list nat) := {_rows(automaton["transitions"])}.

Definition instance : chain := {{|
  states := {n}; letter_count := {k}; start_state := {automaton["start"]};
  step := fun a q => nth q (nth a transitions []) 0;
  mealy := {flag[mealy]};
  window := {"None" if window is None else f"Some {window}"}; sizes := {_numbers(document["sizes"])};
  look_back := {flag[document["look_back"]]}; gates := {flag[document["gates"]]} |}}.

(* The sets that words lead to, as far as the sizes alone do not suffice, and where letters lead from them. *)
Definition listed_chains : list (list (list nat)) := {_list(_list(map(_numbers, chain)) for chain in chains)}.
Definition listed_sets : list (list nat) := {_rows(sets)}.
Definition ranks : list nat := {_numbers(rank)}.
Definition lead : list (list nat) := {_rows(after)}.
Definition known : listing := {{|
  count := {len(after)};
  chains := fun i => nth i listed_chains []; sets := fun i => nth i listed_sets [];
  rank := fun i => nth i ranks 0; after := fun a i => nth a (nth i lead []) 0 |}}.

(* Over every ring, with any swaps that apply permutations, the state that is read off after every word, of any length, is the
   automaton's. *)
Theorem follows : forall (R : Type) (zero one : R) (add mul sub : R -> R -> R) (opp : R -> R) (nonzero : R -> bool),
  ring_theory zero one add mul sub opp eq -> nonzero zero = false -> nonzero one = true ->
  forall (swaps_of : list nat -> list (nat * nat)) (reset_beta : nat -> R), swaps_apply swaps_of ->
  forall word, Forall (fun a => a < {k}) word ->
  read_state R zero nonzero instance (run_chain R zero one add mul sub nonzero swaps_of reset_beta instance word)
  = [fold_left (fun q a => nth q (nth a transitions []) 0) word {automaton["start"]}].
Proof.
  assert (checked : check_chain instance known = true) by (vm_compute; reflexivity).
  intros R zero one add mul sub opp nonzero laws no yes swaps_of reset_beta swaps_ok word W.
  exact (check_chain_right R zero one add mul sub opp nonzero laws no yes swaps_of reset_beta swaps_ok instance known checked word W).
Qed.
Print Assumptions follows.
"""
